package train_test

import (
	"fmt"
	"math/bits"
	"testing"

	"lockstep/shard"
	"lockstep/train"
)

// term returns the tree's sum over the subtree [lo, hi) as a string.
func term(lo, hi int) string {
	if hi-lo == 1 {
		return fmt.Sprint(lo)
	}
	half := 1 << (bits.Len(uint(hi-lo-1)) - 1)
	return "(" + term(lo, lo+half) + "+" + term(lo+half, hi) + ")"
}

func TestStackLeavesThePlansPieces(t *testing.T) {
	for shards := 1; shards <= 17; shards++ {
		for workers := 1; workers <= shards; workers++ {
			plan, err := shard.Cut(shards, workers)
			if err != nil {
				t.Fatal(err)
			}
			for rank := range workers {
				for _, abreast := range []int{1, 2, 4, 8} {
					checkStack(t, plan, rank, abreast)
				}
			}
		}
	}
}

// No run needs more buffers than are planned for those that a worker may get.
func TestMostBuffers(t *testing.T) {
	for shards := 1; shards <= 40; shards++ {
		for lo := range shards {
			for hi := lo + 1; hi <= shards; hi++ {
				got, most := train.NewStack(lo, hi, shards, 1).NumBuffers(), train.MostBuffers(hi-lo, shards)
				if got > most {
					t.Errorf("[%d, %d) of %d: %d buffers, planned %d", lo, hi, shards, got, most)
				}
			}
		}
	}
}

// checkStack executes the stack symbolically, overwriting buffers as training does.
func checkStack(t *testing.T, plan shard.Plan, rank, abreast int) {
	t.Helper()
	lo, hi := plan.Run(rank)
	s := train.NewStack(lo, hi, plan.Shards(), abreast)
	if lo%abreast > 0 || hi%abreast > 0 {
		abreast = 1
	}
	if s.Abreast() != abreast {
		t.Errorf("[%d,%d): %d abreast, want %d", lo, hi, s.Abreast(), abreast)
	}
	if limit := s.NumPieces() + bits.Len(uint(plan.Shards())) + abreast - 1; s.NumBuffers() > limit {
		t.Errorf("[%d,%d) of %d: %d buffers, want at most %d", lo, hi, plan.Shards(),
			s.NumBuffers(), limit)
	}
	buffers := make([]string, s.NumBuffers())
	for first := lo; first < hi; first += abreast {
		for v := first; v < first+abreast; v++ {
			buffers[s.Slot(v-lo)] = fmt.Sprint(v)
		}
		for v := first; v < first+abreast; v++ {
			for _, f := range s.Folds(v - lo) {
				buffers[f[0]] = "(" + buffers[f[0]] + "+" + buffers[f[1]] + ")"
			}
		}
	}
	pieces := plan.Pieces(rank)
	if s.NumPieces() != len(pieces) {
		t.Fatalf("[%d,%d) of %d: %d pieces, want %d", lo, hi, plan.Shards(), s.NumPieces(), len(pieces))
	}
	for i, p := range pieces {
		if want := term(p.Lo, p.Hi); buffers[i] != want {
			t.Errorf("[%d,%d) of %d: piece %d is %s, want %s", lo, hi, plan.Shards(), i,
				buffers[i], want)
		}
	}
}
