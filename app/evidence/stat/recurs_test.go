package stat_test

import (
	"testing"

	"lockstep/app/evidence/stat"
)

// The tail of a binomial is the sum of its terms.
func TestAtLeast(t *testing.T) {
	for _, c := range []struct {
		k, n    int
		p, want float64
	}{{0, 0, 0.5, 1}, {-1, 3, 0.5, 1}, {1, 0, 0.5, 0}, {1, 3, 0.5, 0.875},
		{2, 3, 0.5, 0.5}, {3, 3, 0.5, 0.125},
		{4, 3, 0.5, 0}, {2, 2, 0.25, 0.0625}, {1, 2, 0.25, 0.4375}} {
		near(t, "tail", stat.AtLeast(c.k, c.n, c.p), c.want, 1e-12)
	}
}

// What happens throughout recurs; what does in one half, as often as by chance, or hardly more often, passes.
func TestIsRecurring(t *testing.T) {
	for _, c := range []struct {
		name         string
		count, times [2]int
		many         int
		want         bool
	}{
		{"always", [2]int{29, 29}, [2]int{29, 29}, 3, true},
		{"in two of three", [2]int{20, 20}, [2]int{29, 29}, 3, true},
		{"in the first half", [2]int{29, 0}, [2]int{29, 29}, 3, false},
		{"in most, of the first half", [2]int{500, 250}, [2]int{500, 500}, 2, false},
		{"by chance", [2]int{10, 10}, [2]int{29, 29}, 3, false},
		{"a little more often", [2]int{600, 600}, [2]int{1000, 1000}, 2, false},
		{"in few steps", [2]int{2, 2}, [2]int{2, 2}, 2, false},
		{"in none", [2]int{}, [2]int{}, 2, false},
	} {
		if got := stat.IsRecurring(c.count, c.times, c.many); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
