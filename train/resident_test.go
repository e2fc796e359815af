package train_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/internal/kernel/row"
	"lockstep/model"
	"lockstep/optim"
	"lockstep/tensor"
	"lockstep/trace"
	"lockstep/train"
)

// apart is a Resident executor: the host's kernels on memory that programs cannot see. It records passes, as
// a device does, by keeping what was queued.
type apart struct {
	*graph.Host
	rows      *row.CPU
	uploads   int // elements
	downloads int
	tape      *[]func() // while a pass is recorded
	replays   int
}

func newApart(cpu *compute.CPU) *apart { return &apart{Host: graph.NewHost(cpu), rows: row.On(cpu)} }

func (*apart) InPlace() bool { return false }

func (*apart) Allocate(n int) (graph.Memory, error) {
	return graph.Memory{Handle: &room{make([]float32, n)}}, nil
}

// room is memory of the executor.
type room struct{ floats []float32 }

// floats returns where b lies.
func floats(s graph.Span) []float32 {
	if s.Handle == nil {
		return nil
	}
	return s.Handle.(*room).floats[s.Offset : s.Offset+s.Len : s.Offset+s.Len]
}

// host returns b as the host's kernels take it.
func host(b *graph.Buffer) *graph.Buffer {
	f := floats(b.Device)
	h := &graph.Buffer{F: f}
	if len(f) > 0 {
		h.I = unsafe.Slice((*int32)(unsafe.Pointer(&f[0])), len(f))
	}
	return h
}

func (e *apart) Prepare(a graph.Application) (graph.Kernel, error) {
	k, err := e.Host.Prepare(a)
	run := k.Run
	k.Run = func(a *graph.Args) {
		on := &graph.Args{Scratch: host(a.Scratch), Draws: a.Draws}
		for _, b := range a.In {
			on.In = append(on.In, host(b))
		}
		for _, b := range a.Out {
			on.Out = append(on.Out, host(b))
		}
		e.queue(func() { run(on) })
	}
	return k, err
}

// queue does f, or records it.
func (e *apart) queue(f func()) {
	if e.tape != nil {
		*e.tape = append(*e.tape, f)
		return
	}
	f()
}

// tape is a recorded pass.
type tape struct {
	of    *apart
	parts []func()
}

func (e *apart) Record(f func()) graph.Recording {
	t := &tape{of: e}
	e.tape = &t.parts
	f()
	e.tape = nil
	return t
}

func (t *tape) Replay() {
	t.of.replays++
	for _, f := range t.parts {
		f()
	}
}

func (t *tape) Close() { t.parts = nil }

func (e *apart) Upload(dst, src *graph.Buffer) {
	to := host(dst)
	copy(to.F, src.F)
	copy(to.I, src.I)
	e.uploads += len(src.F) + len(src.I)
}

func (e *apart) Download(dst, src *graph.Buffer) {
	copy(dst.F, floats(src.Device))
	e.downloads += len(dst.F)
}

func (e *apart) Zero(v graph.Span) { clear(floats(v)) }

func (e *apart) Add(into, from graph.Span) { e.rows.Add(floats(into), floats(into), floats(from)) }

func (e *apart) SGD(w, v, g graph.Span, rate, momentum, decay, scale float32, nesterov bool) {
	e.rows.SGD(floats(w), floats(v), floats(g), rate, momentum, decay, scale, nesterov)
}

func (e *apart) AdamW(w, m, v, g graph.Span, step optim.AdamWStep) {
	e.rows.AdamW(floats(w), floats(m), floats(v), floats(g), row.AdamWStep(step))
}

func (e *apart) Squares(v graph.Span) float64 {
	return e.rows.NewSquares(v.Len).Sum(floats(v))
}

func (*apart) Err() error { return nil }

var _ train.Resident = (*apart)(nil)

