package graph_test

import "math"

// The references are the ops' formulas as plain loops in float64.

// dims4 are the sizes of a [N, H, W, C] map or of a [R, S, C, K] filter.
type dims4 struct{ a, b, c, d int }

func (s dims4) at(i, j, k, l int) int { return ((i*s.b+j)*s.c+k)*s.d + l }

func referenceConv(x, w, bias []float64, xs, ws dims4, stride, pad int) []float64 {
	oh, ow := (xs.b+2*pad-ws.a)/stride+1, (xs.c+2*pad-ws.b)/stride+1
	ys := dims4{xs.a, oh, ow, ws.d}
	y := make([]float64, ys.a*ys.b*ys.c*ys.d)
	for n := range xs.a {
		for p := range oh {
			for q := range ow {
				for k := range ws.d {
					sum := 0.0
					if bias != nil {
						sum = bias[k]
					}
					for r := range ws.a {
						for s := range ws.b {
							h, v := p*stride+r-pad, q*stride+s-pad
							if h < 0 || v < 0 || h >= xs.b || v >= xs.c {
								continue
							}
							for c := range xs.d {
								sum += x[xs.at(n, h, v, c)] * w[ws.at(r, s, c, k)]
							}
						}
					}
					y[ys.at(n, p, q, k)] = sum
				}
			}
		}
	}
	return y
}

func referenceLinear(x, w, bias []float64, features, k int) []float64 {
	rows := len(x) / features
	y := make([]float64, rows*k)
	for n := range rows {
		for j := range k {
			if bias != nil {
				y[n*k+j] = bias[j]
			}
			for c := range features {
				y[n*k+j] += x[n*features+c] * w[c*k+j]
			}
		}
	}
	return y
}

func referenceReLU(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = max(v, 0)
	}
	return y
}

func referenceAdd(a, b []float64) []float64 {
	y := make([]float64, len(a))
	for i := range a {
		y[i] = a[i] + b[i]
	}
	return y
}

func referenceMaxPool(x []float64, xs dims4, size, stride, pad int) []float64 {
	ys := dims4{xs.a, (xs.b+2*pad-size)/stride + 1, (xs.c+2*pad-size)/stride + 1, xs.d}
	y := make([]float64, ys.a*ys.b*ys.c*ys.d)
	for i := range y {
		c, q, p, n := i%ys.d, i/ys.d%ys.c, i/ys.d/ys.c%ys.b, i/ys.d/ys.c/ys.b
		y[i] = math.Inf(-1)
		for r := range size {
			for s := range size {
				h, w := p*stride+r-pad, q*stride+s-pad
				if h >= 0 && w >= 0 && h < xs.b && w < xs.c {
					y[i] = max(y[i], x[xs.at(n, h, w, c)])
				}
			}
		}
	}
	return y
}

func referenceSubsample(x []float64, xs dims4, stride, before, after int) []float64 {
	ys := dims4{xs.a, (xs.b-1)/stride + 1, (xs.c-1)/stride + 1, before + xs.d + after}
	y := make([]float64, ys.a*ys.b*ys.c*ys.d)
	for n := range ys.a {
		for p := range ys.b {
			for q := range ys.c {
				for c := range xs.d {
					y[ys.at(n, p, q, before+c)] = x[xs.at(n, p*stride, q*stride, c)]
				}
			}
		}
	}
	return y
}

func referenceScale(x []float64, factor float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = factor * v
	}
	return y
}

func referenceGlobalAvgPool(x []float64, xs dims4) []float64 {
	y := make([]float64, xs.a*xs.d)
	for i, v := range x {
		n, c := i/(xs.b*xs.c*xs.d), i%xs.d
		y[n*xs.d+c] += v / float64(xs.b*xs.c)
	}
	return y
}

func referenceBatchNorm(x, gamma, beta []float64, eps float64) []float64 {
	channels := len(gamma)
	rows := float64(len(x) / channels)
	mean, variance := make([]float64, channels), make([]float64, channels)
	for i, v := range x {
		mean[i%channels] += v / rows
	}
	for i, v := range x {
		d := v - mean[i%channels]
		variance[i%channels] += d * d / rows
	}
	y := make([]float64, len(x))
	for i, v := range x {
		c := i % channels
		y[i] = (v-mean[c])/math.Sqrt(variance[c]+eps)*gamma[c] + beta[c]
	}
	return y
}

// referenceCrossEntropy returns the sum of the losses.
func referenceCrossEntropy(logits []float64, labels []int32, classes int) float64 {
	total := 0.0
	for n, label := range labels {
		row, sum := logits[n*classes:(n+1)*classes], 0.0
		for _, z := range row {
			sum += math.Exp(z)
		}
		total += math.Log(sum) - row[label]
	}
	return total
}
