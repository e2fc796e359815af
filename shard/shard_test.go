package shard_test

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"lockstep/shard"
)

func ExamplePlan_Pieces() {
	p, _ := shard.Cut(8, 3)
	for rank := range p.Workers() {
		fmt.Println(rank, p.Pieces(rank))
	}
	// Output:
	// 0 [{0 2}]
	// 1 [{2 4} {4 5}]
	// 2 [{5 6} {6 8}]
}

// tree writes the sum over [lo, hi) as the definition has it, recursively.
func tree(lo, hi int) string {
	if hi-lo == 1 {
		return fmt.Sprint(lo)
	}
	half := 1 << (bits.Len(uint(hi-lo-1)) - 1)
	return "(" + tree(lo, lo+half) + "+" + tree(lo+half, hi) + ")"
}

func TestAnyCutGivesTheTreesSum(t *testing.T) {
	for shards := 1; shards <= 20; shards++ {
		for workers := 1; workers <= shards; workers++ {
			p, err := shard.Cut(shards, workers)
			if err != nil {
				t.Fatal(err)
			}
			var pieces []shard.Node
			for r := range workers {
				own := p.Pieces(r)
				if n := len(own); n > 2*bits.Len(uint(shards)) {
					t.Errorf("%d/%d: rank %d has %d pieces", shards, workers, r, n)
				}
				pieces = append(pieces, own...)
			}
			if got, want := sum(t, pieces, shards), tree(0, shards); got != want {
				t.Errorf("%d shards, %d workers: %s, want %s", shards, workers, got, want)
			}
		}
	}
}

// sum executes Reduce symbolically.
func sum(t *testing.T, pieces []shard.Node, shards int) string {
	terms := make([]string, len(pieces))
	for i, n := range pieces {
		terms[i] = tree(n.Lo, n.Hi)
	}
	sums, rest := shard.Reduce(pieces, shards)
	for _, s := range sums {
		terms[s.Into] = "(" + terms[s.Into] + "+" + terms[s.From] + ")"
	}
	if !slices.Equal(rest, []int{0}) {
		t.Errorf("pieces %v of %d: rest %v, want [0]", pieces, shards, rest)
	}
	return terms[0]
}

// Of any set of shards Reduce adds siblings only, as many as there are.
func TestReduceWithGaps(t *testing.T) {
	const shards = 11
	for set := range 1 << shards {
		var leaves []shard.Node
		var terms []string
		for v := range shards {
			if set&(1<<v) != 0 {
				leaves, terms = append(leaves, shard.Node{Lo: v, Hi: v + 1}), append(terms, fmt.Sprint(v))
			}
		}
		sums, rest := shard.Reduce(leaves, shards)
		for _, s := range sums {
			terms[s.Into] = "(" + terms[s.Into] + "+" + terms[s.From] + ")"
		}
		var got []string
		for _, i := range rest {
			got = append(got, terms[i])
		}
		if want := subtrees(set, 0, shards); !slices.Equal(got, want) {
			t.Fatalf("set %b: %v, want %v", set, got, want)
		}
	}
}

// subtrees writes the sums of the largest subtrees in [lo, hi) of which set has every shard.
func subtrees(set, lo, hi int) []string {
	if mask := 1<<hi - 1<<lo; set&mask == mask {
		return []string{tree(lo, hi)}
	}
	if hi-lo == 1 {
		return nil
	}
	half := 1 << (bits.Len(uint(hi-lo-1)) - 1)
	return append(subtrees(set, lo, lo+half), subtrees(set, lo+half, hi)...)
}

func TestReduceOfLeavesInAnyRunKeepsToTheTree(t *testing.T) {
	const shards = 13
	for lo := range shards {
		for hi := lo + 1; hi <= shards; hi++ {
			var leaves []shard.Node
			terms := map[int]string{}
			for v := lo; v < hi; v++ {
				terms[v-lo] = fmt.Sprint(v)
				leaves = append(leaves, shard.Node{Lo: v, Hi: v + 1})
			}
			sums, rest := shard.Reduce(leaves, shards)
			for _, s := range sums {
				terms[s.Into] = "(" + terms[s.Into] + "+" + terms[s.From] + ")"
			}
			at := lo
			for _, i := range rest {
				end := at + 1
				for end <= hi && tree(at, end) != terms[i] {
					end++
				}
				if end > hi {
					t.Fatalf("[%d,%d): %s is no subtree sum", lo, hi, terms[i])
				}
				at = end
			}
			if at != hi {
				t.Errorf("[%d,%d): rest ends at %d", lo, hi, at)
			}
		}
	}
}

func TestCutIsBalanced(t *testing.T) {
	for shards := 1; shards <= 40; shards++ {
		for workers := 1; workers <= shards; workers++ {
			p, err := shard.Cut(shards, workers)
			if err != nil {
				t.Fatal(err)
			}
			at := 0
			for r := range workers {
				lo, hi := p.Run(r)
				if n := hi - lo; lo != at || n < shards/workers || n > (shards+workers-1)/workers {
					t.Errorf("%d/%d: rank %d runs [%d,%d) after %d", shards, workers, r, lo, hi, at)
				}
				at = hi
			}
			if at != shards {
				t.Errorf("%d/%d: runs end at %d", shards, workers, at)
			}
		}
	}
	for _, bad := range [][2]int{{0, 0}, {1, 0}, {2, 3}, {4, -1}} {
		if _, err := shard.Cut(bad[0], bad[1]); err == nil {
			t.Errorf("Cut(%d, %d) succeeded", bad[0], bad[1])
		}
	}
}

func TestSamplesAddUp(t *testing.T) {
	for samples := range 30 {
		for shards := 1; shards < 9; shards++ {
			total := 0
			for v := range shards {
				total += shard.Samples(samples, shards, v)
			}
			if total != samples {
				t.Errorf("%d samples over %d shards add up to %d", samples, shards, total)
			}
		}
	}
}
