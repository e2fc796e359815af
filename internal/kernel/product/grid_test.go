package product

import "testing"

// Every row and column pair is in one part, and none is empty, however many threads there are.
func TestGridCoversAll(t *testing.T) {
	area := func(rows, columns float64) float64 { return rows + columns + rows*columns }
	for _, size := range [][2]int{{1, 1}, {2, 8}, {36, 4}, {5, 7}, {64, 1}} {
		for threads := 1; threads <= 70; threads++ {
			g := newGrid(threads, size[0], size[1], area)
			seen := make([]int, size[0]*size[1])
			for i := range g.parts() {
				r, c := g.share(i, size[0], size[1])
				if r[0] == r[1] || c[0] == c[1] {
					t.Fatalf("%d threads, %v: part %d of %v is empty", threads, size, i, g)
				}
				for row := r[0]; row < r[1]; row++ {
					for column := c[0]; column < c[1]; column++ {
						seen[row*size[1]+column]++
					}
				}
			}
			for at, n := range seen {
				if n != 1 {
					t.Fatalf("%d threads, %v: element %d is in %d parts of %v", threads, size, at, n, g)
				}
			}
		}
	}
}
