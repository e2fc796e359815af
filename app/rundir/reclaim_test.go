package rundir_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"lockstep/app/rundir"
)

const lines = `{"rank":0,"step":0}` + "\n" + `{"rank":0,"step":1}` + "\n" + `{"rank":0,"step":2}` + "\n"

// ended returns the files of a run of three steps that has ended.
func ended() map[string]string {
	return map[string]string{"config.yaml": "c", "host.json": "h", "summary.json": `{"steps": 3}`,
		"steps.jsonl": lines, "evaluations.jsonl": "e\n", "trace.json": "t"}
}

// write writes files into a new folder.
func write(t *testing.T, files map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// An ended run that is resumed and killed gets its files back, whatever was written, unless a later step was
// saved or it has come to a new end. What was set aside goes then.
func TestRecover(t *testing.T) {
	for _, c := range []struct {
		name         string
		after, saved int // the step that it is resumed after, and that of the newest checkpoint then
		isAsideFull  bool
		hasEnded     bool
		want         string // the summary
	}{
		{name: "killed at once", after: 3, saved: 3, want: `{"steps": 3}`},
		{name: "without room for copies", after: 3, saved: 3, isAsideFull: true, want: `{"steps": 3}`},
		{name: "from an earlier checkpoint", after: 1, saved: 2, want: `{"steps": 3}`},
		{name: "after a later checkpoint", after: 3, saved: 4},
		{name: "after a new end", after: 3, saved: 3, hasEnded: true, want: `{"steps": 4}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := write(t, ended())
			d, err := rundir.Reclaim(folder, c.after, nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.isAsideFull {
				os.Remove(d.Path(".steps.jsonl.before"))
			}
			f, err := os.OpenFile(d.Path("steps.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString(`{"rank":0,"step":3}` + "\n" + `{"rank":0,"st`)
			}
			if err := errors.Join(err, f.Close(), d.Write("config.yaml", []byte("new")),
				d.Write("host.json", nil)); err != nil {
				t.Fatal(err)
			}
			if c.hasEnded {
				d.Write("summary.json", []byte(`{"steps": 4}`))
			}
			d.Unlock() // as the end of the process does
			if err := d.Recover(c.saved); err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(d.Path("summary.json")); string(got) != c.want {
				t.Errorf("summary %q, want %q", got, c.want)
			}
			if c.want == `{"steps": 3}` {
				for name, want := range ended() {
					if got, err := os.ReadFile(d.Path(name)); string(got) != want {
						t.Errorf("%s: %q, %v, want %q", name, got, err, want)
					}
				}
			}
			if left, _ := filepath.Glob(d.Path(".*")); left != nil {
				t.Errorf("%v are left", left)
			}
		})
	}
}

// At every moment of a resumption, what the ended run had is there or can be recovered.
func TestNothingIsRemovedBeforeItsSuccessor(t *testing.T) {
	names := []string{".config.yaml.before", ".host.json.before", ".steps.jsonl.before"}
	for kept := range len(names) + 1 { // killed after so many copies
		files := ended()
		for _, name := range names[:kept] {
			files[name] = "half"
		}
		folder := write(t, files)
		if err := rundir.Directory(folder).Recover(3); err != nil {
			t.Fatal(err)
		}
		d, err := rundir.Reclaim(folder, 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Abandon(false); err != nil {
			t.Fatal(err)
		}
		d.Unlock()
		for name, want := range ended() {
			if got, _ := os.ReadFile(d.Path(name)); string(got) != want {
				t.Errorf("%d copies: %s: %q, want %q", kept, name, got, want)
			}
		}
	}
}

// An ended run that is resumed from an earlier step, and makes none, stays as it was, with all lines that its
// summary is of. One that makes a step loses what was done again.
func TestReclaimOfAnEndedRun(t *testing.T) {
	files := ended()
	for _, hasStep := range []bool{false, true} {
		folder := write(t, files)
		d, err := rundir.Reclaim(folder, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(d.Path("steps.jsonl"))
		if err != nil || string(text) != lines[:len(lines)/3] {
			t.Errorf("%v, %q", err, text)
		}
		if hasStep {
			err = os.WriteFile(d.Path("steps.jsonl"), append(text, text...), 0o644)
		}
		if err != nil || d.IsAsItWas() == hasStep {
			t.Errorf("%v, as it was: %t", err, d.IsAsItWas())
		}
		if err := d.Abandon(false); err != nil {
			t.Fatal(err)
		}
		d.Unlock()
		left, err := os.ReadDir(folder)
		if want := map[bool]int{false: len(files), true: 3}[hasStep]; err != nil || len(left) != want {
			t.Errorf("%v, %d files, want %d: %v", err, len(left), want, left)
		}
		for name, want := range files {
			if got, _ := os.ReadFile(filepath.Join(folder, name)); !hasStep && string(got) != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
}
