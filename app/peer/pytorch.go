package peer

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lockstep/app/host"
	"lockstep/app/record"
	"lockstep/app/strategy"
	"lockstep/cluster"
	"lockstep/gradsync"
	"lockstep/internal/spelling"
)

//go:embed pytorch.py
var script string

// Name is what rows of PyTorch are called.
const Name = "pytorch"

// Formats are the layouts in memory in which the script can train a network. Which one of images is faster
// depends on the network. Texts have one, which has no name.
func Formats(model string) []string {
	if readsTexts(model) {
		return []string{""}
	}
	return []string{"nchw", "channels-last"}
}

// Models are the networks that the script can build, by Lockstep's names.
func Models() []string {
	return []string{"bert-base", "bert-medium", "bert-mini", "bert-small", "bert-tiny", "lenet", "resnet20",
		"resnet50", "resnet56", "vgg11"}
}

func readsTexts(model string) bool { return strings.HasPrefix(model, "bert-") }

// Strategies are those that PyTorch has too.
func Strategies() []string { return append(gradsync.Names(), strategy.Single, strategy.None) }

// Versions describes a PyTorch, as it does itself.
type Versions struct {
	Torch  string `json:"torch"`
	Python string `json:"python"`
	CPU    string `json:"cpu"` // instruction set that its own kernels use
}

// PyTorch is a Python that has it.
type PyTorch struct {
	Path     string // of the interpreter
	Versions Versions
	// Patience is how long no worker may make a step, and how long loading may take.
	Patience time.Duration

	environment cluster.Environment
	servers     map[int]*server // by threads
}

// patience is longer than a step of any network on a few cores.
const patience = 5 * time.Minute

// Find starts the Python that the environment names, or python3, with that many threads. If it cannot import
// torch, the error says how to get one that can. Close ends it.
func Find(ctx context.Context, e cluster.Environment, threads int) (*PyTorch, error) {
	path, err := exec.LookPath(cmp.Or(e[cluster.EnvPython], "python3"))
	p := &PyTorch{Path: path, Patience: patience, environment: e, servers: map[int]*server{}}
	if err == nil {
		_, err = p.server(ctx, threads)
	}
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("no Python with torch: %w; want one as python3, or its path in %s "+
			"(python3 -m venv peer && peer/bin/pip install torch numpy)", err, cluster.EnvPython)
	}
	return p, err
}

// Close ends all processes.
func (p *PyTorch) Close() {
	for threads, s := range p.servers {
		s.end()
		delete(p.servers, threads)
	}
}

// server returns the Python whose workers have that many threads. It starts it if there is none.
func (p *PyTorch) server(ctx context.Context, threads int) (*server, error) {
	if s := p.servers[threads]; s != nil {
		return s, nil
	}
	s, err := startServer(p.Path, p.environment.With(tuned(threads)))
	if err != nil {
		return nil, err
	}
	a, err := s.wait(ctx, p.Patience)
	switch {
	case a.Hello != nil:
		p.Versions, p.servers[threads] = *a.Hello, s
		return s, nil
	case a.Done != nil:
		s.end()
		err = errors.New(spelling.Plain(a.Done.Error))
	default:
		err = fmt.Errorf("%w: %s", err, s.end())
	}
	return nil, cmp.Or(ctx.Err(), fmt.Errorf("%s: import torch: %w", p.Path, err))
}

// Work is what a run does, as the script reads it.
type Work struct {
	Model       string  `json:"model"`
	Classes     int     `json:"classes"`
	Strategy    string  `json:"strategy"`
	Workers     int     `json:"workers"`
	Threads     int     `json:"threads"` // of each worker
	Steps       int     `json:"steps"`
	Epoch       int     `json:"epoch"`   // steps of an epoch
	Short       int     `json:"short"`   // samples of its last batch, if the batches lack it; 0: they do not
	Format      string  `json:"format"`  // one of Formats
	Dropout     float64 `json:"dropout"` // of a network of texts
	LR          float64 `json:"lr"`
	Momentum    float64 `json:"momentum"`
	Nesterov    bool    `json:"nesterov"`
	WeightDecay float64 `json:"weight_decay"`
	Tensors     string  `json:"tensors"` // safetensors file of initial weights and batches
	Out         string  `json:"out"`     // folder for steps.jsonl
	Meeting     string  `json:"meeting"` // file by which workers find one another
}

// Settings words how PyTorch is run.
func (p *PyTorch) Settings(w Work) string {
	layout := "images as " + w.Format
	if readsTexts(w.Model) {
		layout = fmt.Sprintf("fused attention, dropout %v when timed and none when compared, a mask only "+
			"where a batch has padding", w.Dropout)
	}
	return strings.Join([]string{"PyTorch " + p.Versions.Torch, "Python " + p.Versions.Python, "float32",
		layout, "its own kernels " + p.Versions.CPU, "eager", "threads and cores of workers as here",
		"freed memory kept, large pages, denormals kept", "workers are processes over Gloo on the loopback",
		"ddp with buckets of 25 MiB (the first 1 MiB) that are the gradients, buffers not broadcast",
		"gather-scatter and all-reduce by parameter, as here",
		"batches in memory before the first step"}, ", ")
}

// Outcome is what a run left besides steps.jsonl.
type Outcome struct {
	PeakRSSBytes int64         // of all workers
	Taken        *record.Taken // what others took of the cores meanwhile; nil: unknown
}

// Run trains as w says. An error says what Python said last; the next Run begins anew. The error is the
// context's if that has ended.
func (p *PyTorch) Run(ctx context.Context, w Work) (*Outcome, error) {
	spec, err := w.save()
	if err != nil {
		return nil, fmt.Errorf("peer: %w", err)
	}
	s, err := p.server(ctx, w.Threads)
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	before := host.CoresNow()
	var a answer
	if _, err = io.WriteString(s.input, spec+"\n"); err == nil {
		a, err = s.wait(ctx, p.Patience)
	}
	if a.Done == nil { // it is of no use any more
		delete(p.servers, w.Threads)
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("peer: %s: %w: %s", p.Path, err, s.end()))
	}
	if a.Done.Error != "" {
		return nil, fmt.Errorf("peer: %s: %s", p.Path, spelling.Plain(a.Done.Error))
	}
	return &Outcome{PeakRSSBytes: a.Done.PeakRSSBytes,
		Taken: host.CoresSince(before).TakenBut(a.Done.CPUSeconds)}, nil
}

// save makes the folder of w, writes into it what the script reads, and returns the path of that.
func (w Work) save() (path string, err error) {
	if w.Out, err = filepath.Abs(w.Out); err != nil {
		return "", err
	}
	if w.Tensors, err = filepath.Abs(w.Tensors); err != nil {
		return "", err
	}
	w.Meeting = filepath.Join(w.Out, "meeting")
	if strings.ContainsAny(w.Out, "\r\n") {
		return "", fmt.Errorf("folder %q: want a path of one line", w.Out)
	}
	text, err := json.Marshal(w)
	if err != nil {
		return "", err
	}
	path = filepath.Join(w.Out, "work.json")
	if err := os.MkdirAll(w.Out, 0o777); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, text, 0o666)
}

// tuned is what makes PyTorch fast on processors: its defaults return freed memory to the system in each
// step.
func tuned(threads int) cluster.Environment {
	n := strconv.Itoa(threads)
	return cluster.Environment{"OMP_NUM_THREADS": n, "MKL_NUM_THREADS": n, "OPENBLAS_NUM_THREADS": n,
		"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "68719476736", "MALLOC_TOP_PAD_": "67108864",
		"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "GLOO_SOCKET_IFNAME": "lo"}
}
