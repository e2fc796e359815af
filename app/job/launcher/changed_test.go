package launcher_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/setting"
	"lockstep/cluster"
)

// A run that was given relative paths can be resumed, and repeated, from another folder.
func TestResumeFromAnotherFolder(t *testing.T) {
	c := texts(t, 5)
	t.Chdir(filepath.Dir(c.Data))
	c.Data, c.Vocab, c.CheckpointEvery = "./set", "vocab.txt", "1"
	run(t, c, launcher.Options{})
	t.Chdir(t.TempDir())
	if _, _, err := resumed(t, c.Out, "epochs", "2"); err != nil {
		t.Error(err)
	}
	again, _, err := setting.Resolve(setting.Source{File: filepath.Join(c.Out, "config.yaml")})
	if err != nil || !filepath.IsAbs(again.Data) || !filepath.IsAbs(again.Vocab) {
		t.Errorf("%v; data %s, vocabulary %s", err, again.Data, again.Vocab)
	}
}

// What makes a resumed run end with other bits is said before it begins.
func TestResumeWarnsOfOtherBits(t *testing.T) {
	skipIfShort(t)
	c := begun(t, 4, func(c *setting.Config) { c.Schedule.Name, c.ISA = "cosine", "plain" })
	s, notes, err := resumed(t, c.Out, "steps", "8", "workers", "2")
	want := "warning: the schedule cosine now has 8 steps, not 4: the learning rate goes from 0.002929 in " +
		"step 4 to 0.01 in step 5\n"
	if err != nil || notes != want {
		t.Fatalf("%v, notes %q, want %q", err, notes, want)
	}
	if !slices.Contains(s.Cautions, strings.TrimSuffix(strings.TrimPrefix(want, "warning: "), "\n")) {
		t.Errorf("cautions %q, want that %s", s.Cautions, want)
	}
	if s, _, err = resumed(t, c.Out, "steps", "9"); err != nil || len(s.Cautions) < 2 {
		t.Errorf("%v, cautions %q of a run that was made longer twice", err, s.Cautions)
	}
}

// Averages at the end of a run are not those of a longer one.
func TestResumeWarnsOfAnotherAverage(t *testing.T) {
	for steps, want := range map[int]string{
		3: "warning: the run had ended with an average after step 3",
		4: "",
	} {
		c := begun(t, steps, func(c *setting.Config) {
			c.Strategy, c.Workers, c.AverageEvery, c.Link = "local-sgd", 2, 2, "local"
		})
		if _, notes, err := resumed(t, c.Out, "steps", "8"); err != nil || !strings.HasPrefix(notes, want) ||
			(want == "") != (notes == "") {
			t.Errorf("after %d steps: %v, notes %q, want %q", steps, err, notes, want)
		}
	}
}

func TestResumeTakesTheKernelPathOfTheEnvironment(t *testing.T) {
	c := begun(t, 4, func(c *setting.Config) { c.Workers, c.Link = 2, "local" })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for want, flags := range map[string]map[string]string{
		"LOCKSTEP_ISA": {"resume": c.Out, "steps": "8"},
		"--isa":        {"resume": c.Out, "steps": "9", "isa": "plain"},
	} {
		env := cluster.ProcessEnvironment().With(cluster.Environment{cluster.EnvISA: "plain"})
		c, origins, err := setting.Resolve(setting.Source{Flags: flags, Environment: env})
		if err != nil {
			t.Fatal(err)
		}
		if c.ISA != "plain" || origins["isa"] != want {
			t.Errorf("kernels %s, by %s, want plain by %s", c.ISA, origins["isa"], want)
		}
		if want == "--isa" {
			continue
		}
		var notes strings.Builder
		s, err := launcher.Run(t.Context(), c,
			launcher.Options{Worker: []string{self}, Environment: env, Stderr: &notes})
		if err != nil || s.ISA != "plain" {
			t.Fatalf("%v, %+v", err, s)
		}
		if strings.Contains(notes.String(), "kernels") {
			t.Errorf("notes %q of kernels, which change no result", notes.String())
		}
	}
}

// A data set in which one sample was replaced is not that of the run, though it has as many.
func TestResumeRefusesAReplacedSample(t *testing.T) {
	c := texts(t, 5)
	c.CheckpointEvery = "1"
	s := run(t, c, launcher.Options{})
	if len(s.DataSHA256.Train) != 64 || len(s.DataSHA256.Validation) != 64 {
		t.Errorf("hashes %+v", s.DataSHA256)
	}
	path := filepath.Join(c.Data, "train.tsv")
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(text), "a a a a\tx", "a a\tx", 1)), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	before := contents(t, c.Out)
	_, _, err = resumed(t, c.Out, "epochs", "2")
	if job.ExitCode(err) != job.ExitData || !strings.Contains(err.Error(), "the data has changed: ") {
		t.Errorf("exit %d: %v", job.ExitCode(err), err)
	}
	if ended := (*job.EndedError)(nil); errors.As(err, &ended) {
		t.Error("the report of the run would be that of a run that ended early")
	}
	after := contents(t, c.Out)
	for _, name := range []string{"config.yaml", "host.json", "summary.json"} {
		path := filepath.Join(c.Out, name)
		if before[path] == "" || after[path] != before[path] {
			t.Errorf("%s: %q, was %q", name, after[path], before[path])
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, were %d", len(after), len(before))
	}
}
