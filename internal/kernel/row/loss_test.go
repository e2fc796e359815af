package row_test

import (
	"fmt"
	"math"
	"testing"

	"lockstep/compute"
	"lockstep/internal/alloctest"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/row"
)

func TestSoftmaxCrossEntropy(t *testing.T) {
	kerneltest.Everywhere(t, func(t *testing.T, c *compute.CPU) {
		for k, m := range [][2]int{{1, 1}, {1, 2}, {3, 10}, {64, 10}, {5, 1000}, {200, 17}, {3, 10},
			{4, 1200}} {
			n, classes := m[0], m[1]
			smoothing := []float64{0, 0.1, 0.25, 1}[max(k-4, 0)]
			what := fmt.Sprint(m, " smoothing ", smoothing)
			z := kerneltest.Draw(t, n*classes, 0, 1)
			labels := make([]int32, n)
			for i := range labels {
				labels[i] = int32(i * 7 % classes)
				z[i*classes] += float32(i) * 10 // far above what exp can hold
			}
			loss, d := make([]float64, n), make([]float64, len(z))
			for i := range labels {
				row, sum := z[i*classes:(i+1)*classes], 0.0
				top := float64(row[0])
				for _, v := range row {
					top = max(top, float64(v))
				}
				for _, v := range row {
					sum += math.Exp(float64(v) - top)
				}
				for j, v := range row {
					d[i*classes+j] = math.Exp(float64(v)-top) / sum
				}
				loss[i] = math.Log(sum) + top
				for j, v := range row {
					q := smoothing / float64(classes)
					if j == int(labels[i]) {
						q += 1 - smoothing
					}
					loss[i] -= q * float64(v)
					d[i*classes+j] -= q
				}
			}
			losses, dlogits, only := kerneltest.Floats(t, n), kerneltest.Floats(t, len(z)),
				kerneltest.Floats(t, n)
			rows := row.On(c)
			rows.SoftmaxCrossEntropy(losses, dlogits, z, labels, classes, smoothing)
			rows.SoftmaxCrossEntropy(only, nil, z, labels, classes, smoothing)
			kerneltest.Near(t, what+" losses", losses, loss, 1e-7, 1e-9)
			kerneltest.Near(t, what+" dlogits", dlogits, d, 1e-7, 1e-9)
			kerneltest.SameBits(t, what+" losses without gradient", only, losses)
			if a := alloctest.Least(5, func() {
				rows.SoftmaxCrossEntropy(losses, z, z, labels, classes, smoothing)
			}); a != 0 {
				t.Errorf("%v: %v allocations, want 0", m, a)
			}
		}
	})
}

func TestSoftmaxCrossEntropyOfNaN(t *testing.T) {
	c := kerneltest.Open(t, compute.Plain, 1)
	losses, d := make([]float32, 1), make([]float32, 3)
	row.On(c).SoftmaxCrossEntropy(losses, d, []float32{1, float32(math.NaN()), 2}, []int32{0}, 3, 0)
	if losses[0] == losses[0] || d[0] == d[0] {
		t.Errorf("loss %v, gradient %v, want NaN", losses[0], d)
	}
}

func TestSoftmaxCrossEntropyRefusesLabels(t *testing.T) {
	c := kerneltest.Open(t, compute.Plain, 1)
	defer func() {
		const want = "kernel: softmax cross entropy: labels[1]=3, want 0 to 2"
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	row.On(c).SoftmaxCrossEntropy(make([]float32, 2), nil, make([]float32, 6), []int32{0, 3}, 3, 0)
}
