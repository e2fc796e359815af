package peer

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/app/host"
	"lockstep/app/record"
	"lockstep/cluster"
)

//go:embed pytorch.py
var script []byte

// Name is what rows of PyTorch are called.
const Name = "pytorch"

// scriptFile is the embedded script in the folder of a run. A name that a module of Python has would hide it.
const scriptFile = "lockstep_pytorch.py"

// Formats are the layouts of images in memory. Which one is faster depends on the network.
func Formats() []string { return []string{"nchw", "channels-last"} }

// Models are the networks that the script can build, by Lockstep's names.
func Models() []string { return []string{"lenet", "resnet20", "resnet50", "resnet56", "vgg11"} }

// Strategies are those that PyTorch has too.
func Strategies() []string { return []string{"single", "gather-scatter", "all-reduce", "ddp", "none"} }

// MissingError says that no Python with PyTorch was found. It names what was tried.
type MissingError struct{ Tried []string }

// Error says how to get one.
func (e *MissingError) Error() string {
	return "no Python with torch: " + strings.Join(e.Tried, "; ") + "; want one as python3, or its path in " +
		cluster.EnvPython + " (python3 -m venv peer && peer/bin/pip install torch numpy)"
}

// PyTorch is a Python that has it.
type PyTorch struct {
	Path    string // of the interpreter
	Version string // of torch
	e       cluster.Environment
}

// Find returns the Python that the environment names, or python3, if it can import torch. Else the error is a
// *MissingError.
func Find(ctx context.Context, e cluster.Environment) (*PyTorch, error) {
	var paths []string
	if named := e[cluster.EnvPython]; named != "" {
		paths = []string{named}
	} else {
		paths = []string{"python3"}
	}
	missing := &MissingError{}
	for _, path := range paths {
		c := exec.CommandContext(ctx, path, "-c", "import torch, torch.distributed as d\n"+
			"assert d.is_available() and d.is_gloo_available(), 'torch without "+
			"Gloo'\nprint(torch.__version__)")
		c.Env = e.Pairs()
		var said bytes.Buffer
		c.Stderr = &said
		out, err := c.Output()
		if err == nil {
			return &PyTorch{Path: path, Version: strings.TrimSpace(string(out)), e: e}, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		why := err.Error()
		if last := lastLine(said.String()); last != "" {
			why = path + ": " + last
		}
		missing.Tried = append(missing.Tried, why)
	}
	return nil, missing
}

// Work is what a run does, as the script reads it.
type Work struct {
	Model       string  `json:"model"`
	Classes     int     `json:"classes"`
	Strategy    string  `json:"strategy"`
	Workers     int     `json:"workers"`
	Threads     int     `json:"threads"` // of each worker
	Steps       int     `json:"steps"`
	Format      string  `json:"format"` // one of Formats
	LR          float64 `json:"lr"`
	Momentum    float64 `json:"momentum"`
	Nesterov    bool    `json:"nesterov"`
	WeightDecay float64 `json:"weight_decay"`
	Tensors     string  `json:"tensors"` // safetensors file of initial weights and batches
	Out         string  `json:"out"`     // folder for steps.jsonl
	Meeting     string  `json:"meeting"` // file by which workers find one another
}

// Settings words how PyTorch is run, for the label of a row.
func (p *PyTorch) Settings(w Work) string {
	return fmt.Sprintf("PyTorch %s, float32, %s, Gloo over the loopback, %d OpenMP threads in each worker, "+
		"oneDNN on, freed memory kept", p.Version, w.Format, w.Threads)
}

// Outcome is what a run left besides steps.jsonl.
type Outcome struct {
	Seconds      float64       // of the whole process, with loading PyTorch
	PeakRSSBytes int64         // of all workers
	Taken        *record.Taken // what others took of the cores meanwhile; nil: unknown
}

// Run trains as w says. Work is done by processes of their own, which end with ctx. An error says what Python
// said last.
func (p *PyTorch) Run(ctx context.Context, w Work) (*Outcome, error) {
	if err := os.MkdirAll(w.Out, 0o777); err != nil {
		return nil, fmt.Errorf("peer: %w", err)
	}
	out, err := filepath.Abs(w.Out)
	if err != nil {
		return nil, fmt.Errorf("peer: %w", err)
	}
	w.Out, w.Meeting = out, filepath.Join(out, "meeting")
	if w.Tensors, err = filepath.Abs(w.Tensors); err != nil {
		return nil, fmt.Errorf("peer: %w", err)
	}
	text, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("peer: %w", err)
	}
	path, spec := filepath.Join(out, scriptFile), filepath.Join(out, "work.json")
	if err := errors.Join(os.WriteFile(path, script, 0o666), os.WriteFile(spec, text, 0o666)); err != nil {
		return nil, fmt.Errorf("peer: %w", err)
	}
	c := exec.CommandContext(ctx, p.Path, "-u", path, spec)
	c.Env = p.e.With(tuned(w.Threads)).Pairs()
	c.Dir = out
	c.WaitDelay = 5 * time.Second
	var told, said bytes.Buffer
	c.Stdout, c.Stderr = &told, &said
	begin, before := time.Now(), host.CoresNow()
	err = c.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("peer: %s: %w: %s", Name, err, lastLine(said.String()))
	}
	after := host.CoresSince(before)
	own := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	return &Outcome{Seconds: time.Since(begin).Seconds(), PeakRSSBytes: peakOf(told.Bytes()),
		Taken: takenOf(after, own.Seconds())}, nil
}

// tuned is what makes PyTorch fast on processors: its defaults return freed memory to the system in each
// step.
func tuned(threads int) cluster.Environment {
	n := strconv.Itoa(threads)
	return cluster.Environment{"OMP_NUM_THREADS": n, "MKL_NUM_THREADS": n, "OPENBLAS_NUM_THREADS": n,
		"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "68719476736", "MALLOC_TOP_PAD_": "67108864",
		"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "GLOO_SOCKET_IFNAME": "lo"}
}

// takenOf returns the share of the cores' time that others took; nil if the system does not tell.
func takenOf(t record.CoreTimes, own float64) *record.Taken {
	if t.All < 1 {
		return nil
	}
	share := func(seconds float64) float64 { return min(max(seconds/t.All, 0), 1) }
	return &record.Taken{Stolen: share(t.Stolen), Others: share(t.Busy - own)}
}

// peakOf returns the memory that the script has told; 0 without.
func peakOf(lines []byte) int64 {
	var told struct {
		Bytes int64 `json:"peak_rss_bytes"`
	}
	for s := bufio.NewScanner(bytes.NewReader(lines)); s.Scan(); {
		if json.Unmarshal(s.Bytes(), &told) == nil && told.Bytes > 0 {
			return told.Bytes
		}
	}
	return 0
}

// lastLine returns the last line that says something.
func lastLine(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool {
		return strings.TrimSpace(l) == ""
	})
	if len(lines) == 0 {
		return ""
	}
	return strings.TrimSpace(lines[len(lines)-1])
}
