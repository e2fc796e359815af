//go:build unix

package peer

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/app/record"
	"lockstep/cluster"
)

// hello is the first answer of a PyTorch.
const hello = `echo '{"hello":{"torch":"9.9","python":"3.99"}}'` + "\n"

// python returns an environment that names a program in place of Python, which runs the lines of a shell.
func python(t *testing.T, lines string) cluster.Environment {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+lines), 0o777); err != nil {
		t.Fatal(err)
	}
	return cluster.ProcessEnvironment().With(cluster.Environment{cluster.EnvPython: path})
}

// isGone reports whether no process of a group is left but those that nobody has waited for.
func isGone(group int) bool {
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if _, rest, ok := bytes.Cut(text, []byte(") ")); err == nil && ok {
			var state string
			var parent, of int
			fmt.Sscan(string(rest), &state, &parent, &of)
			if of == group && state != "Z" && state != "X" {
				return false
			}
		}
	}
	return true
}

// awaitGone fails if a process of the group is left after a while: a killed one ends in its own time.
func awaitGone(t *testing.T, group int) {
	t.Helper()
	for begin := time.Now(); !isGone(group); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("a process of group %d is left", group)
		}
	}
}

// What keeps PyTorch from being loaded is the reason of Find's error.
func TestFindSaysWhatIsMissing(t *testing.T) {
	for name, test := range map[string]struct{ lines, want string }{
		"no torch": {`echo '{"done":{"error":"ModuleNotFoundError: No module named torch"}}'` + "\n",
			"No module named torch"},
		"crash":  {"kill -ILL $$\n", "import torch: it ended: signal: illegal instruction"},
		"words":  {"echo No memory, sorry >&2; exit 3\n", "import torch: it ended: No memory, sorry"},
		"silent": {"exit 3\n", "import torch: it ended: exit status 3"},
		"controls": {"printf 'red \\033[31mface\\n' >&2; exit 3\n",
			`import torch: it ended: red \u001b[31mface`},
		"not python": {"echo hello; exit 0\n", "import torch: it ended"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Find(t.Context(), python(t, test.lines), 1)
			if err == nil || !strings.Contains(err.Error(), test.want) ||
				!strings.Contains(err.Error(), cluster.EnvPython) {
				t.Errorf("error %v, want one with %q and %s", err, test.want, cluster.EnvPython)
			}
		})
	}
	_, err := Find(t.Context(), cluster.Environment{cluster.EnvPython: "/nowhere/python"}, 1)
	if err == nil || !strings.Contains(err.Error(), "/nowhere/python: no such file") {
		t.Errorf("error %v, want the path that is missing", err)
	}
}

