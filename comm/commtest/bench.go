package commtest

import (
	"fmt"
	"testing"

	"lockstep/comm"
)

// Benchmark times all-reduces between two ranks for several sizes, after checking the sum. The
// bytes per second are those of the vector.
func Benchmark(b *testing.B, connect Connect) {
	for _, bytes := range []int{4 << 10, 256 << 10, 4 << 20} {
		b.Run(fmt.Sprintf("AllReduce/bytes=%d", bytes), func(b *testing.B) {
			data := NewContributions(2, bytes/4)
			want := data.Tree(0, 2)
			errs := Ranks(b, connect, Cut(b, 2, 2), comm.Config{}, func(g *comm.Group) error {
				return benchmarkRank(b, g, data, want)
			})
			for _, err := range errs {
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
}

func benchmarkRank(b *testing.B, g *comm.Group, data Contributions, want []float32) error {
	pieces := data.Pieces(g)
	h := g.Prepare(comm.Call{Op: comm.AllReduce, Out: pieces[0], Pieces: pieces})
	if err := h.Do(); err != nil {
		return err
	}
	if i := Differ(pieces[0], want); i >= 0 {
		return fmt.Errorf("element %d differs", i)
	}
	clear(pieces[0]) // zeros stay zeros, so values do not grow
	if g.Rank() == 0 {
		b.SetBytes(int64(4 * len(want)))
		b.ResetTimer()
	}
	for range b.N {
		if err := h.Do(); err != nil {
			return err
		}
	}
	return nil
}
