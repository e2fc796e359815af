package gradsync_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/gradsync"
)

// A network of two matrices with a vector between them; the second matrix is too small for factors.
const (
	rowsA, colsA = 40, 30
	lenB         = 30
	rowsC, colsC = 2, 2
	offsetB      = rowsA * colsA
	offsetC      = offsetB + 32
	elemsABC     = offsetC + rowsC*colsC
)

func matrices() []gradsync.Segment {
	return []gradsync.Segment{{Len: rowsA * colsA, Rows: rowsA, Cols: colsA}, {Offset: offsetB, Len: lenB},
		{Offset: offsetC, Len: rowsC * colsC, Rows: rowsC, Cols: colsC}}
}

// outer returns the sum of terms outer products u v; the t-th is scaled by decay^t. The values
// after the first matrix are arbitrary.
func outer(seed, terms int, decay float64) []float32 {
	noise := commtest.NewContributions(2*terms+1, elemsABC)
	noise = append(noise[seed:], noise[:seed]...)
	g := slices.Clone(noise[0])
	for gap := offsetB + lenB; gap < offsetC; gap++ {
		g[gap] = 0
	}
	clear(g[:offsetB])
	for t := range terms {
		u, v := noise[1+2*t], noise[2+2*t]
		for i := range rowsA {
			for j := range colsA {
				g[i*colsA+j] += float32(math.Pow(decay, float64(t))) * u[i] * v[j]
			}
		}
	}
	return g
}

// lowRankSteps lets every worker of a plan exchange the gradients of its pieces for some steps, and
// returns the result of each worker in each step.
func lowRankSteps(t *testing.T, name string, shards, workers, rank, steps int,
	gradient func(step, shard int) []float32) (sums [][][]float32) {
	t.Helper()
	plan := commtest.Cut(t, shards, workers)
	sums = make([][][]float32, workers)
	errs := commtest.Ranks(t, local, plan, comm.Config{}, func(g *comm.Group) error {
		own := make([][]float32, len(plan.Pieces(g.Rank())))
		for i := range own {
			own[i] = make([]float32, elemsABC)
		}
		s, err := gradsync.New(name, gradsync.Config{Group: g, Segments: matrices(),
			Wire:  wire(t, fmt.Sprintf("powersgd-%d", rank)),
			Order: []int{0, 1, 2}, Pieces: own, BucketBytes: 4000})
		if err != nil {
			return err
		}
		for step := range steps {
			data := make(commtest.Contributions, shards)
			for v := range data {
				data[v] = gradient(step, v)
			}
			for i, p := range data.Pieces(g) {
				copy(own[i], p)
			}
			s.Begin(step)
			for param := range 3 {
				s.Ready(param)
			}
			if err := s.Wait(); err != nil {
				return err
			}
			sums[g.Rank()] = append(sums[g.Rank()], slices.Clone(own[0]))
		}
		b := s.Buckets()[0]
		want := int64(steps * 4 * comm.Theory("one-shot", comm.OneHost(workers), 0, rank*(rowsA+colsA)).Sent)
		if shards == workers && name != "gather-scatter" && b.Sent != want {
			return fmt.Errorf("%d bytes sent, want %d", b.Sent, want)
		}
		full := int64(steps * 4 * comm.Theory("one-shot", comm.OneHost(workers), 0, rowsA*colsA).Sent)
		if shards == workers && name != "gather-scatter" && b.Sent+b.Spared != full {
			return fmt.Errorf("%d bytes sent, %d spared, want %d together", b.Sent, b.Spared, full)
		}
		return nil
	})
	for r, err := range errs {
		if err != nil {
			t.Fatalf("%s, %d shards, rank %d of %d: %v", name, shards, r, workers, err)
		}
	}
	return sums
}

// distance returns the norm of x-y relative to that of y, for the first matrix.
func distance(x, y []float32) float64 {
	var d, n float64
	for i := range y[:offsetB] {
		d += math.Pow(float64(x[i])-float64(y[i]), 2)
		n += math.Pow(float64(y[i]), 2)
	}
	return math.Sqrt(d / n)
}

