package attend_test

import (
	"fmt"
	"testing"
	"time"

	"lockstep/compute"
	"lockstep/internal/kernel/attend"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/peak"
	"lockstep/internal/kernel/row"
)

// Attention of 4096 tokens in texts of equal length by one thread, four heads of 64 features, as a layer of
// bert-mini has them:
//
//	go test ./internal/kernel/attend -run '^$' -bench Attention
//
// It reports the least time of a call. The share of the peak counts the products alone, half of them if it is
// causal; results/kernels/attention.py runs it in turn with PyTorch.
func BenchmarkAttention(b *testing.B) {
	const tokens, heads, size = 4096, 4, 64
	x := func(seed uint64) []float32 { return kerneltest.Draw(b, tokens*heads*size, 0, seed) }
	y, q, k, v, dy, dq, dk, dv := x(0), x(1), x(2), x(3), x(4), x(5), x(6), x(7)
	moments := make([]float32, 2*tokens*heads)
	for _, isa := range compute.Supported()[1:] {
		for _, length := range []int{128, 512, 1024, 4096} {
			for _, causal := range []bool{false, true} {
				cpu := kerneltest.Open(b, isa, 1)
				a := attend.New(cpu, attend.Shape{Heads: heads, Size: size, Most: length, Causal: causal})
				scratch, r := make([]float32, a.ScratchFloats()), row.Rows{Starts: []int32{0}}
				for at := length; at <= tokens; at += length {
					r.Starts = append(r.Starts, int32(at))
				}
				keys := float64(length)
				if causal {
					keys = float64(length+1) / 2
				}
				run := func(direction string, products float64, f func()) {
					name := fmt.Sprintf("%v/%d/causal=%v/%s", isa, length, causal, direction)
					b.Run(name, func(b *testing.B) {
						f()
						most, least := peak.FLOPs(cpu), time.Hour
						for b.Loop() {
							start := time.Now()
							f()
							least = min(least, time.Since(start))
						}
						flops := products * 2 * tokens * heads * size * keys
						b.ReportMetric(100*flops/least.Seconds()/most, "%ofpeak")
						b.ReportMetric(float64(4*a.ScratchFloats()>>10), "KiB")
						b.ReportMetric(1e3*least.Seconds(), "ms")
						b.ReportMetric(0, "ns/op")
					})
				}
				run("forward", 2, func() { a.Forward(y, moments, q, k, v, r, row.Dropout{}, scratch) })
				run("backward", 5, func() {
					a.Backward(dq, dk, dv, dy, y, moments, q, k, v, r, row.Dropout{}, scratch)
				})
			}
		}
	}
}
