package roofline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
	"lockstep/graph"
	"lockstep/graph/gpu"
	"lockstep/tensor"
)

// GPU says which GPU computes, and how.
type GPU struct {
	// Number is that of the GPU, 0 for the first.
	Number int
	// Math is the name of a gpu.Math.
	Math string
	// Plain leaves out NVIDIA's libraries.
	Plain bool
}

// ErrNoGPU is the error of a GPU that cannot be used.
var ErrNoGPU = errors.New("no GPU")

// Find returns ErrNoGPU unless the GPU can be used.
func (g GPU) Find() error {
	e, err := g.open(false)
	if err == nil {
		e.Close()
	}
	return err
}

// open opens the GPU.
func (g GPU) open(profile bool) (*gpu.Executor, error) {
	e, err := gpu.Open(gpu.Config{Device: g.Number, Math: gpu.Math(g.Math), Plain: g.Plain, Profile: profile})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoGPU, err)
	}
	return e, nil
}

// device is an executor that times what it computes, as *gpu.Executor is in a binary for GPUs. Seconds are
// those of the GPU.
type device interface {
	graph.Executor
	Info() gpu.Info
	Err() error
	Close()
	Wait()
	// Elapsed returns the seconds that what f queues takes, Timed those before the first op of a program that
	// f runs, and those of each op.
	Elapsed(f func()) float64
	Timed(f func()) (before float64, ops []float64)
	// MeasureCopy and MeasureProduct return bytes and floating-point operations per second.
	MeasureCopy(bytes int) float64
	MeasureProduct(n int) float64
	SGD(weights, velocity, gradient graph.Span, rate, momentum, decay, scale float32, nesterov bool)
}

// gpuRun is the state of a measurement on a GPU.
type gpuRun struct {
	run
	device device
}

// runGPU is Run on a GPU.
func runGPU(ctx context.Context, c Config, label compare.Kernels, progress func(Progress)) (
	*compare.Kernels, error) {
	opened, err := c.GPU.open(true)
	if err != nil {
		return nil, err
	}
	d, ok := any(opened).(device)
	if !ok {
		return nil, fmt.Errorf("%w: it cannot be timed", ErrNoGPU)
	}
	defer d.Close()
	r := &gpuRun{run{ctx: ctx, config: c, kernels: label, progress: progress}, d}
	k, info := &r.kernels, d.Info()
	k.Math = c.GPU.Math
	k.GPU = &record.GPU{Name: info.Name, MemoryBytes: info.MemoryBytes, Capability: info.Capability,
		Processors: info.Processors, Driver: info.Driver, Libraries: info.Libraries}
	if err := r.complete(r.measure); err != nil {
		return nil, err
	}
	return k, nil
}

// The sizes of the copy and of the product that show the limits of a GPU, and those without NVIDIA's
// libraries, which are for emulated GPUs.
const (
	copyBytes                        = 1 << 30
	smallCopyBytes, smallProductRows = 1 << 20, 64
)

// measure measures the limits, then the ops of a step.
func (r *gpuRun) measure() error {
	begun, k := time.Now(), &r.kernels
	if err := r.tell("limits", 0, 1, begun); err != nil {
		return err
	}
	size, rows := copyBytes, gpu.PeakRows
	if r.config.GPU.Plain {
		size, rows = smallCopyBytes, smallProductRows
	}
	k.Bandwidth = []compare.Bandwidth{{Bytes: int64(size), PerSecond: r.device.MeasureCopy(size)}}
	k.PeakSamples = append(k.PeakSamples, r.device.MeasureProduct(rows))
	if err := r.steps(); err != nil {
		return err
	}
	k.PeakSamples = append(k.PeakSamples, r.device.MeasureProduct(rows))
	if err := r.device.Err(); err != nil {
		return fmt.Errorf("roofline: %w", err)
	}
	k.PeakFLOPs = stat.Median(k.PeakSamples)
	for i := range k.Layers {
		k.Rate(&k.Layers[i])
	}
	return nil
}

// gpuStep is a training step with everything in the GPU's memory.
type gpuStep struct {
	device                      device
	program                     *graph.Program
	memory                      []graph.Memory
	weights, velocity, gradient graph.Span
	unused                      []time.Duration
}