// A gradient of rank r or less passes through factors of rank r unchanged from the first step on;
// vectors and small matrices always do, bit by bit. All workers get the same bits.
func TestFactorsOfAGradientOfTheirRank(t *testing.T) {
	for _, name := range []string{"ddp", "all-reduce", "gather-scatter"} {
		for _, size := range [][2]int{{1, 1}, {2, 2}, {3, 3}, {5, 3}, {7, 2}} {
			shards, workers := size[0], size[1]
			for _, rank := range []int{1, 2, 4} {
				low := outer(0, min(rank, 3), 0.9)
				gradient := func(_, shard int) []float32 {
					g := slices.Clone(low)
					for i := range g {
						g[i] *= float32(shard + 1)
					}
					return g
				}
				data := make(commtest.Contributions, shards)
				for v := range data {
					data[v] = gradient(0, v)
				}
				want := data.Tree(0, shards)
				for r, steps := range lowRankSteps(t, name, shards, workers, rank, 2, gradient) {
					for step, got := range steps {
						what := fmt.Sprintf("%s, %d shards, rank %d of %d, factors of %d, step %d", name,
							shards, r, workers, rank, step)
						if d := distance(got, want); !(d < 1e-5) {
							t.Errorf("%s: %v off", what, d)
						}
						if i := commtest.Differ(got[offsetB:], want[offsetB:]); i >= 0 {
							t.Errorf("%s: element %d of the vector is %v, want %v", what, i, got[offsetB+i],
								want[offsetB+i])
						}
					}
				}
			}
		}
	}
}

// With the same gradient of full rank in every step, the results add up to it: the error is
// bounded, so the mean over n steps is off by a fraction of order 1/n. All workers get the same
// bits.
func TestNothingIsLostBetweenFactors(t *testing.T) {
	if testing.Short() {
		t.Skip("60 steps, of which the race detector sees nothing after the first two")
	}
	const steps, shards, workers = 60, 5, 3
	gradient := func(_, shard int) []float32 { return outer(shard, 12, 0.8) }
	data := make(commtest.Contributions, shards)
	for v := range data {
		data[v] = gradient(0, v)
	}
	want := data.Tree(0, shards)
	sums := lowRankSteps(t, "ddp", shards, workers, 2, steps, gradient)
	mean := make([]float32, elemsABC)
	var early float64
	for step := range steps {
		for r := range sums {
			if i := commtest.Differ(sums[r][step], sums[0][step]); i >= 0 {
				t.Fatalf("step %d: element %d differs between ranks 0 and %d", step, i, r)
			}
		}
		for i, x := range sums[0][step] {
			mean[i] += (x - mean[i]) / float32(step+1)
		}
		if step == 5 {
			early = distance(mean, want)
		}
	}
	if first, late := distance(sums[0][0], want), distance(mean, want); !(first > 0.3 && early < 0.65*first &&
		late < early/5) {
		t.Errorf("the first step is %v off, the mean of 6 %v, of %d %v", first, early, steps, late)
	}
}

// The result of one step with rank 1 is the projection of the gradient on the direction of its
// product with the guess: P = M Q / |M Q|, M' = P transposed(P) M. In the second step M includes
// the error of the first, and Q is the right factor of the first.
func TestOneStepIsTheFormula(t *testing.T) {
	g := outer(0, 2, 0.5)
	var before []float32
	for step, got := range lowRankSteps(t, "ddp", 1, 1, 1, 2, func(int, int) []float32 { return g })[0] {
		m := slices.Clone(g[:offsetB])
		if step > 0 { // error feedback
			for i := range m {
				m[i] += g[i] - before[i]
			}
		}
		p, length := make([]float64, rowsA), 0.0
		for i := range p { // any column of the result
			p[i] = float64(got[i*colsA])
			length += p[i] * p[i]
		}
		for j := range colsA {
			along := 0.0
			for i := range p {
				along += p[i] * float64(m[i*colsA+j]) / length
			}
			for i := range p {
				if want := p[i] * along; !(math.Abs(float64(got[i*colsA+j])-want) < 1e-5) {
					t.Fatalf("step %d: element %d,%d is %v, want %v", step, i, j, got[i*colsA+j], want)
				}
			}
		}
		if step > 0 { // P is M Q, with Q proportional to the rows of the result before
			product := make([]float64, rowsA)
			for i := range product {
				for j := range colsA {
					product[i] += float64(m[i*colsA+j]) * float64(before[j])
				}
			}
			for i := range p {
				if d := p[i]/p[0] - product[i]/product[0]; !(math.Abs(d) < 1e-3*math.Abs(p[i]/p[0])+1e-3) {
					t.Fatalf("P[%d]/P[0] is %v, want %v", i, p[i]/p[0], product[i]/product[0])
				}
			}
		}
		before = got
	}
}

