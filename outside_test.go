package lockstep_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestProgramsOfAnotherModule(t *testing.T) {
	programs := buildOutside(t)
	t.Run("outside", func(t *testing.T) { testOutside(t, filepath.Join(programs, "outside")) })
	t.Run("guides", func(t *testing.T) { testGuides(t, programs) })
}

// testOutside checks that a module of its own has the whole command line for its own network and data.
func testOutside(t *testing.T, program string) {
	dir := t.TempDir()
	hashes := map[string]bool{}
	for name, flags := range map[string][]string{
		"one": {"--workers", "1"}, "two": {"--workers", "2"},
		"tcp": {"--workers", "2", "--link", "tcp", "--strategy", "all-reduce"},
	} {
		out := filepath.Join(dir, name)
		args := append([]string{"train", "--model", "mynet", "--data", "stripes", "--shards", "2",
			"--epochs", "4", "--lr", "0.05", "--quiet", "--out", out}, flags...)
		if text, err := command(program, args...); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, text)
		}
		s := readJSON(t, filepath.Join(out, "summary.json"))
		hashes[s["parameter_sha256"].(string)] = true
		if accuracy := s["test_accuracy"].(float64); accuracy < 0.95 {
			t.Errorf("%s: accuracy %v of stripes", name, accuracy)
		}
	}
	if len(hashes) != 1 {
		t.Errorf("parameters %v, want the same for any number of workers", hashes)
	}
	out := filepath.Join(dir, "bench")
	text, err := command(program, "bench", "--models", "mynet,lenet", "--strategies", "single,ddp",
		"--workers", "1,2", "--steps", "2", "--repeats", "1", "--limit-train", "64", "--limit-test", "0",
		"--quiet", "--out", out)
	if err != nil {
		t.Fatalf("bench: %v\n%s", err, text)
	}
	if _, err := os.Stat(filepath.Join(out, "report.html")); err != nil {
		t.Error(err)
	}
	for want, args := range map[string][]string{
		`did you mean "mynet"?`:   {"train", "--model", "mynat"},
		`did you mean "stripes"?`: {"train", "--data", "strips"},
		"mynet":                   {"__complete", "train", "--model", "myn"},
		"stripes":                 {"data", "list"},
	} {
		if text, _ := command(program, args...); !strings.Contains(text, want) {
			t.Errorf("%v says\n%s\nwant %s", args, text, want)
		}
	}
}

// testGuides checks that the guides of one's own loop and one's own op suffice: their programs are built from
// their text alone. The loop ends with the bits of `lockstep train`, and the op with the same for one worker
// and for two.
func testGuides(t *testing.T, programs string) {
	hashOf := func(program string, flags ...string) string {
		out := filepath.Join(t.TempDir(), "run")
		args := append([]string{"train", "--limit-test", "0", "--quiet", "--out", out}, flags...)
		if text, err := command(filepath.Join(programs, program), args...); err != nil {
			t.Fatalf("%s %v: %v\n%s", program, args, err, text)
		}
		return readJSON(t, filepath.Join(out, "summary.json"))["parameter_sha256"].(string)
	}
	got, err := command(filepath.Join(programs, "own-loop"))
	want := hashOf("outside", "--model", "lenet", "--limit-train", "512", "--steps", "16", "--shards", "4")
	if err != nil || strings.TrimSpace(got) != want {
		t.Errorf("a loop of one's own says %v\n%s\nwant the hash of lockstep train, %s", err, got, want)
	}
	squared := func(workers string) string {
		return hashOf("own-op", "--model", "squared", "--limit-train", "128", "--steps", "3", "--shards", "2",
			"--workers", workers)
	}
	if one, two := squared("1"), squared("2"); one != two {
		t.Errorf("an op of one's own: %s for one worker, %s for two", one, two)
	}
}

// guideProgram returns the Go program in a guide: its indented blocks that are declarations.
func guideProgram(t *testing.T, guide string) string {
	t.Helper()
	var program strings.Builder
	isCode := false
	for _, line := range strings.Split(read(t, filepath.Join("docs", "howto", guide+".md")), "\n") {
		code, isIndented := strings.CutPrefix(line, "    ")
		first, _, _ := strings.Cut(code, " ")
		switch {
		case line == "":
		case !isIndented:
			isCode = false
		case !isCode:
			isCode = slices.Contains([]string{"package", "import", "const", "type", "func", "//"}, first)
		}
		if isCode {
			program.WriteString(code + "\n")
		}
	}
	return program.String()
}

func command(name string, args ...string) (string, error) {
	text, err := exec.Command(name, args...).CombinedOutput()
	return string(text), err
}

func readJSON(t *testing.T, path string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// buildOutside builds testdata/outside and the programs of guides as a module of its own, and returns where
// the programs are. A workspace has that module and this one, so that the packages of this one are those that
// its own tests have compiled, and a vendor folder of links to this module's, so that nothing is downloaded.
func buildOutside(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("links three programs")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to build with: ", err)
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	vendored, err := os.ReadDir(filepath.Join(root, "vendor"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "vendor"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, v := range vendored {
		if v.IsDir() {
			link(t, filepath.Join(root, "vendor", v.Name()), filepath.Join(dir, "vendor", v.Name()))
		}
	}
	write(t, filepath.Join(dir, "go.mod"), "module outside\n\ngo 1.26.0\n")
	write(t, filepath.Join(dir, "go.work"), "go 1.26.0\n\nuse .\nuse "+root+"\n")
	write(t, filepath.Join(dir, "vendor", "modules.txt"), "## workspace\n"+
		read(t, filepath.Join("vendor", "modules.txt")))
	for name, text := range map[string]string{
		"outside":  read(t, filepath.Join("testdata", "outside", "main.go")),
		"own-loop": guideProgram(t, "own-loop"),
		"own-op":   guideProgram(t, "own-op"),
	} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name, "main.go"), text)
	}
	programs := filepath.Join(dir, "bin") + string(filepath.Separator)
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-w", "-mod=vendor", "-o", programs, "./...")
	build.Dir, build.Env = dir, append(os.Environ(), "GOPROXY=off", "GOWORK=", "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return programs
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skip("this file system has no links: ", err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
