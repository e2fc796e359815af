package roofline

import (
	"context"
	"fmt"
	"time"

	"lockstep/app/evidence/compare"
	"lockstep/compute"
	"lockstep/graph"
	"lockstep/internal/kernel/peak"
)

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

func (r *run) measure() error {
	if err := r.limits(); err != nil {
		return err
	}
	return r.model()
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
