package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockstep/checkpoint"
	"lockstep/cluster"
	"lockstep/train"
)

// resumption is the checkpoint that a run goes on from, as the launcher found it: every worker
// reads it by itself and checks that it is the same.
type resumption struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"` // of the manifest
	Kept   kept   `json:"-"`      // grows with the run, so workers read it themselves
}

// readKept returns what a checkpoint's manifest says about the run.
func readKept(c *checkpoint.Checkpoint) (kept, error) {
	k := kept{Config: Default()} // for settings that came later than the checkpoint
	if err := json.Unmarshal(c.Run, &k); err != nil {
		return k, &checkpoint.FormatError{File: c.File(checkpoint.ManifestFile), Offset: -1,
			Reason: fmt.Sprintf("run: %v", err)}
	}
	return k, nil
}

// openNewest returns the newest valid checkpoint of a run directory, after telling note about those
// that are damaged.
func openNewest(d directory, note func(string)) (*resumption, error) {
	c, faults, err := d.store().Newest()
	if err != nil {
		return nil, err
	}
	r := &resumption{Path: c.Path, SHA256: c.SHA256}
	if r.Kept, err = readKept(c); err != nil {
		return nil, err
	}
	for _, fault := range faults {
		note(fmt.Sprintf("damaged checkpoint: %v; going back to %s", fault, c.Path))
	}
	return r, nil
}

// resume puts the moment that the run goes on from into the loop.
func (w *worker) resume(l *train.Loop) (err error) {
	from := w.task.start.Resumed
	c, err := checkpoint.OpenCheckpoint(from.Path)
	if err != nil {
		return err
	}
	refuse := func(format string, args ...any) error {
		return &checkpoint.FormatError{File: c.Path, Offset: -1, Reason: fmt.Sprintf(format, args...)}
	}
	k, err := readKept(c)
	if err != nil {
		return err
	}
	test := 0
	if w.task.test != nil {
		test = w.task.test.Len()
	}
	switch {
	case c.SHA256 != from.SHA256:
		return refuse("not the checkpoint that the run was started with")
	case w.task.train.Len() != k.TrainSamples || test != k.TestSamples:
		return refuse("the run has %d training and %d test samples, the data %d and %d",
			k.TrainSamples, k.TestSamples, w.task.train.Len(), test)
	case k.Data != DataHash{} && k.Data != w.task.hashes:
		return refuse("the data has changed: training and test samples have %v, those of the run %v",
			w.task.hashes, k.Data)
	}
	if err := restore(l.Moment(), c); err != nil {
		return err
	}
	if w.peers != nil {
		if err := w.peers.restore(c, k.Config, l.Variables()); err != nil {
			return err
		}
	}
	if got := l.Variables().SHA256(); got != k.ParameterSHA256 {
		return refuse("parameters hash to %s, want %s", got, k.ParameterSHA256)
	}
	if err := l.Resume(k.Progress); err != nil {
		return refuse("%v", err)
	}
	w.before, w.evaluations = k, k.Evaluations
	if k.Weights != nil {
		w.started = k.Weights
		w.started.batches = k.Batches
	}
	if w.saver != nil {
		w.saver.last = k.Progress.Step
	}
	w.note("going on from %s, after %s", c.Path, count(k.Progress.Step, "step"))
	return nil
}

// restore fills a moment's memory from a checkpoint's files.
func restore(m train.Moment, c *checkpoint.Checkpoint) error {
	err := withFile(c.File(checkpoint.WeightsFile), func(r *checkpoint.Reader) error {
		_, err := checkpoint.Load(r, m.Variables, checkpoint.LoadOptions{})
		return err
	})
	if err != nil {
		return err
	}
	sharded := whole(m)
	err = withFile(c.File(checkpoint.OptimizerFile), func(r *checkpoint.Reader) error {
		return keptOf(m, sharded).Load(r, m.Variables)
	})
	for i, v := range m.Sharded {
		at := 0
		for _, share := range m.Shares {
			at += copy(v.Data[at:], sharded[i].Data[share[0]:share[1]])
		}
	}
	return err
}

// withFile opens a safetensors file while use runs.
func withFile(path string, use func(*checkpoint.Reader) error) error {
	r, err := checkpoint.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(use(r), r.Close())
}

// Resumed says what a resumed run had done before. Steps, epochs, samples, evaluations and the
// first loss of its summary are those of the whole run; times, bytes, memory and ranks are those
// of the last part.
type Resumed struct {
	From    string  `json:"from"` // path of the checkpoint
	Steps   int     `json:"steps"`
	Samples int64   `json:"samples"`
	Seconds float64 `json:"seconds"`
}

