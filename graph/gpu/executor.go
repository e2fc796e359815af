//go:build cuda && linux && amd64

package gpu

import (
	"fmt"

	"lockstep/graph"
	"lockstep/internal/cuda"
	"lockstep/tensor"
)

// Executor computes on one GPU.
type Executor struct {
	config Config
	device *cuda.Device
	queue
	aside   aside
	modules []*cuda.Module
	kernels map[string]*cuda.Kernel
	libraries
	staging  staging
	prefetch prefetch
	arrivals arrivals
	updates  updates
	drops    drops
	profile  profile
	marks    marks
	err      error // the first one
}

// Open opens a GPU. The caller closes the executor when all programs are closed.
func Open(c Config) (*Executor, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	device, err := cuda.Open(c.Device)
	if err != nil {
		return nil, err
	}
	if err := tooOld(device.Name, device.Capability, device.Driver); err != nil {
		device.Close()
		return nil, err
	}
	e := &Executor{config: c, device: device, kernels: map[string]*cuda.Kernel{}}
	e.staging.device = device
	if e.stream, err = device.NewStream(cuda.High); err == nil {
		err = e.openAside()
	}
	if err == nil {
		err = e.loadKernels()
	}
	if err == nil && !c.Plain {
		err = e.openLibraries()
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// The kernels are compiled for GPUs of this compute capability, and to the PTX of this version of CUDA.
const (
	leastCapability = 80
	leastDriver     = 12040
)

// tooOld returns an error for a GPU or a driver that cannot run the kernels.
func tooOld(name string, capability, driver int) error {
	switch {
	case capability < leastCapability:
		return fmt.Errorf("gpu: %s has compute capability %d.%d; want %d.%d or more, as GPUs have since "+
			"Ampere", name, capability/10, capability%10, leastCapability/10, leastCapability%10)
	case driver < leastDriver:
		return fmt.Errorf("gpu: the driver of %s is for CUDA %d.%d; want one for %d.%d or newer, as driver "+
			"550 is", name, driver/1000, driver%1000/10, leastDriver/1000, leastDriver%1000/10)
	}
	return nil
}

// loadKernels loads the PTX of all kernels.
func (e *Executor) loadKernels() error {
	for _, file := range sources {
		code, err := compiled.ReadFile("kernel/" + file + ".ptx")
		if err != nil {
			return err
		}
		m, err := e.device.LoadModule(string(code))
		if err != nil {
			return fmt.Errorf("gpu: kernels of %s: %w", file, err)
		}
		e.modules = append(e.modules, m)
	}
	return nil
}

// kernel returns the kernel of that name. It panics if there is none, which is a fault of this package.
func (e *Executor) kernel(name string) *cuda.Kernel {
	if k := e.kernels[name]; k != nil {
		return k
	}
	for _, m := range e.modules {
		if k, err := m.Kernel(name); err == nil {
			e.kernels[name] = k
			return k
		}
	}
	panic("gpu: no kernel " + name)
}

// Close frees what the executor holds, when all queues are done.
func (e *Executor) Close() {
	for _, s := range []*cuda.Stream{e.stream, e.aside.stream, e.prefetch.stream, e.arrivals.stream} {
		if s != nil {
			e.note(s.Wait())
		}
	}
	e.closeProfile()
	e.closeMarks()
	e.closeLibraries()
	e.prefetch.close(e)
	e.arrivals.close()
	e.drops.close(e)
	e.updates.close(e)
	e.staging.close()
	for _, m := range e.modules {
		m.Close()
	}
	e.closeAside()
	e.queue.close(e)
	e.device.Close()
}

// Err returns the first error of the GPU.
func (e *Executor) Err() error { return e.err }

// note keeps the first error.
func (e *Executor) note(err error) {
	if e.err == nil {
		e.err = err
	}
}

// InPlace implements graph.Executor.
func (e *Executor) InPlace() bool { return false }

// KeepsBF16 reports that maps are kept as bfloat16; see graph.Compile.
func (e *Executor) KeepsBF16() bool { return e.config.Math == BF16 }

// block is memory behind a graph.Memory's handle.
type block struct{ base cuda.Pointer }

// Allocate implements graph.Executor.
func (e *Executor) Allocate(n int) (graph.Memory, error) {
	base, err := e.device.Alloc(4 * max(n, 1))
	if err != nil {
		return graph.Memory{}, fmt.Errorf("gpu: %w; a smaller --batch needs less, and so does a limit with "+
			"--memory", err)
	}
	e.note(e.stream.Fill(base, 0, max(n, 1)))
	return graph.Memory{Handle: &block{base}, Release: func() {
		e.Wait()
		e.device.Free(base)
	}}, nil
}

// at returns where b lies; 0 for nothing.
func at(b *graph.Buffer) cuda.Pointer {
	s := b.Device
	if s.Handle == nil {
		return 0
	}
	return s.Handle.(*block).base + cuda.Pointer(4*s.Offset)
}

// Upload implements graph.Executor.
func (e *Executor) Upload(dst, src *graph.Buffer) {
	if e.err != nil {
		return
	}
	if src.I != nil {
		e.send(at(dst), bytesOf(src.I))
		return
	}
	if !e.prefetch.take(e, at(dst), src.F) {
		e.send(at(dst), bytesOf(src.F))
	}
}

// Download implements graph.Executor.
func (e *Executor) Download(dst, src *graph.Buffer) {
	if e.err != nil {
		return
	}
	e.receive(bytesOf(dst.F), at(src))
}

// Wait blocks until all queued work is done.
func (e *Executor) Wait() {
	e.Rejoin()
	if err := e.stream.Wait(); err != nil {
		e.note(err)
	}
	e.staging.reset()
}

// isHalf reports whether values of the type are stored as bfloat16.
func isHalf(t graph.Type) bool { return t.DType == tensor.BFloat16 }

// suffix is the end of a kernel's name for maps of type t.
func suffix(t graph.Type) string {
	if isHalf(t) {
		return "_bf16"
	}
	return "_f32"
}
