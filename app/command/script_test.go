package command

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/app/job/worker"
	"lockstep/cluster"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata/script")

// clockAhead names the variable that lets the clock of a process be ahead of that of the machine.
const clockAhead = "TEST_CLOCK_AHEAD"

func main() {
	e := cluster.ProcessEnvironment()
	ahead, _ := time.ParseDuration(e[clockAhead]) // mostly none
	a := &app{stdout: os.Stdout, stderr: stderrOf(e), environment: e,
		between: disturbing(e), clock: func() time.Time { return time.Now().Add(ahead) }}
	os.Exit(a.run(os.Args[1:]))
}

// disturbing returns what a test lets workers do that the tool does not, or nil.
func disturbing(e cluster.Environment) worker.Between {
	for _, b := range []worker.Between{planting(e), latecoming(e)} {
		if b != nil {
			return b
		}
	}
	return straying(e)
}

// TestMain lets the test binary act as the tool, and as what the tool starts. Only go test runs the tests:
// its arguments begin with a dash.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		main()
	}
	testscript.Main(m, map[string]func(){"lockstep": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"occupy":   occupy,
			"samehash": sameHash,
			"summary":  summaryHas,
			"forge":    forge,
			"cut":      cut,
			"damage":   damage,

			"sameaccuracy": sameAccuracy,
		},
		Condition: condition,
	})
}

// damage FILE changes a byte in the middle of a file.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	text, err := os.ReadFile(path)
	ts.Check(err)
	text[len(text)/2] ^= 0x40
	ts.Check(os.WriteFile(path, text, 0o644))
}

// condition answers [lab]: whether there can be a lab.
func condition(name string) (bool, error) {
	if name != "lab" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return hasLab(), nil
}

// exits CODE COMMAND... runs a command and checks its exit status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var failed *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &failed) {
		got = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// occupy NAME listens on a free port until the script ends and puts its number into $NAME.
func occupy(ts *testscript.TestScript, neg bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv(args[0], strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
}

// samehash DIR DIR... checks that the runs ended with equal parameters; with ! that the second
// ended with others than the first.
func sameHash(ts *testscript.TestScript, neg bool, args []string) {
	first := readSummary(ts, args[0])["parameter_sha256"]
	for _, dir := range args[1:] {
		if same := readSummary(ts, dir)["parameter_sha256"] == first; same == neg {
			ts.Fatalf("%s and %s: equal parameters: %v, want %v", args[0], dir, same, !neg)
		}
	}
}

// cut FROM TO N writes the first N bytes of a file to another.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	text := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text[:n]), 0o644))
}

// sameaccuracy DIR DIR checks that two runs classified as many test samples correctly.
func sameAccuracy(ts *testscript.TestScript, neg bool, args []string) {
	a, b := readSummary(ts, args[0]), readSummary(ts, args[1])
	if a["test_accuracy"] != b["test_accuracy"] || a["test_accuracy"] == nil {
		ts.Fatalf("test accuracy %v and %v", a["test_accuracy"], b["test_accuracy"])
	}
}

// summary DIR KEY... checks that a run's summary has these keys, and that its phases add up to
// its seconds within 2 %.
func summaryHas(ts *testscript.TestScript, neg bool, args []string) {
	s := readSummary(ts, args[0])
	for _, key := range args[1:] {
		if _, ok := s[key]; !ok {
			ts.Fatalf("summary of %s has no %q", args[0], key)
		}
	}
	total := 0.0
	for _, seconds := range s["phases"].(map[string]any) {
		total += seconds.(float64)
	}
	if seconds := s["seconds"].(float64); total < 0.98*seconds || total > 1.02*seconds {
		ts.Fatalf("phases add up to %v s of %v", total, seconds)
	}
}

// forge FILE LENGTH writes a file of that many bytes, all 7: as CIFAR-10 records of class 7 that
// are all right up to the length.
func forge(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	content := make([]byte, n)
	for i := range content {
		content[i] = 7
	}
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o777))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), content, 0o666))
}

func readSummary(ts *testscript.TestScript, dir string) map[string]any {
	var s map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(filepath.Join(dir, "summary.json"))), &s))
	return s
}
