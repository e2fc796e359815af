package codec_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lockstep/comm"
	"lockstep/comm/commtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// With every codec all ranks of a group get the same bits; with a lossless one they are those of
// the tree.
func TestAllRanksGetTheSameBits(t *testing.T) {
	for workers := 1; workers <= 5; workers++ {
		if testing.Short() && workers > 3 {
			break
		}
		for _, shards := range []int{workers, 7} {
			elems := 5_011
			if workers == 3 && shards == 3 && !testing.Short() {
				elems = 1<<18 + 30_011 // two segments, longer than the links' buffers
			}
			data := commtest.NewContributions(shards, elems)
			want := data.Tree(0, shards)
			for _, name := range coded() {
				loss := must(t, name).Loss()
				for _, algorithm := range comm.Algorithms() {
					if comm.CheckCodec(algorithm, must(t, name)) != nil {
						continue
					}
					results := allReduce(t, shards, workers, name, algorithm, data)
					what := fmt.Sprintf("%s, %s, %d ranks, %d shards", name, algorithm, workers, shards)
					for r, got := range results {
						if i := commtest.Differ(got, results[0]); i >= 0 {
							t.Fatalf("%s: element %d is %v at rank %d, %v at rank 0", what, i, got[i], r,
								results[0][i])
						}
					}
					if i := commtest.Differ(results[0], want); i >= 0 && loss == comm.Lossless &&
						comm.IsExact(algorithm) {
						t.Errorf("%s: element %d is %v, want %v", what, i, results[0][i], want[i])
					}
					checkClose(t, what, results[0], want, float64(shards)/64)
				}
			}
		}
	}
}

func checkClose(t *testing.T, what string, got, want []float32, most float64) {
	t.Helper()
	for i := range got {
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= most) {
			t.Errorf("%s: element %d is %v, want about %v", what, i, got[i], want[i])
			return
		}
	}
}

// ranks runs f on every rank of a group.
func ranks(t *testing.T, shards, workers int, f func(*comm.Group) error) []error {
	t.Helper()
	meshes := comm.NewLocal(workers)
	errs := make([]error, workers)
	var all sync.WaitGroup
	for r, mesh := range meshes {
		all.Go(func() {
			g, err := comm.NewGroup(mesh, comm.Config{Plan: commtest.Cut(t, shards, workers),
				Timeout: 20 * time.Second})
			if err != nil {
				errs[r] = err
				return
			}
			defer g.Close()
			if errs[r] = f(g); errs[r] == nil {
				errs[r] = g.Barrier()
			}
		})
	}
	all.Wait()
	return errs
}

func once(g *comm.Group, c comm.Codec, algorithm string, pieces [][]float32) error {
	return g.Start(comm.Call{Op: comm.AllReduce, Codec: c, Algorithm: algorithm, Out: pieces[0],
		Pieces: pieces}).Wait()
}

// allReduce returns what each rank gets.
func allReduce(t *testing.T, shards, workers int, name, algorithm string,
	data commtest.Contributions) [][]float32 {
	t.Helper()
	results := make([][]float32, workers)
	errs := ranks(t, shards, workers, func(g *comm.Group) error {
		pieces := data.Pieces(g)
		results[g.Rank()] = pieces[0]
		return once(g, must(t, name), algorithm, pieces)
	})
	for r, err := range errs {
		if err != nil {
			t.Fatalf("%s, %s, rank %d of %d: %v", name, algorithm, r, workers, err)
		}
	}
	return results
}

// The counters match the codec's formula for each transfer.
func TestCounters(t *testing.T) {
	const elems = 10_007
	for _, workers := range []int{2, 5} {
		data := commtest.NewContributions(workers+1, elems)
		for _, name := range []string{"bf16", "int8"} {
			errs := ranks(t, workers+1, workers, func(g *comm.Group) error {
				c := must(t, name)
				pieces := data.Pieces(g)
				s, err := comm.PlanAllReduce("direct", g.Topology(), g.Plan(), g.Rank(), elems)
				if err != nil {
					return err
				}
				if err := once(g, c, "direct", pieces); err != nil {
					return err
				}
				sent, vector := 0, 0
				for _, step := range s.Steps {
					for _, send := range step.Sends {
						sent += c.MaxBytes(send.Len())
						vector += 4 * send.Len()
					}
				}
				got := g.Counters().Total()
				if int(got.Sent) != sent || int(got.Vector) != vector {
					return fmt.Errorf("%s: %d bytes sent for %d, want %d for %d", name, got.Sent, got.Vector,
						sent, vector)
				}
				return nil
			})
			for _, err := range errs {
				if err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// Algorithms that forward received data are refused with a codec that rounds in blocks; "auto"
// avoids them.
func TestAlgorithmsThatDoNotFit(t *testing.T) {
	for _, algorithm := range []string{"ring", "halving-doubling", "hierarchical", "tree"} {
		errs := ranks(t, 1, 1, func(g *comm.Group) error {
			return once(g, must(t, "int8"), algorithm, [][]float32{make([]float32, 4)})
		})
		if err := errs[0]; err == nil || !strings.Contains(err.Error(), `codec "int8" would round again`) {
			t.Errorf("%s: %v", algorithm, err)
		}
	}
	errs := ranks(t, 1, 1, func(g *comm.Group) error {
		four := [][]float32{make([]float32, 4)}
		return g.Start(comm.Call{Op: comm.Reduce, Codec: must(t, "bf16"), Out: four[0], Pieces: four}).Wait()
	})
	if err := errs[0]; err == nil || !strings.Contains(err.Error(), "only all-reduce and reduce") {
		t.Errorf("reduce: %v", err)
	}
	const workers = 17 // where "auto" is halving-doubling
	data := commtest.NewContributions(workers, 10_007)
	results := allReduce(t, workers, workers, "int8", "auto", data)
	for r, got := range results {
		if i := commtest.Differ(got, results[0]); i >= 0 {
			t.Errorf("auto: element %d is %v at rank %d, %v at rank 0", i, got[i], r, results[0][i])
		}
	}
}

// forger is a codec whose encodings are invalid.
type forger struct {
	comm.Codec
	bytes int
}

func (f forger) Encode(dst []byte, src []float32) int {
	for i := range dst[:f.bytes] {
		dst[i] = 1
	}
	return f.bytes
}
func (f forger) MaxBytes(n int) int { return max(f.bytes, f.Codec.MaxBytes(n)) }

// A peer whose bodies are too long or invalid is named.
func TestForgedBodies(t *testing.T) {
	for _, bytes := range []int{9, 1 << 20} {
		meshes := comm.NewLocal(2)
		var errs [2]error
		var all sync.WaitGroup
		for r, mesh := range meshes {
			all.Go(func() {
				c := must(t, "sparse")
				if r == 1 {
					c = forger{c, bytes}
				}
				g, err := comm.NewGroup(mesh, comm.Config{Timeout: 20 * time.Second})
				if err != nil {
					errs[r] = err
					return
				}
				defer g.Close()
				errs[r] = once(g, c, "", [][]float32{make([]float32, 100)})
			})
		}
		all.Wait()
		var lost *comm.PeerError
		var body *comm.BodyError
		var frame *comm.FrameError
		err := errs[0]
		if !errors.As(err, &lost) || lost.Rank != 1 || !errors.As(err, &body) && !errors.As(err, &frame) {
			t.Errorf("%d bytes: %v", bytes, err)
		}
		if isLong := bytes > 1000; isLong != errors.As(err, &frame) {
			t.Errorf("%d bytes: %v", bytes, err)
		}
	}
}