// newStep compiles the model.
func (r *gpuRun) newStep() (_ *gpuStep, parameters int, err error) {
	p, network, err := r.config.compile(r.device, true)
	if err != nil {
		return nil, 0, err
	}
	s := &gpuStep{device: r.device, program: p, unused: make([]time.Duration, len(p.Cost()))}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	v := graph.NewVariables(p)
	v.Initialize(1)
	if err := p.Attach(v); err != nil {
		return nil, 0, fmt.Errorf("roofline: %w", err)
	}
	for _, vector := range []*graph.Span{&s.weights, &s.velocity, &s.gradient} {
		m, err := r.device.Allocate(len(v.Weights))
		if err != nil {
			return nil, 0, fmt.Errorf("roofline: %w", err)
		}
		s.memory = append(s.memory, m)
		*vector = graph.Span{Handle: m.Handle, Len: len(v.Weights)}
	}
	r.device.Upload(&graph.Buffer{Device: s.weights}, &graph.Buffer{F: v.Weights})
	r.device.Wait()
	p.Keep(s.weights, s.gradient)
	generate(p, network, r.config.Batch)
	return s, v.Count(), nil
}

func (s *gpuStep) close() {
	s.program.Close()
	for _, m := range s.memory {
		if m.Release != nil {
			m.Release()
		}
	}
}

func (s *gpuStep) update() {
	s.device.SGD(s.weights, s.velocity, s.gradient, rate, 0.9, 0, 1/float32(s.program.Samples()), false)
}

// plain runs steps as training does, which reads the loss of each, and returns how long one takes.
func (s *gpuStep) plain(steps int) time.Duration {
	begin := time.Now()
	for range steps {
		s.program.Forward()
		s.program.Backward(nil)
		s.program.Loss()
		s.update()
	}
	s.device.Wait()
	return time.Since(begin) / time.Duration(steps)
}

// profiled runs a step and returns the seconds of its input, of its ops and of the update.
func (s *gpuStep) profiled() []float64 {
	before, ops := s.device.Timed(func() { s.program.Profile(s.unused) })
	s.program.Loss()
	return append(append([]float64{before}, ops...), s.device.Elapsed(s.update))
}

// A sample of a step is the mean of as many steps as take stepTime, up to mostSteps.
const (
	stepTime  = 20 * time.Millisecond
	mostSteps = 20
)

// steps times every op of a training step. It alternates plain and profiled steps.
func (r *gpuRun) steps() error {
	s, parameters, err := r.newStep()
	if err != nil {
		return err
	}
	defer s.close()
	k := &r.kernels
	input := r.input()
	k.Layers = append([]compare.Timing{input}, timings(s.program.Cost(), parameters)...)
	begun, all, steps := time.Now(), warmSteps+r.config.Repeats, 1
	for i := range all {
		if err := r.tell(r.config.Model, i, all, begun); err != nil {
			return err
		}
		whole := s.plain(steps)
		times := s.profiled()
		if err := r.device.Err(); err != nil {
			return fmt.Errorf("roofline: %w", err)
		}
		if len(times) != len(k.Layers) {
			return fmt.Errorf("roofline: %d ops were timed, want %d", len(times), len(k.Layers))
		}
		steps = int(min(max(stepTime/max(whole, 1), 1), mostSteps))
		if i < warmSteps {
			continue
		}
		k.StepSeconds = append(k.StepSeconds, seconds(whole))
		for j, t := range times {
			k.Layers[j].Seconds = append(k.Layers[j].Seconds, t)
		}
	}
	return r.ctx.Err()
}

// input describes the transfer of the samples to the GPU.
func (r *gpuRun) input() compare.Timing {
	c := r.config
	shape := tensor.Shape{c.Batch, c.Size, c.Size, 3}
	if c.ReadsTexts() {
		shape = tensor.Shape{c.Batch, c.Sequence}
	}
	return compare.Timing{Op: "upload", Kind: "upload", Shape: "> " + axes(shape),
		Bytes: 4 * int64(shape.Elems())}
}
