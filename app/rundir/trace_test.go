package rundir_test

import (
	"os"
	"path/filepath"
	"testing"

	"lockstep/app/rundir"
)

// The spans of a run are those of one part: a resumed run sets them aside, a run that has done no step gives
// them back, whatever it has recorded, and one that has ended does not.
func TestSpansAreThoseOfOnePart(t *testing.T) {
	for _, hasSteps := range []bool{false, true} {
		folder := write(t, ended())
		file := filepath.Join(folder, filepath.FromSlash(rundir.SpansFile(1)))
		put := func(d rundir.Directory, text string) {
			f, err := d.CreateSpans(1)
			if err == nil {
				_, err = f.Write([]byte(text))
			}
			if err != nil || f.Close() != nil {
				t.Fatal(err)
			}
		}
		put(rundir.Directory(folder), "first")
		d, err := rundir.Reclaim(folder, 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(file); err == nil {
			t.Error("the spans of the part before are still there")
		}
		put(d.Directory, "second")
		want := "first"
		if hasSteps {
			want = "second"
			f, err := os.OpenFile(d.Path(rundir.StepsFile), os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("{}\n")
			}
			if err != nil || f.Close() != nil {
				t.Fatal(err)
			}
		}
		if err := d.Abandon(false); err != nil {
			t.Fatal(err)
		}
		d.Unlock()
		text, err := os.ReadFile(file)
		if err != nil || string(text) != want {
			t.Errorf("steps done: %v, spans %q, %v; want %q", hasSteps, text, err, want)
		}
		if left, _ := filepath.Glob(filepath.Join(folder, ".*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// A run that ends in its first step leaves nothing, though spans and events have begun; with a step it stays.
func TestAbandonWithoutAStep(t *testing.T) {
	for _, steps := range []string{"", "{}\n"} {
		d, err := rundir.Claim(filepath.Join(t.TempDir(), "run"))
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{rundir.SpansFolder + "/rank0": "x",
			rundir.EventsFolder + "/rank0/events.out": "x", rundir.StepsFile: steps, rundir.HostFile: "{}"} {
			err := os.MkdirAll(filepath.Dir(d.Path(name)), 0o700)
			if err == nil {
				err = os.WriteFile(d.Path(name), []byte(text), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Abandon(false); err != nil {
			t.Error(err)
		}
		d.Unlock()
		if _, err := os.Stat(string(d.Directory)); os.IsNotExist(err) != (steps == "") {
			t.Errorf("steps %q: %v", steps, err)
		}
	}
}
