package command

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/setting"
	"lockstep/app/transfer"
	"lockstep/cluster"
)

// A command line says which data sets it will need, and is not run for that.
func TestDataThatACommandNeeds(t *testing.T) {
	t.Chdir(t.TempDir())
	config := "data: svhn\n"
	if err := os.WriteFile("run.yaml", []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		line string
		want string // names, or an error
	}{
		{"train", "glyphs"},
		{"train --model vgg11 --data cifar10 --workers 4", "cifar10"},
		{"train --config run.yaml", "svhn"},
		{"train --config run.yaml --data mnist", "mnist"},
		{"bench --quick", "glyphs glyphs"},
		{"bench --data mnist --workers 1,2", "mnist"},
		{"bench --data mnist,svhn --models lenet,vgg11 --workers 1", "mnist svhn"},
		{"recipe run lenet-mnist --data mnist", "mnist"},
		{"commbench --link tcp", ""},
		{"version", ""},
		{"data download cifar10", ""},
		{"checkpoint verify nothing", ""},
		{"train --help", ""},
		{"nonsense", ""},
		{"train --data cifar11", "error: --data: "},
		{"train --epochs x", "error: --epochs: "},
	} {
		a := &app{stdout: io.Discard, stderr: io.Discard, environment: cluster.Environment{}}
		configs, err := a.configsOf(t.Context(), strings.Fields(test.line))
		var names []string
		for _, c := range configs {
			names = append(names, c.Data)
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", test.line, got, test.want)
		}
	}
	if entries, _ := os.ReadDir("."); len(entries) != 1 {
		t.Errorf("%d files in the folder, want run.yaml alone", len(entries))
	}
}

func TestFilesThatACommandNeeds(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"mnist/train-images-idx3-ubyte", "mnist/train-labels-idx1-ubyte",
		"mnist/t10k-images-idx3-ubyte", "mnist/t10k-labels-idx1-ubyte"} {
		path := filepath.Join(folder, name)
		if os.MkdirAll(filepath.Dir(path), 0o777) != nil || os.WriteFile(path, []byte(name), 0o666) != nil {
			t.Fatal("cannot prepare the folder")
		}
	}
	for line, want := range map[string]int{"train": 0, "train --data mnist": 4,
		"bench --data mnist,glyphs": 4} {
		a := &app{stdout: io.Discard, stderr: io.Discard,
			environment: cluster.Environment{cluster.EnvData: folder}}
		configs, err := a.configsOf(t.Context(), strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		files, err := a.dataFiles(t.Context(), configs, func(launcher.Progress) {})
		if err != nil || len(files) != want || want > 0 && !slices.ContainsFunc(files,
			func(f transfer.File) bool {
				return f.Name == "mnist/train-images-idx3-ubyte" && strings.HasPrefix(f.Path, folder)
			}) {
			t.Errorf("%s: %+v, %v", line, files, err)
		}
	}
	missing := &app{stdout: io.Discard, stderr: io.Discard, environment: cluster.Environment{}}
	line := []string{"train", "--data", "mnist", "--data-dir", filepath.Join(folder, "none")}
	configs, err := missing.configsOf(context.Background(), line)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := missing.dataFiles(t.Context(), configs, nil); job.ExitCode(err) != job.ExitData {
		t.Errorf("%v", err)
	}
}

// The preflight of a benchmark over numbers of hosts predicts the exchange of the model that it trains.
func TestModelOfAPreflight(t *testing.T) {
	f := launchFlags{launching: launching{roster: []cluster.RosterHost{
		{Name: "a", Address: "127.0.0.1", Slots: 2}, {Name: "b", Address: "127.0.0.1", Slots: 2}}}}
	a := &app{stdout: io.Discard, stderr: io.Discard, environment: cluster.Environment{}}
	for line, want := range map[string]string{
		"bench --hosts 1,2 --per-host 1,2 --models resnet20": "resnet20",
		"train --model lenet":                                "lenet",
		"commbench":                                          "",
	} {
		if got := f.seenBy(a).preflightConfig(t.Context(), strings.Fields(line)).Model; got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// A run that goes on on hosts may be in a folder that its own configuration names, and that is not empty. A
// folder for new results must be empty, and belongs to one command until it has them.
func TestFolderOfResults(t *testing.T) {
	t.Chdir(t.TempDir())
	if os.Mkdir("mine", 0o777) != nil || os.WriteFile("mine/config.yaml", nil, 0o666) != nil {
		t.Fatal("cannot prepare the folder")
	}
	a := &app{stdout: io.Discard, stderr: io.Discard, environment: cluster.Environment{}}
	reserve := func(line string) (*freight, error) {
		known, err := a.parsed(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		f, err := load(known, []setting.Config{{Data: "glyphs"}}, true)
		if err != nil {
			t.Fatal(err)
		}
		f.direct("lenet")
		return f, f.reserve()
	}
	for line, name := range map[string]string{"train --resume mine": "mine", "train --out mine": "",
		"train --out new/run": "new/run", "train": "runs/", "bench": "runs/"} {
		first, err := reserve(line)
		if (err != nil) != (name == "") {
			t.Errorf("%s: %v", line, err)
		}
		if err != nil {
			continue
		}
		if !strings.HasPrefix(first.directory, name) || first.fetch != first.directory {
			t.Errorf("%s: directory %q, fetched %q", line, first.directory, first.fetch)
		}
		second, err := reserve(line)
		if isOwn := second.directory != first.directory; (err == nil) != isOwn {
			t.Errorf("%s: at the same time: %v", line, err)
		}
		if second.release != nil {
			second.release()
		}
		first.release()
	}
	for _, name := range []string{"new", "runs"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is left, without results", name)
		}
	}
}
