package graph_test

import (
	"testing"

	"lockstep/graph"

	"pgregory.net/rapid"
)

// checkPlan fails if a block is misplaced or overlaps one that is alive at the same step.
func checkPlan(t rapid.TB, blocks []graph.Block, size int) {
	t.Helper()
	for i, a := range blocks {
		if a.Offset < 0 || a.Offset%16 != 0 || a.Offset+a.Size > size {
			t.Fatalf("block %d %+v does not lie on a line of an arena of %d", i, a, size)
		}
		for j, b := range blocks[:i] {
			apartInTime := a.Last < b.First || b.Last < a.First
			apartInSpace := a.Offset+a.Size <= b.Offset || b.Offset+b.Size <= a.Offset
			if !apartInTime && !apartInSpace {
				t.Fatalf("blocks %d %+v and %d %+v overlap", j, b, i, a)
			}
		}
	}
}

// peak returns the most floats alive at one step, a lower bound of any plan.
func peak(blocks []graph.Block) int {
	most := 0
	for _, at := range blocks {
		sum := 0
		for _, b := range blocks {
			if b.First <= at.First && at.First <= b.Last {
				sum += (b.Size + 15) / 16 * 16
			}
		}
		most = max(most, sum)
	}
	return most
}

func TestArrangeNeverOverlaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blocks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) graph.Block {
			first := rapid.IntRange(0, 30).Draw(t, "first")
			return graph.Block{
				Size:  rapid.IntRange(1, 500).Draw(t, "size"),
				First: first, Last: first + rapid.IntRange(0, 10).Draw(t, "length"),
			}
		}), 0, 40).Draw(t, "blocks")
		placed, size := graph.Arrange(blocks)
		checkPlan(t, placed, size)
	})
}

// A chain in which each value dies as soon as the next exists needs two places, and a small block
// goes into the smallest gap.
func TestArrangeReusesMemory(t *testing.T) {
	chain := make([]graph.Block, 9)
	for i := range chain {
		chain[i] = graph.Block{Size: 160, First: i, Last: i + 1}
	}
	if _, size := graph.Arrange(chain); size != 320 {
		t.Errorf("a chain of 160 floats needs %d, want 320", size)
	}
	gaps := []graph.Block{
		{Size: 640, First: 0, Last: 0}, {Size: 480, First: 0, Last: 9}, {Size: 400, First: 0, Last: 0},
		{Size: 336, First: 0, Last: 9}, {Size: 300, First: 5, Last: 6},
	}
	placed, size := graph.Arrange(gaps)
	checkPlan(t, placed, size)
	if got, want := placed[4].Offset, placed[2].Offset; got != want {
		t.Errorf("300 floats went to %d, want the gap of 400 at %d", got, want)
	}
}

// In the plans of whole networks no values overlap, and the size is near the largest sum of live values.
func TestProgramPlan(t *testing.T) {
	for _, train := range []bool{true, false} {
		n := newNetwork(t, 8, train)
		blocks, size := n.p.Blocks(), int(n.p.ArenaBytes()/4)
		checkPlan(t, blocks, size)
		if low := peak(blocks); size > low*11/10 {
			t.Errorf("training %v: arena of %d floats, %d are alive at once", train, size, low)
		}
	}
}
