package roofline

import (
	"context"
	"runtime"
	"time"

	"lockstep/app/evidence/compare"
	"lockstep/app/host"
	"lockstep/compute"
	"lockstep/graph"
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

// complete measures, and adds what it was measured of and what others took of the cores.
func (r *run) complete(measure func() error) error {
	k, c := &r.kernels, r.config
	k.Kind, k.Model, k.Batch, k.Repeats = compare.KernelsKind, c.Model, c.Batch, c.Repeats
	if !c.ReadsTexts() {
		k.Size = c.Size
	}
	k.Go, k.Load, k.Started = runtime.Version(), host.Load(), time.Now()
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

// seconds returns d, of at least a nanosecond: some clocks are coarse.
func seconds(d time.Duration) float64 { return max(d, 1).Seconds() }
