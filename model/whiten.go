package model

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"

	"lockstep/graph"
	"lockstep/tensor"
)

// whitenSide is the side of the patches of a whitening layer.
const whitenSide = 2

// whitenPatch returns the number of values of a patch.
func whitenPatch(channels int) int { return whitenSide * whitenSide * channels }

// whitenEps is added to the variance in each direction, so that noise is not amplified.
const whitenEps = 5e-4

// whiten sets the filters [2n, C, 2, 2] of the layer called name to those that whiten the patches
// of images [N, H, W, C], each of n = 4C values: the eigenvectors of the patches' second moments,
// largest eigenvalue first, each divided by the root of its eigenvalue plus whitenEps, followed by
// their negatives. Sums are taken in float64 in the order of images, rows and columns, so the
// filters are the same on every machine. The largest component of each eigenvector is positive.
func whiten(v *graph.Variables, name string, shape tensor.Shape, images []float32) {
	height, width, channels := shape[0], shape[1], shape[2]
	n := whitenPatch(channels)
	moments := make([][]float64, n)
	for i := range moments {
		moments[i] = make([]float64, n)
	}
	parts := min(runtime.GOMAXPROCS(0), n/2)
	var all sync.WaitGroup
	for part := range parts {
		all.Go(func() { addPatches(moments, part, parts, shape, images) })
	}
	all.Wait()
	patches := len(images) / shape.Elems() * (height - 1) * (width - 1)
	for i := range moments {
		for j := range i + 1 {
			moments[i][j] /= float64(patches)
			moments[j][i] = moments[i][j]
		}
	}
	values, vectors := eigen(moments)
	filters := make([]float32, 0, 2*n*n)
	for _, sign := range []float64{1, -1} {
		for i, x := range values {
			for _, e := range vectors[i] {
				filters = append(filters, float32(sign*e/math.Sqrt(x+whitenEps)))
			}
		}
	}
	v.SetParam(slices.IndexFunc(v.Params, func(p graph.Param) bool { return p.Name == name }), filters)
}

// patchOffsets returns where the elements of a patch lie in an image [H, W, C], counted from its first one,
// in the order of a filter, [C, 2, 2].
func patchOffsets(width, channels int) []int {
	var offsets []int
	for c := range channels {
		for y := range whitenSide {
			for x := range whitenSide {
				offsets = append(offsets, (y*width+x)*channels+c)
			}
		}
	}
	return offsets
}

// addPatches adds to the lower triangle of m, of n rows, the products of all pairs of each patch: to rows i
// and n-1-i, which have as many elements together for every i, for one in so many parts of i.
func addPatches(m [][]float64, part, parts int, shape tensor.Shape, images []float32) {
	height, width, channels, n := shape[0], shape[1], shape[2], len(m)
	patch, offsets := make([]float64, n), patchOffsets(width, channels)
	for image := range slices.Chunk(images, shape.Elems()) {
		for h := range height - 1 {
			for w := range width - 1 {
				at := image[(h*width+w)*channels:]
				for i, offset := range offsets {
					patch[i] = float64(at[offset])
				}
				for i := part; i < n/2; i += parts {
					addProducts(m[i], patch, i)
					addProducts(m[n-1-i], patch, n-1-i)
				}
			}
		}
	}
}

// addProducts adds to row i of a lower triangle the products with x[i].
func addProducts(row, x []float64, i int) {
	a := x[i]
	row = row[:i+1]
	for j, b := range x[:i+1] {
		row[j] += float64(a * b)
	}
}

// eigen returns the eigenvalues of a symmetric matrix in descending order, and their unit
// eigenvectors, by Jacobi's method: rotations that each zero one pair of elements, in order, until
// all are zero. It overwrites m. (Golub and Van Loan, Matrix Computations, section 8.5.)
func eigen(m [][]float64) (values []float64, vectors [][]float64) {
	n := len(m)
	rows := make([][]float64, n) // product of all rotations so far
	for i := range rows {
		rows[i] = make([]float64, n)
		rows[i][i] = 1
	}
	const sweeps = 50 // about six suffice
	for range sweeps {
		isClear := true
		for p := range n {
			for q := p + 1; q < n; q++ {
				if math.Abs(m[p][q]) <= 1e-17*math.Sqrt(math.Abs(float64(m[p][p]*m[q][q]))) {
					continue
				}
				isClear = false
				rotate(m, rows, p, q)
			}
		}
		if isClear {
			break
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m[b][b], m[a][a]) })
	for _, i := range order {
		values, vectors = append(values, max(0, m[i][i])), append(vectors, upright(rows[i]))
	}
	return values, vectors
}

// rotate zeroes m[p][q] and m[q][p] by a rotation in that plane, and applies it to the rows of
// vectors.
func rotate(m, vectors [][]float64, p, q int) {
	theta := (m[q][q] - m[p][p]) / (2 * m[p][q])
	t := 1 / (math.Abs(theta) + math.Sqrt(float64(theta*theta)+1))
	if theta < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(float64(t*t)+1)
	s := float64(t * c)
	turn := func(a, b *float64) {
		*a, *b = float64(c**a)-float64(s**b), float64(s**a)+float64(c**b)
	}
	for i := range m {
		turn(&m[i][p], &m[i][q])
	}
	for i := range m {
		turn(&m[p][i], &m[q][i])
		turn(&vectors[p][i], &vectors[q][i])
	}
	m[p][q], m[q][p] = 0, 0
}

// upright negates a vector if its largest component is negative.
func upright(x []float64) []float64 {
	largest := 0
	for i, a := range x {
		if math.Abs(a) > math.Abs(x[largest]) {
			largest = i
		}
	}
	if x[largest] < 0 {
		for i := range x {
			x[i] = -x[i]
		}
	}
	return x
}