// A python3 of the current folder is not run, nor is a module of it.
func TestFindRunsNothingOfTheFolder(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	mark := "#!/bin/sh\ntouch " + filepath.Join(folder, "ran") + "\n"
	if err := os.WriteFile("python3", []byte(mark), 0o777); err != nil {
		t.Fatal(err)
	}
	path, unnamed := os.Getenv("PATH"), cluster.Environment{cluster.EnvPython: ""}
	t.Setenv("PATH", ".")
	if _, err := Find(t.Context(), cluster.ProcessEnvironment().With(unnamed), 1); err == nil ||
		!strings.Contains(err.Error(), "relative to current directory") {
		t.Errorf("error %v, want a refusal of a program of the folder", err)
	}
	t.Setenv("PATH", path)
	for _, module := range []string{"torch.py", "json.py", "mmap.py"} {
		text := "open(" + fmt.Sprintf("%q", filepath.Join(folder, "ran")) + ", 'w')\nraise SystemExit(1)\n"
		if err := os.WriteFile(module, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := Find(t.Context(), cluster.ProcessEnvironment().With(unnamed), 1); err == nil {
		p.Close()
	}
	if _, err := os.Stat("ran"); err == nil {
		t.Error("something of the folder was run")
	}
}

// A relative path of Python is that of the current folder, wherever runs write to.
func TestRelativePython(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "#!/bin/sh\n" + hello + "read line; echo '{\"done\":{}}'; read line\n"
	if err := os.WriteFile("mine", []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
	p, err := Find(t.Context(), cluster.ProcessEnvironment().With(cluster.Environment{
		cluster.EnvPython: "./mine"}), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Run(t.Context(), Work{Threads: 1, Out: "runs/a"}); err != nil {
		t.Error(err)
	}
	if _, err := p.Run(t.Context(), Work{Threads: 2, Out: "runs/b"}); err != nil {
		t.Error("other threads:", err)
	}
}

// Nothing is left of a Python that hangs while it loads, when the caller stops waiting.
func TestFindEndsWithItsContext(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	e := python(t, "echo $$ > "+pipe+"\nsleep 1000 & sleep 1000\n")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Find(ctx, e, 1)
		ended <- err
	}()
	text, err := os.ReadFile(pipe)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	var group int
	fmt.Sscan(string(text), &group)
	awaitGone(t, group)
}

// A run fails if Python dies or hangs, in words, and the next one begins anew.
func TestRunOutlivesPython(t *testing.T) {
	marks := t.TempDir()
	e := python(t, `if [ -e `+marks+`/third ]; then
`+hello+`read path; echo noise; echo '{"steps":3}'; echo '{"done":{"peak_rss_bytes":7}}'; read path; exit
fi
if [ -e `+marks+`/second ]; then touch `+marks+`/third; `+hello+`read path; sleep 1000 & sleep 1000; fi
touch `+marks+`/second
`+hello+`read path; echo '{"done":{"error":"worker 0: ValueError: bad"}}'
read path; echo 'killed by a test' >&2; exit 9
`)
	p, err := Find(t.Context(), e, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.Versions.Torch != "9.9" {
		t.Errorf("versions %+v", p.Versions)
	}
	run := func() (*Outcome, error) {
		return p.Run(t.Context(), Work{Threads: 2, Out: filepath.Join(marks, "out")})
	}
	fails := func(want string) {
		t.Helper()
		if _, err := run(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	fails("worker 0: ValueError: bad")
	fails("it ended: killed by a test")
	if s, err := p.server(t.Context(), 2); err != nil {
		t.Fatal(err)
	} else {
		p.Patience = 50 * time.Millisecond
		fails("no progress for 50ms, after 0 steps")
		awaitGone(t, s.command.Process.Pid)
	}
	p.Patience = patience
	if o, err := run(); err != nil || o.PeakRSSBytes != 7 {
		t.Errorf("outcome %+v, error %v", o, err)
	}
}

// Every step of a worker gives the others time; a line without one does not.
func TestPatienceBeginsAnewWithEveryStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answers: make(chan answer)}
		go func() {
			for _, n := range []int64{1, 2, 3, 3, 3} {
				time.Sleep(40 * time.Second)
				s.answers <- answer{Steps: n}
			}
		}()
		begin := time.Now()
		_, err := s.wait(t.Context(), time.Minute)
		if took := time.Since(begin); err == nil || took != 3*time.Minute ||
			!strings.Contains(err.Error(), "after 3 steps") {
			t.Errorf("error %v after %v, want one a minute after the last step", err, took)
		}
		<-s.answers // the last line
	})
}

// lenet writes weights and one batch for the script.
func lenet(t *testing.T) string {
	t.Helper()
	type tensor struct {
		Type    string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	header, end := map[string]tensor{}, 0
	add := func(name, kind string, size int, shape ...int) {
		begin := end
		for _, n := range shape {
			size *= n
		}
		end += size
		header[name] = tensor{kind, shape, [2]int{begin, end}}
	}
	add("conv1.weight", "F32", 4, 6, 3, 5, 5)
	add("conv1.bias", "F32", 4, 6)
	add("conv2.weight", "F32", 4, 16, 6, 5, 5)
	add("conv2.bias", "F32", 4, 16)
	add("fc1.weight", "F32", 4, 64, 784)
	add("fc1.bias", "F32", 4, 64)
	add("fc2.weight", "F32", 4, 10, 64)
	add("fc2.bias", "F32", 4, 10)
	add("batch.0.images", "F32", 4, 4, 3, 32, 32)
	add("batch.0.labels", "I64", 8, 4)
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	text = append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	path := filepath.Join(t.TempDir(), "zeros.safetensors")
	if err := os.WriteFile(path, append(text, make([]byte, end)...), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// torch returns a PyTorch, or skips.
func torch(t *testing.T) *PyTorch {
	t.Helper()
	if testing.Short() {
		t.Skip("PyTorch takes seconds to load")
	}
	p, err := Find(t.Context(), cluster.ProcessEnvironment(), 1)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(p.Close)
	return p
}

// A worker that is killed ends its run alone, and workers whose Lockstep is killed leave no process.
func TestWorkersOfPyTorchEnd(t *testing.T) {
	p := torch(t)
	w := Work{Model: "lenet", Classes: 10, Strategy: "ddp", Workers: 2, Threads: 1, Steps: 1 << 40,
		Epoch: 1 << 40, Format: "nchw", LR: 0.01, Tensors: lenet(t)}
	group := p.servers[1].command.Process.Pid
	// start begins a run without end, and returns its error once it has ended.
	start := func(ctx context.Context) <-chan error {
		w.Out = t.TempDir()
		ended := make(chan error, 1)
		go func() {
			_, err := p.Run(ctx, w)
			ended <- err
		}()
		for i := 0; len(workers(group)) < 2; i++ {
			if i > 2000 {
				t.Fatalf("no workers: %v", <-ended)
			}
			time.Sleep(5 * time.Millisecond)
		}
		return ended
	}
	ended := start(t.Context())
	syscall.Kill(workers(group)[1], syscall.SIGKILL)
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "ended by signal 9") {
		t.Errorf("error %v of a killed worker", err)
	}
	if left := workers(group); len(left) != 0 {
		t.Errorf("workers %v are left", left)
	}

	w.Model = "vgg11"
	if _, err := p.Run(t.Context(), w); err == nil || !strings.Contains(err.Error(), "RuntimeError: ") {
		t.Errorf("error %v of weights of another network", err)
	}
	w.Model, w.Out, w.Steps, w.Epoch, w.Short = "lenet", t.TempDir(), 3, 2, 2
	if o, err := p.Run(t.Context(), w); err != nil || o.PeakRSSBytes < 1<<20 {
		t.Errorf("outcome %+v, error %v", o, err)
	}
	wantSteps(t, w.Out, "step 0 of epoch 0: 4", "step 1 of epoch 0: 2", "step 2 of epoch 1: 4")

	w.Steps = 1 << 40
	ended = start(t.Context())
	p.servers[1].input.Close() // as the end of this process does
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "it ended") {
		t.Errorf("error %v of a Python without input", err)
	}
	awaitGone(t, group)
}

// wantSteps compares the samples of the steps of rank 0.
func wantSteps(t *testing.T, folder string, want ...string) {
	t.Helper()
	f, err := os.Open(filepath.Join(folder, "steps.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got []string
	for d := json.NewDecoder(f); ; {
		var l record.Step
		if d.Decode(&l) != nil {
			break
		}
		if l.Rank == 0 {
			got = append(got, fmt.Sprintf("step %d of epoch %d: %d", l.Step, l.Epoch, l.Samples))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("steps %v, want %v", got, want)
	}
}

// workers returns the processes whose parent is pid.
func workers(pid int) (found []int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, field := range strings.Fields(string(text)) {
		var child int
		fmt.Sscan(field, &child)
		found = append(found, child)
	}
	return found
}