// summary tells what was done before; nil without a resumption.
func (r *resumption) summary() *Resumed {
	if r == nil {
		return nil
	}
	return &Resumed{From: r.Path, Steps: r.Kept.Progress.Step, Samples: r.Kept.Progress.Samples,
		Seconds: r.Kept.Seconds}
}

// beginning is what a run starts from; without either, from fresh values.
type beginning struct {
	Weights *weights    `json:"weights"`
	Resumed *resumption `json:"resumed"`
}

// open finds and checks what the run starts from.
func (c Config) open(note func(string)) (b beginning, err error) {
	path := c.Weights
	if c.Resume != "" {
		if b.Resumed, err = openNewest(directory(c.Resume), note); err != nil {
			return b, err
		}
		if err = c.checkLength(b.Resumed.Kept); err != nil {
			return b, err
		}
		if err = c.checkMemory(b.Resumed.Kept.Config); err != nil {
			return b, err
		}
		path = b.Resumed.Path // its images are normalised as they were
	}
	if path != "" {
		b.Weights, err = openWeights(path)
	}
	return b, err
}

// checkLength refuses a length that the run has already passed.
func (c Config) checkLength(k kept) error {
	if c.For != "" || k.Progress.Step <= c.stepsOf(k) {
		return nil
	}
	return &UsageError{Lines: []string{fmt.Sprintf("--resume: %d steps are done, the run has %d",
		k.Progress.Step, c.stepsOf(k))}}
}

// stepsOf returns the length in steps, if it is no time, with the data of the run that k was kept of.
func (c Config) stepsOf(k kept) int {
	if c.Steps > 0 {
		return c.Steps
	}
	return c.Epochs * c.stepsPerEpoch(k)
}

// stepsPerEpoch returns the number of steps that see every sample of that data once.
func (c Config) stepsPerEpoch(k kept) int {
	return (k.TrainSamples + c.stepBatch() - 1) / c.stepBatch()
}

// checkMemory refuses to forget what workers have held back.
func (c Config) checkMemory(from Config) error {
	if !from.hasMemory() || c.hasMemory() {
		return nil
	}
	return &UsageError{Lines: []string{fmt.Sprintf("--workers: one worker exchanges nothing, and would lose "+
		"the gradients that %d held back with --wire %s; want at least 2", from.Workers, from.Wire)}}
}

// fromResume is the origin of what comes from a checkpoint.
const fromResume = "--resume"

// anew lists the settings that may differ from those of the run that is resumed: none of them
// changes the result, but for the length, for the kernel path, and for those of the exchange with a
// lossy wire.
func anew() []string {
	return []string{"workers", "threads", "strategy", "algorithm", "link", "bucket", "tune-bucket",
		"overlap-forward", "shard-optimizer", "memory", "master-addr", "master-port", "data-dir", "epochs",
		"steps", "for", "until", "checkpoint-every", "save", "isa"}
}

// resume takes the configuration from the run in folder, but for what flags and LOCKSTEP_ISA give anew.
func (r *resolver) resume(folder string, s Source) error {
	from, err := openNewest(directory(folder), func(string) {}) // Run says it
	if err != nil {
		return err
	}
	r.config = from.Kept.Config
	r.config.Out, r.config.Resume = folder, folder
	for _, setting := range r.settings {
		r.origins[setting.Name] = fromResume
	}
	if s.File != "" {
		r.problems = append(r.problems, located{"--config",
			fmt.Errorf("the configuration comes from the run that is resumed")})
	}
	for name := range s.Flags {
		if name != "resume" && !slices.Contains(anew(), name) {
			r.problems = append(r.problems, located{"--" + name, fmt.Errorf(
				"comes from the run that is resumed; only these may be given anew: %s",
				strings.Join(anew(), ", "))})
		}
	}
	slices.SortFunc(r.problems, func(a, b located) int { return strings.Compare(a.where, b.where) })
	if isa := s.Environment[cluster.EnvISA]; isa != "" {
		r.set("isa", isa, cluster.EnvISA)
	}
	r.reopen(s.Flags)
	return nil
}

// reopen leaves open what depends on something given anew.
func (r *resolver) reopen(flags map[string]string) {
	has := func(name string) bool { return flags[name] != "" }
	c := &r.config
	if has("steps") || has("epochs") || has("for") {
		c.Steps, c.Epochs, c.For = 0, 0, ""
		for _, name := range []string{"steps", "epochs", "for"} {
			delete(r.origins, name)
		}
	}
	if !has("workers") {
		return
	}
	c.Threads, c.Link = 0, auto
	delete(r.origins, "threads")
	delete(r.origins, "link")
	if c.Strategy == single {
		c.Strategy = ""
		delete(r.origins, "strategy")
	}
}