// A zero gradient, as of a frozen layer, does not spoil the guesses. A value that is not finite
// stays visible.
func TestFactorsOfZeroAndOfNaN(t *testing.T) {
	low := outer(0, 2, 1)
	sums := lowRankSteps(t, "ddp", 2, 2, 2, 4, func(step, _ int) []float32 {
		g := slices.Clone(low)
		switch step {
		case 0:
			clear(g)
		case 3:
			g[7] = float32(math.NaN())
		}
		return g
	})
	want := slices.Clone(low)
	for i := range want {
		want[i] *= 2
	}
	for i, x := range sums[0][0] {
		if x != 0 {
			t.Fatalf("element %d of zeros is %v", i, x)
		}
	}
	if d := distance(sums[0][1], want); !(d < 1e-5) {
		t.Errorf("after zeros %v off", d)
	}
	if x := sums[0][3][7]; x == x {
		t.Errorf("a NaN became %v", x)
	}
}

func BenchmarkPowerSGD(b *testing.B) {
	for _, rank := range []int{1, 2, 4} {
		b.Run(fmt.Sprint(rank), func(b *testing.B) {
			const rows, cols = 4608, 512 // of a layer of vgg11
			g, err := comm.NewGroup(comm.NewLocal(1)[0], comm.Config{})
			if err != nil {
				b.Fatal(err)
			}
			defer g.Close()
			gradient := commtest.NewContributions(1, rows*cols)[0]
			piece := make([]float32, len(gradient))
			s, err := gradsync.New("ddp", gradsync.Config{Group: g, Order: []int{0},
				Wire:     wire(b, fmt.Sprintf("powersgd-%d", rank)),
				Segments: []gradsync.Segment{{Len: len(piece), Rows: rows, Cols: cols}},
				Pieces:   [][]float32{piece}})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(4 * rows * cols)
			for b.Loop() {
				copy(piece, gradient)
				s.Begin(0)
				s.Ready(0)
				if err := s.Wait(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Spared is relative to what fp32 would send by the algorithm that auto selects for fp32, here
// direct, although the factors are so short that they are sent by one-shot.
func TestFactorsAreComparedWithTheAlgorithmOfFP32(t *testing.T) {
	const workers, rows, cols, steps = 4, 200, 150, 2
	plan := commtest.Cut(t, workers, workers)
	c := comm.Config{Topology: comm.OneHost(workers)}
	errs := commtest.Ranks(t, local, plan, c, func(g *comm.Group) error {
		s, err := gradsync.New("ddp", gradsync.Config{Group: g, Wire: wire(t, "powersgd-1"), Order: []int{0},
			Segments: []gradsync.Segment{{Len: rows * cols, Rows: rows, Cols: cols}},
			Pieces:   [][]float32{make([]float32, rows*cols)}})
		if err != nil {
			return err
		}
		for number := range steps {
			s.Begin(number)
			s.Ready(0)
			if err := s.Wait(); err != nil {
				return err
			}
		}
		b := s.Buckets()[0]
		sent := int64(steps * 4 * comm.Theory("one-shot", g.Topology(), g.Rank(), rows+cols).Sent)
		plain := int64(steps * 4 * comm.Theory("direct", g.Topology(), g.Rank(), rows*cols).Sent)
		if b.Sent != sent || b.Sent+b.Spared != plain {
			return fmt.Errorf("%d bytes sent in place of %d, want %d of %d", b.Sent, b.Sent+b.Spared, sent,
				plain)
		}
		return nil
	})
	for r, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}
