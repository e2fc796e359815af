package launcher

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/input"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/data"
)

// Workers that have loaded other samples end the run, whatever is the same about them.
func TestWorkersAgreeOnTheirSamples(t *testing.T) {
	r := newHeard(setting.Config{Data: "mnist"}, nil, Options{})
	for rank, text := range []string{
		`{"data":{"train":"abc","test":""}}`, `{"data":{"train":"abc","test":""}}`,
		`{"evaluation":{"steps":1}}`, `{"data":{"train":"abd","test":""}}`,
	} {
		err := r.decode(rank, []byte(text))
		if isOther := rank == 3; isOther != (err != nil) {
			t.Errorf("rank %d: %v", rank, err)
		}
		if err == nil {
			continue
		}
		if !strings.HasSuffix(err.Error(), "; every worker needs the same files") {
			t.Errorf("no remedy: %v", err)
		}
		const want = "of rank 3 have sha256 abd, those of rank 0 "
		if job.ExitCode(err) != job.ExitData || !strings.Contains(err.Error(), want) {
			t.Errorf("exit %d: %v", job.ExitCode(err), err)
		}
	}
}

// Workers whose files of the network differ do not begin.
func TestFilesOfTheNetworkMustBeTheSame(t *testing.T) {
	r := newHeard(setting.Config{Model: "net.onnx"}, nil, Options{})
	r.take(0, job.Notice{Data: &record.DataHash{Train: "abc", Model: "11"}})
	if err := r.decode(1, []byte(`{"data":{"train":"abc","model":"11"}}`)); err != nil {
		t.Error(err)
	}
	err := r.decode(2, []byte(`{"data":{"train":"abc","model":"12"}}`))
	const want = "net.onnx: the file of rank 2 has sha256 12, that of rank 0 11; every worker needs"
	if job.ExitCode(err) != job.ExitData || !strings.Contains(err.Error(), want) {
		t.Errorf("exit %d: %v", job.ExitCode(err), err)
	}
}

// Samples that differ are the fault of the program where its own function made them.
func TestOwnSamplesMustBeSeeded(t *testing.T) {
	own, err := data.Catalog{}.With("crosses",
		func(context.Context, data.Options) (train, test *data.Set, err error) { return nil, nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	r := newHeard(setting.Config{Data: "crosses", Catalog: &setting.Catalog{Data: own}}, nil, Options{})
	r.take(0, job.Notice{Data: &record.DataHash{Train: "abc"}})
	err = r.decode(1, []byte(`{"data":{"train":"abd"}}`))
	if err == nil || !strings.HasPrefix(err.Error(), "data: crosses: ") ||
		!strings.HasSuffix(err.Error(),
			"; its function must return the same samples in every worker; is it seeded?") {
		t.Error(err)
	}
}

// A set without test samples is trained on, and nothing that needs them is begun.
func TestNoTestSamples(t *testing.T) {
	training, _, err := data.Load(t.Context(), "glyphs", data.Options{TrainSize: 20, TestSize: 10})
	if err != nil {
		t.Fatal(err)
	}
	own, err := data.Catalog{}.With("untested",
		func(context.Context, data.Options) (train, test *data.Set, err error) { return training, nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	c := setting.Default()
	c.Data, c.Catalog = "untested", &setting.Catalog{Data: own}
	for until, want := range map[float64]string{0: "", 0.9: "--until: data untested has no test samples"} {
		c.Until = until
		loaded, err := input.Load(t.Context(), c, data.Options{}, input.Start{})
		if want == "" && (err != nil || loaded.Test != nil) {
			t.Errorf("test set %v, %v", loaded.Test, err)
		}
		if want != "" && (job.ExitCode(err) != job.ExitUsage || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Where the launcher cannot write what ranks on other hosts send, it says so once for each file of each rank.
func TestPartsThatCannotBeKeptAreToldOnce(t *testing.T) {
	var warnings []string
	r := newHeard(setting.Config{}, nil, Options{Progress: func(p Progress) {
		warnings = append(warnings, p.Note)
	}})
	r.dir = rundir.Directory(t.TempDir())
	if err := os.WriteFile(r.dir.Path("events"), nil, 0o600); err != nil { // in the folder's place
		t.Fatal(err)
	}
	for range 3 {
		for rank := range 2 {
			r.keepPart(rank, job.Part{Name: "events/log", Bytes: []byte("text")})
			r.keepPart(rank, job.Part{Name: rundir.StepsFile, Bytes: []byte("{}\n")})
		}
	}
	if len(warnings) != 2 || len(r.lost) != 2 || r.lost[0].Rank == r.lost[1].Rank {
		t.Errorf("warnings %q, lost %v, want one of each rank", warnings, r.lost)
	}
}

// A worker on another host adds to its own kinds of files in the run directory, and to nothing else.
func TestPartsStayInTheRunDirectory(t *testing.T) {
	above := t.TempDir()
	dir := filepath.Join(above, "run")
	if err := os.MkdirAll(filepath.Join(dir, "events"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(above, filepath.Join(dir, "events", "rank7")); err != nil {
		t.Skip(err)
	}
	r := newHeard(setting.Config{}, nil, Options{})
	r.dir = rundir.Directory(dir)
	for name, want := range map[string]bool{
		"steps.jsonl":                           true,
		"spans/rank1":                           true,
		"events/rank1/events.out.tfevents.1":    true,
		"events/../config.yaml":                 false,
		"events/rank1/../../config.yaml":        false,
		"events/rank1/events.out.tfevents.1/..": false,
		"events/config.yaml":                    false,
		"events/rank7/events.out.tfevents.1":    false, // a link out of the directory
		"./steps.jsonl":                         false,
		"summary.json":                          false,
		"../run/steps.jsonl":                    false,
		"":                                      false,
	} {
		if err := r.keep(job.Part{Name: name, Bytes: []byte("x\n")}); (err == nil) != want {
			t.Errorf("%q: %v, want that it is kept: %v", name, err, want)
		}
	}
	outside, err := filepath.Glob(filepath.Join(above, "*"))
	if err != nil || len(outside) != 1 {
		t.Errorf("written outside: %v, %v", outside, err)
	}
}