// resident returns c with a resident executor on a CPU of its own.
func resident(t *testing.T, c train.Config) (train.Config, *apart) {
	t.Helper()
	cpu, err := compute.Open(compute.Config{ISA: compute.Best()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cpu.Close)
	ex := newApart(cpu)
	c.Executor = ex
	return c, ex
}

// cases are runs that the host and an executor apart must agree on.
func residentCases(t *testing.T) map[string]train.Config {
	plain := example(t, "resnet20", 75, 20)
	plain.Epochs, plain.Steps, plain.EvalEvery = 3, 0, 1
	followed := plain
	followed.Lookahead = optim.LookaheadConfig{Every: 2, Alpha: 0.5}
	followed.Views = nil
	averaged := plain
	averaged.EMA = 0.9
	clipped := plain
	clipped.Clip = 1
	adam := plain
	adam.Optimizer = optim.Config{Name: "adamw", LR: 1e-3, WeightDecay: 0.01}
	return map[string]train.Config{"sgd": plain, "lookahead": followed, "ema": averaged, "adamw": adam,
		"clip": clipped, "texts": textRun(t)}
}

// A run whose weights, gradients and optimizer lie in the memory of an executor has the bits of one on the
// host: every loss, every evaluation, all parameters. What moves is the samples and the results of a step.
func TestResidentTrainingChangesNoBit(t *testing.T) {
	cases := residentCases(t)
	if testing.Short() {
		cases = map[string]train.Config{"texts": cases["texts"]}
	}
	for name, c := range cases {
		var want, got diary
		on := alone(t, c)
		first, err := on.Run(context.Background(), &want)
		if err != nil {
			t.Fatal(err)
		}
		c, ex := resident(t, c)
		second, err := alone(t, c).Run(context.Background(), &got)
		if err != nil {
			t.Fatal(err)
		}
		if first.ParameterSHA256 != second.ParameterSHA256 {
			t.Errorf("%s: parameters %s, on the host %s", name, second.ParameterSHA256, first.ParameterSHA256)
		}
		for i := range want.steps {
			if want.steps[i].Loss != got.steps[i].Loss {
				t.Errorf("%s: loss of step %d is %v, on the host %v", name, i, got.steps[i].Loss,
					want.steps[i].Loss)
			}
		}
		for i := range want.evaluations {
			w, g := want.evaluations[i], got.evaluations[i]
			w.Time, w.Trained, g.Time, g.Trained = 0, 0, 0, 0
			if !reflect.DeepEqual(w, g) {
				t.Errorf("%s: evaluation %+v, on the host %+v", name, g, w)
			}
		}
		weights, samples := len(on.Variables().Weights), (9*30+3*20)*c.Network.Input.Elems()
		if moved := ex.uploads - samples; (name == "sgd" || name == "clip") && moved > 3*weights {
			t.Errorf("%s: %d elements besides samples are sent, for %d weights", name, moved, weights)
		}
		if wants := name != "texts"; wants != (ex.replays > 0) {
			t.Errorf("%s: %d passes are replayed", name, ex.replays)
		}
	}
}

// textRun is a run of a small BERT with dropout.
func textRun(t *testing.T) train.Config {
	t.Helper()
	network, err := model.Named("bert-tiny", 2, tensor.Shape{40})
	if err != nil {
		t.Fatal(err)
	}
	return train.Config{
		Network: network.WithWords(numWords), Train: texts(23, 40, 1), Test: texts(9, 40, 2),
		Batch: 10, Plan: cut(t, 4, 1), Steps: 4, EvalBatch: 4, Seed: 5,
		Optimizer: optim.Config{Name: "adamw", LR: 1e-3, WeightDecay: 0.01},
	}
}

// A checkpoint taken on the host resumes in the memory of an executor, and the reverse, with the bits of an
// uninterrupted run.
func TestResidentTrainingResumes(t *testing.T) {
	skipShort(t)
	c := residentCases(t)["lookahead"]
	whole, err := alone(t, c).Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, fromHost := range []bool{false, true} {
		pictures := &album{after: []int{5}}
		before, after := c, c
		if fromHost {
			after, _ = resident(t, c)
		} else {
			before, _ = resident(t, c)
		}
		before.Checkpointer = pictures
		if _, err := alone(t, before).Run(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		l := alone(t, after)
		at := slices.IndexFunc(pictures.snapshots, func(m train.Snapshot) bool { return m.Step == 5 })
		pictures.restore(t, l, at)
		done, err := l.Run(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if done.ParameterSHA256 != whole.ParameterSHA256 {
			t.Errorf("from the host %v: parameters %s, without a stop %s", fromHost, done.ParameterSHA256,
				whole.ParameterSHA256)
		}
	}
}

// warden notes whether the state that is saved when a run ends is finite.
type warden struct{ saved, broken int }

func (k *warden) Save(m train.Snapshot, isLast bool) (bool, error) {
	if !isLast {
		return false, nil
	}
	k.saved++
	for _, x := range m.Variables.State {
		if x != x {
			k.broken++
			return true, m.Settle()
		}
	}
	return true, m.Settle()
}

// A run that diverges in the step in which it is cancelled saves nothing of that step, wherever its weights
// lie. On the host it drops that step and saves the one before; an executor of its own makes the step.
func TestResidentTrainingSavesNoHalfStep(t *testing.T) {
	skipShort(t)
	for forwards := 4; forwards < 24; forwards += 2 {
		var found []warden
		for _, isResident := range []bool{false, true} {
			c := example(t, "resnet20", 75, 20)
			c.Steps, c.Optimizer.LR, c.Optimizer.Momentum = 8, 1e6, 0.99
			if isResident {
				c, _ = resident(t, c)
			}
			ctx, cancel := context.WithCancel(context.Background())
			n, k := 0, &warden{}
			c.Watch = func(p trace.Phase) {
				if n++; p == trace.Forward && n > forwards {
					cancel()
				}
			}
			c.Checkpointer = k
			_, err := alone(t, c).Run(ctx, nil)
			cancel()
			if err == nil {
				t.Fatalf("%d: a run that was cancelled has no error", forwards)
			}
			found = append(found, *k)
		}
		if found[0].broken > 0 || found[1].broken > 0 || found[1].saved > found[0].saved {
			t.Errorf("cancelled in pass %d: on the host %+v, apart %+v", forwards, found[0], found[1])
		}
	}
}
