package setting_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/cluster"

	"github.com/google/go-cmp/cmp"
)

func TestLaterSourcesWin(t *testing.T) {
	file := write(t, "batch: 32\nmodel: \"vgg11\" # comment\nlr: 0.5\nlimit-train: all\ntrace: true\n")
	c, origins, err := setting.Resolve(setting.Source{
		File:        file,
		Environment: cluster.Environment{"LOCKSTEP_TRAIN_LR": "0.25", "LOCKSTEP_ISA": "plain"},
		Flags:       map[string]string{"batch": "128", "workers": "2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Batch != 128 || c.Model != "vgg11" || c.Optimizer.LR != 0.25 || c.ISA != "plain" || !c.Trace {
		t.Errorf("got %+v", c)
	}
	if c.Strategy != "ddp" || c.Shards != 2 || c.Epochs != 1 || c.Link == "auto" {
		t.Errorf("open values were not completed: %+v", c)
	}
	for name, want := range map[string]string{
		"batch": "--batch", "model": file + ":2:1", "lr": "LOCKSTEP_TRAIN_LR",
		"isa": "LOCKSTEP_ISA", "shards": "derived", "momentum": "default",
	} {
		if origins[name] != want {
			t.Errorf("origin of %s is %q, want %q", name, origins[name], want)
		}
	}
}

func TestResolvedConfigurationRepeatsTheRun(t *testing.T) {
	want, origins, err := setting.Resolve(setting.Source{Flags: map[string]string{
		"workers": "3", "batch": "50", "nesterov": "true", "scale-lr": "linear,256",
		"bucket": "256KiB", "limit-train": "1000", "limit-test": "0", "seed": "18446744073709551615",
		"warmup": "0.5", "steps": "7", "data-dir": "/a folder: #1",
	}})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := setting.Resolve(setting.Source{File: write(t, string(want.YAML(origins)))})
	if err != nil {
		t.Fatalf("%v in\n%s", err, want.YAML(origins))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read back differs (-written +read):\n%s", diff)
	}
}

func TestBadValuesAreNamedWithTheirPlace(t *testing.T) {
	tests := []struct {
		name  string
		file  string
		env   cluster.Environment
		flags map[string]string
		want  string
	}{
		{name: "unknown model", flags: map[string]string{"model": "lenett"},
			want: `--model: unknown model "lenett"; did you mean "lenet"? (known: lenet, vgg11, `},
		{name: "unknown data", flags: map[string]string{"data": "glyph"}, want: `did you mean "glyphs"?`},
		{name: "no path", flags: map[string]string{"data": "photos"}, want: "; nor is there such a path"},
		{name: "unknown strategy", flags: map[string]string{"strategy": "dpd"}, want: `did you mean "ddp"?`},
		{name: "unknown algorithm", flags: map[string]string{"algorithm": "rinng"}, want: `"ring"`},
		{name: "unknown schedule", flags: map[string]string{"schedule": "cosin"}, want: `"cosine"`},
		{name: "nothing near", flags: map[string]string{"optimizer": "newton"},
			want: `--optimizer: unknown optimizer "newton" (known: sgd, adamw, lars, lamb, muon, unit-muon)`},
		{name: "decay", flags: map[string]string{"decay": "matrice"}, want: `did you mean "matrices"?`},
		{name: "triangle", flags: map[string]string{"triangle": "0.2,0.3"},
			want: `--triangle: "0.2,0.3" is no`},
		{name: "warm-up of a triangle", flags: map[string]string{"schedule": "triangle", "warmup": "1"},
			want: "--schedule: optim: warm-up of 1 epochs with a triangle"},
		{name: "accumulate", flags: map[string]string{"accumulate": "4000", "shards": "2"},
			want: "--accumulate: 4000 batches in 2 shards make 8000"},
		{name: "groups", flags: map[string]string{"groups": "*.bias"},
			want: `--groups: optim: group "*.bias", want`},
		{name: "average", flags: map[string]string{"ema": "1"}, want: "--ema: 1 is out of range"},
		{name: "lookahead", flags: map[string]string{"lookahead": "5"}, want: `--lookahead: "5" is no`},
		{name: "no time", flags: map[string]string{"for": "30"}, want: `--for: "30" is no time such as 30s`},
		{name: "two lengths", flags: map[string]string{"for": "30s", "steps": "5"},
			want: "--for: the length is given twice, as 30s and by --epochs or --steps"},
		{name: "cosine over a time", flags: map[string]string{"for": "30s", "schedule": "cosine"},
			want: "--for: the schedule cosine wants to know"},
		{name: "lookahead over a time", flags: map[string]string{"for": "30s", "lookahead": "5,0.5,3"},
			want: "--lookahead: 5,0.5,3 wants to know"},
		{name: "no target", flags: map[string]string{"until": "loss=1"},
			want: `--until: "loss=1" is no accuracy`},
		{name: "no accuracy", flags: map[string]string{"until": "accuracy=94"},
			want: `--until: "accuracy=94" is no accuracy above 0 to 1`},
		{name: "nothing to test", flags: map[string]string{"until": "accuracy=0.9", "limit-test": "0"},
			want: "--until: has nothing to evaluate"},
		{name: "target of different replicas", want: "--until: wants replicas that are equal",
			flags: map[string]string{"until": "accuracy=0.9", "strategy": "none", "workers": "2"}},
		{name: "smoothing", flags: map[string]string{"label-smoothing": "1.1"},
			want: "--label-smoothing: 1.1"},
		{name: "no workers", flags: map[string]string{"workers": "0"},
			want: "--workers: 0 is out of range, want 1 to 256"},
		{name: "too many workers", flags: map[string]string{"workers": "10000"},
			want: "--workers: 10000 is out of range, want 1 to 256"},
		{name: "given zero", flags: map[string]string{"epochs": "0"},
			want: `--epochs: "0" is out of range; leave it out for the default`},
		{name: "no number", env: cluster.Environment{"LOCKSTEP_TRAIN_BATCH": "many"},
			want: `LOCKSTEP_TRAIN_BATCH: "many" is no whole number`},
		{name: "unknown variable", env: cluster.Environment{"LOCKSTEP_TRAIN_BACH": "1"},
			want: `LOCKSTEP_TRAIN_BACH: unknown key "bach"; did you mean "batch"?`},
		{name: "batch below shards", flags: map[string]string{"batch": "3", "shards": "4"},
			want: "--batch: 3 is smaller than the number of shards, 4"},
		{name: "shards below workers", flags: map[string]string{"shards": "1", "workers": "2"},
			want: "--shards: 1 shard cannot be spread over 2 workers"},
		{name: "length twice", flags: map[string]string{"steps": "2", "epochs": "1"},
			want: "twice, as 2 steps and as 1 epoch; "},
		{name: "single", flags: map[string]string{"strategy": "single", "workers": "2"}, want: "try ddp"},
		{name: "momentum", flags: map[string]string{"momentum": "1"}, want: "--momentum: 1 is out"},
		{name: "nesterov", flags: map[string]string{"momentum": "0", "nesterov": "true"},
			want: "--optimizer: optim: nesterov needs"},
		{name: "rule", flags: map[string]string{"scale-lr": "square,2"}, want: `--scale-lr: "square,2"`},
		{name: "nan", flags: map[string]string{"lr": "NaN"}, want: "--lr: NaN is out of range"},
		{name: "1 as a float32", flags: map[string]string{"momentum": "0.9999999999"},
			want: "--momentum: 0.9999999999 is out of range, want 0 to below 1"},
		{name: "texts for images", flags: map[string]string{"data": "sst2"},
			want: "--data: sst2 holds texts, but lenet reads images; try a model of texts"},
		{name: "images for texts", flags: map[string]string{"data": "cifar10", "model": "bert-mini"},
			want: "--data: cifar10 is no data of texts, which bert-mini reads; try sst2"},
		{name: "unknown views", flags: map[string]string{"tta": "flips"}, want: `did you mean "flip"?`},
		{name: "views of texts", want: "--tta: flip is a way to show images",
			flags: map[string]string{"data": "sst2", "model": "bert-mini", "tta": "flip"}},
		{name: "size", flags: map[string]string{"bucket": "4Mb"}, want: `--bucket: "4Mb" is no size`},
		{name: "unknown key", file: "model: lenet\nlearning-rate: 1\n",
			want: `:2:1: unknown key "learning-rate"`},
		{name: "near key", file: "bacth: 1\n", want: `did you mean "batch"?`},
		{name: "value in file", file: "model: lenet\nbatch: x\n", want: `:2:1: batch: "x" is no whole`},
		{name: "rule in file", file: "shards: 9\nbatch: 8\n", want: `:2:1: batch: 8 is smaller`},
		{name: "two documents", file: "lr: 1\n---\nbatch: 2\n", want: ": a second document, want one"},
		{name: "key twice", file: "batch: 1\nbatch: 2\n", want: ":2:1: "},
		{name: "nested", file: "batch:\n  size: 1\n", want: ":1:1: batch: want a value, or a list of values"},
		{name: "list for one", file: "batch: [1, 2]\n", want: `:1:1: batch: "1,2" is no whole`},
		{name: "alias", file: "lr: *x\n", want: ":1:1: lr: want a value, or a list of values, without " +
			"anchors"},
		{name: "tag", file: "batch: !!int 3\n", want: ":1:1: batch: want a value, or a list of values, " +
			"without"},
		{name: "merge", file: "<<: {lr: 0.1}\n", want: "<<: want a value"},
		{name: "no mapping", file: "- 1\n", want: "want lines of the form key: value"},
		{name: "syntax", file: "batch: [1\n", want: ":1:8: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := setting.Source{Environment: test.env, Flags: test.flags}
			if test.file != "" {
				s.File = write(t, test.file)
			}
			_, _, err := setting.Resolve(s)
			var e *setting.UsageError
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a UsageError", err)
			}
			if len(e.Lines) != 1 || !strings.Contains(e.Lines[0], test.want) {
				t.Errorf("got %q, want one line with %q", e.Lines, test.want)
			}
		})
	}
}

