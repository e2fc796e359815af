package roofline

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"lockstep/app/evidence/compare"
	"lockstep/app/host"
	"lockstep/compute"
	"lockstep/graph"
	"lockstep/internal/kernel/peak"
	"lockstep/model"
)

// Config is a measurement as values.
type Config struct {
	// Models knows Model, which has 10 classes and reads images of 3 channels, or texts.
	Models   model.Catalog
	Model    string
	Batch    int // samples of a step, 1 to MaxBatch
	Size     int // height and width of images in pixels, at least 1; ignored for texts
	Sequence int // tokens of each text, at least 1; ignored for images
	Threads  int // 1 to 1024
	ISA      compute.ISA
	Math     compute.Math
	GPU      *GPU // what computes in place of the CPU; then Threads, ISA and Math do not matter
	Repeats  int  // samples of every timing, 1 to MaxRepeats
}

// ReadsTexts reports whether the model reads texts, not images.
func (c Config) ReadsTexts() bool { return c.Models.ReadsTexts(c.Model) }

// Progress says how far a measurement is.
type Progress struct {
	Name      string // what is being timed
	Done, All int
	Remaining time.Duration // estimate; 0 while unknown
}

// The bounds of a Config: every raw sample is kept, and activations take memory.
const (
	MaxRepeats = 1000
	MaxBatch   = 1 << 16
)

// Run measures what c says. label holds what the caller knows of the program and the machine and is
// completed. progress, unless nil, is called before each piece of work.
func Run(ctx context.Context, c Config, label compare.Kernels, progress func(Progress)) (
	*compare.Kernels, error) {
	if c.Repeats < 1 || c.Repeats > MaxRepeats {
		return nil, fmt.Errorf("roofline: repeats %d: want 1 to %d", c.Repeats, MaxRepeats)
	}
	if c.Batch < 1 || c.Batch > MaxBatch {
		return nil, fmt.Errorf("roofline: batch %d: want 1 to %d", c.Batch, MaxBatch)
	}
	if c.GPU != nil {
		return runGPU(ctx, c, label, progress)
	}
	cpu, err := compute.Open(compute.Config{ISA: c.ISA, Threads: c.Threads, Math: c.Math})
	if err != nil {
		return nil, fmt.Errorf("roofline: %w", err)
	}
	defer cpu.Close()
	r := &run{ctx: ctx, config: c, cpu: cpu, host: graph.NewHost(cpu), kernels: label, progress: progress}
	k := &r.kernels
	k.Threads, k.ISA, k.Math = c.Threads, c.ISA.String(), c.Math.String()
	if err := r.complete(r.measure); err != nil {
		return nil, err
	}
	return k, nil
}

// complete measures, and adds what it was measured of and what others took of the cores.
func (r *run) complete(measure func() error) error {
	k, c := &r.kernels, r.config
	k.Model, k.Batch, k.Repeats = c.Model, c.Batch, c.Repeats
	if !c.ReadsTexts() {
		k.Size = c.Size
	}
	k.Go, k.Started = runtime.Version(), time.Now()
	cores := host.CoresNow()
	err := measure()
	taken := host.CoresSince(cores)
	k.Taken = taken.TakenBut(taken.Own)
	k.Seconds = time.Since(k.Started).Seconds()
	return err
}

// run is the state of a measurement.
type run struct {
	ctx      context.Context
	config   Config
	cpu      *compute.CPU
	host     *graph.Host
	kernels  compare.Kernels
	progress func(Progress)
}

func (r *run) measure() error {
	if err := r.limits(); err != nil {
		return err
	}
	return r.model()
}

// tell reports that number done of all pieces of the work called name comes next, the first having
// begun at begun; it returns the context's error.
func (r *run) tell(name string, done, all int, begun time.Time) error {
	if r.progress != nil {
		p := Progress{Name: name, Done: done, All: all}
		if done > 0 {
			p.Remaining = time.Since(begun) / time.Duration(done) * time.Duration(all-done)
		}
		r.progress(p)
	}
	return r.ctx.Err()
}

// The working sets of a thread over which bandwidth is measured: each twice the one before, from
// what the nearest cache holds to more than any holds.
const (
	leastWork = 16 << 10
	mostWork  = 256 << 20
)

// limits measures bandwidth; the peak is measured beside the steps.
func (r *run) limits() error {
	begun := time.Now()
	if err := r.tell("bandwidth", 0, 1, begun); err != nil {
		return err
	}
	least := leastWork * r.cpu.Threads()
	memory, err := r.host.Allocate(max(mostWork, least) / 4)
	if err != nil {
		return fmt.Errorf("roofline: %w", err)
	}
	if memory.Release != nil {
		defer memory.Release()
	}
	for bytes := least; bytes <= mostWork && r.ctx.Err() == nil; bytes *= 2 {
		rate := peak.Bandwidth(r.cpu, memory.Floats[:bytes/4])
		r.kernels.Bandwidth = append(r.kernels.Bandwidth,
			compare.Bandwidth{Bytes: int64(bytes), PerSecond: rate})
	}
	return r.ctx.Err()
}

// seconds returns d, of at least a nanosecond: some clocks are coarse.
func seconds(d time.Duration) float64 { return max(d, 1).Seconds() }
