package gradsync_test

import (
	"slices"
	"testing"

	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/gradsync"
)

// Every wire has a name that ParseWire accepts and says whether it is exact: whether its sums have
// the bits of one worker.
func TestWires(t *testing.T) {
	var names, exact, residuals []string
	for _, w := range gradsync.Wires() {
		if got, err := gradsync.ParseWire(w.String()); err != nil || got.String() != w.String() {
			t.Errorf("%s is parsed as %s, %v", w, got, err)
		}
		names = append(names, w.String())
		if !w.IsLossy() && !w.IsAuto() {
			exact = append(exact, w.String())
		}
		if w.HasResiduals() {
			residuals = append(residuals, w.String())
		}
	}
	all := []string{"fp32", "bf16", "int8", "deflate", "zstd", "top-k", "powersgd-1", "powersgd-2",
		"powersgd-4", "auto"}
	if !slices.Equal(names, all) || !slices.Equal(exact, []string{"fp32", "deflate", "zstd"}) ||
		!slices.Equal(residuals, all[5:9]) {
		t.Errorf("wires %v, exact %v, with residuals %v", names, exact, residuals)
	}
	if w, err := gradsync.ParseWire("fp16"); err == nil {
		t.Errorf("fp16 is %v", w)
	}
	if w := (gradsync.Wire{}); w.String() != "fp32" || w.IsLossy() || w.HasResiduals() || w.Codec() != nil {
		t.Errorf("the zero wire is %v", w)
	}
}

// Before a run every wire that changes the sums is measured, with the same result on all ranks: its
// ratio, its break-even and its speed. Counters and sums are unaffected.
func TestJudge(t *testing.T) {
	const workers, rows, cols = 2, 300, 200
	plan := commtest.Cut(t, workers, workers)
	verdicts := make([]*gradsync.Verdict, workers)
	errs := commtest.Ranks(t, local, plan, comm.Config{}, func(g *comm.Group) (err error) {
		verdicts[g.Rank()], err = gradsync.Judge(gradsync.Config{Group: g, Wire: wire(t, "int8"),
			Segments: []gradsync.Segment{{Len: rows * cols, Rows: rows, Cols: cols},
				{Offset: rows * cols, Len: rows}},
			Order: []int{0, 1}, Pieces: [][]float32{make([]float32, rows*cols+rows)}})
		return err
	})
	for r, err := range errs {
		if err != nil {
			t.Fatalf("rank %d: %v", r, err)
		}
		if got, want := verdicts[r].String(), verdicts[0].String(); got != want {
			t.Errorf("rank %d: %s\nrank 0: %s", r, got, want)
		}
	}
	elems := float64(rows*cols + rows)
	wantRatio := map[string]float64{"bf16": 2, "int8": 4 / (1 + 4./256), "top-k": 400. / 6,
		"powersgd-1": elems / (rows + cols + rows), "powersgd-2": elems / (2*(rows+cols) + rows),
		"powersgd-4": elems / (4*(rows+cols) + rows)}
	for _, trial := range verdicts[0].Trials {
		want := wantRatio[trial.Wire]
		delete(wantRatio, trial.Wire)
		if d := trial.Ratio/want - 1; d < -0.02 || d > 0.02 {
			t.Errorf("%s: ratio %v, want about %v", trial.Wire, trial.Ratio, want)
		}
		if !(trial.BreakEven > 0 && trial.Speed > 0) || trial.IsChosen != (trial.Wire == "int8") ||
			trial.IsPaying != (verdicts[0].Link < trial.BreakEven) {
			t.Errorf("%+v", trial)
		}
	}
	if len(wantRatio) > 0 {
		t.Errorf("not judged: %v", wantRatio)
	}
}
