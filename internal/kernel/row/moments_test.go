package row_test

import (
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/product"
	"lockstep/internal/kernel/row"
)

// A mean a thousand deviations from zero must not cancel the variance, and one outlier among a pilot's rows
// costs only a few bits of it.
func TestMomentsKeepTheVariance(t *testing.T) {
	c := kerneltest.Open(t, compute.Best(), 2)
	for spike, tolerance := range map[float32]float64{0: 2e-6, 1e4: 3e-5} {
		k := newNormCase(t, 20000, 48, 1000, false)
		for i := range 48 {
			k.x[i] = 1000 + spike
		}
		m := row.On(c).NewMoments(k.rows, k.channels, product.FinishRows(1, k.channels))
		m.Run(k.mean, k.variance, k.unbiased, k.x)
		k.exact()
		kerneltest.Near(t, "mean", k.mean, k.wantMean, 1e-7, 1)
		kerneltest.Near(t, "variance", k.variance, k.wantVar, tolerance, 1e-3)
		for i := range k.wantVar {
			k.wantVar[i] *= 20000.0 / 19999
		}
		kerneltest.Near(t, "unbiased variance", k.unbiased, k.wantVar, tolerance, 1e-3)
	}
}

// Rows that drift, as no single pilot could follow.
func TestMomentsFollowADrift(t *testing.T) {
	c := kerneltest.Open(t, compute.Best(), 1)
	k := newNormCase(t, 5000, 7, 0, false)
	for i := range k.x {
		k.x[i] += float32(i / 7)
	}
	k.exact()
	row.On(c).NewMoments(5000, 7, 100).Run(k.mean, k.variance, k.unbiased, k.x)
	kerneltest.Near(t, "mean", k.mean, k.wantMean, 1e-6, 1)
	kerneltest.Near(t, "variance", k.variance, k.wantVar, 1e-6, 1)
}