// A file may use lists.
func TestFormsOfAFile(t *testing.T) {
	for _, text := range []string{
		"schedule: step\nmilestones: 1,2\nlr: 0.1\nweight-decay: 0.1\n",
		"schedule: step\nmilestones: [1, 2]\nlr: 0.1\nweight-decay: 0.1\n",
		"schedule: step\nmilestones:\n  - 1\n  - 2\nlr: 0.1\nweight-decay: '0.1'\n",
	} {
		c, _, err := setting.Resolve(setting.Source{File: write(t, text)})
		milestones, o := c.Schedule.Milestones.String(), c.Optimizer
		if err != nil || milestones != "1,2" || o.LR != 0.1 || o.WeightDecay != 0.1 {
			t.Errorf("%q: milestones %s, optimizer %+v, %v", text, milestones, o, err)
		}
	}
}

// What a file costs to refuse does not grow with the square of its size.
func TestNestedFilesAreRefusedCheaply(t *testing.T) {
	for _, unit := range []string{"[", "{", "- ", "? ", "[a,", "{a: ", "&a "} {
		file := write(t, strings.Repeat(unit, 60_000/len(unit)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := setting.Resolve(setting.Source{File: file})
		runtime.ReadMemStats(&after)
		var usage *setting.UsageError
		if took := after.TotalAlloc - before.TotalAlloc; !errors.As(err, &usage) || took > 64<<20 {
			t.Errorf("%q: %d MiB, %v", unit, took>>20, err)
		}
	}
	_, _, err := setting.Resolve(setting.Source{File: write(t, strings.Repeat("#", 64<<10+1))})
	if err == nil || !strings.Contains(err.Error(), "more than 65536 bytes") {
		t.Errorf("64 KiB: %v", err)
	}
}

func TestEmptyFileIsTheDefault(t *testing.T) {
	for _, text := range []string{"", "# nothing\n"} {
		if _, _, err := setting.Resolve(setting.Source{File: write(t, text)}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The names that a program knows are those of the program, wherever the values come from.
func TestEveryConfigurationHasTheCatalog(t *testing.T) {
	folder := t.TempDir()
	store := checkpoint.NewStore(filepath.Join(folder, "checkpoints"))
	if _, err := store.Commit(1, map[string]any{"config": setting.Default()}, nil); err != nil {
		t.Fatal(err)
	}
	base, known := setting.Default(), &setting.Catalog{}
	for name, s := range map[string]setting.Source{
		"flags": {}, "base": {Base: &base}, "resume": {Flags: map[string]string{"resume": folder}},
	} {
		s.Catalog = known
		if c, _, err := setting.Resolve(s); err != nil || c.Catalog != known {
			t.Errorf("%s: catalog %p, want %p, %v", name, c.Catalog, known, err)
		}
	}
}

func TestDefaultIsValid(t *testing.T) {
	if err := setting.Default().Validate(); err != nil {
		t.Error(err)
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// What stands for a value that is derived has no origin of its own.
func TestOriginOfAuto(t *testing.T) {
	c, origins, err := setting.Resolve(setting.Source{Flags: map[string]string{"strategy": "auto",
		"link": "auto", "workers": "1"}})
	if err != nil || c.Strategy != "single" || origins["strategy"] != "derived" ||
		origins["link"] != "derived" || origins["workers"] != "--workers" {
		t.Errorf("strategy %s: %v, link %s: %v, %v", c.Strategy, origins["strategy"], c.Link,
			origins["link"], err)
	}
}

// Threads that were chosen stay if the number of workers is given anew and is the same; for another number
// they are derived.
func TestTheSameWorkersKeepTheirThreads(t *testing.T) {
	base := setting.Default()
	base.Strategy, base.Workers, base.Threads = "ddp", 2, 1
	for workers, want := range map[string]string{"2": "base", "3": "derived"} {
		_, origins, err := setting.Resolve(setting.Source{Base: &base, BaseName: "base",
			Flags: map[string]string{"workers": workers}})
		if err != nil || origins["threads"] != want {
			t.Errorf("%s workers: threads are from %q, want %q; %v", workers, origins["threads"], want, err)
		}
	}
}

// Data that was moved since a run began may be named anew when it is resumed; its learning rate may not.
func TestDataMayHaveMoved(t *testing.T) {
	folder, c := t.TempDir(), setting.Default()
	c.Data = "/gone/photos"
	store := checkpoint.NewStore(filepath.Join(folder, "checkpoints"))
	if _, err := store.Commit(1, map[string]any{"config": c}, nil); err != nil {
		t.Fatal(err)
	}
	moved := map[string]string{"resume": folder, "data": "./photos"}
	got, _, err := setting.Resolve(setting.Source{Flags: moved})
	if err != nil || got.Data != "./photos" {
		t.Errorf("data %s, %v", got.Data, err)
	}
	_, _, err = setting.Resolve(setting.Source{Flags: map[string]string{"resume": folder, "lr": "1"}})
	if err == nil || !strings.Contains(err.Error(), "--lr: 1, but the run that is resumed has 0.02") {
		t.Errorf("another learning rate: %v", err)
	}
}
