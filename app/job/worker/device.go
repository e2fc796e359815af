package worker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/compute"
	"lockstep/graph"
	"lockstep/graph/gpu"
	"lockstep/internal/kernel/peak"
	"lockstep/internal/spelling"
	"lockstep/trace"
	"lockstep/train"
)

// device is an executor outside of the processor, as graph/gpu has one.
type device interface {
	graph.Executor
	// Err returns the first error; nothing is computed after it.
	Err() error
	Info() gpu.Info
	// Peak returns the operations per second of a large product; 0 if that cannot be measured.
	Peak() float64
	// MemoryInUse returns the bytes in use on the GPU, by all processes; 0 if they are not known.
	MemoryInUse() int64
	Close()
}

// processor is what computes for a worker.
type processor struct {
	cpu       *compute.CPU     // of the training loop
	gpu       device           // computes the passes of the training loop; nil: cpu does
	gpuMemory gpuMemory        // in use on it
	delay     time.Duration    // that every step waits for before its first pass
	isDue     bool             // this step has not waited yet
	cores     record.CoreTimes // during the training loop
}

// close closes what was opened.
func (p *processor) close() {
	if p.gpu != nil {
		p.gpu.Close()
	}
	if p.cpu != nil {
		p.cpu.Close()
	}
}

// Recorded returns info for the record.
func Recorded(info gpu.Info) *record.GPU {
	return &record.GPU{Name: info.Name, MemoryBytes: info.MemoryBytes, Capability: info.Capability,
		Processors: info.Processors, Driver: info.Driver, Libraries: info.Libraries}
}

// DescribeGPUs adds to f which GPUs this binary can use, or why there is none. A binary that was not built
// for GPUs adds nothing.
func DescribeGPUs(f *record.HostFacts) {
	e, err := gpu.Open(gpu.Config{})
	switch {
	case errors.Is(err, gpu.ErrNotBuilt):
		return
	case err != nil:
		f.NoGPU = err.Error()
		return
	}
	defer e.Close()
	f.GPUs, f.GPU = gpu.Count(), Recorded(e.Info())
}

// OpenGPU opens a GPU for c, whose device is decided.
func OpenGPU(c setting.Config, number int) (*gpu.Executor, error) {
	return gpu.Open(gpu.Config{Device: number, Math: gpu.Math(c.Math)})
}

// NoGPU says what a run misses that demands a GPU, and what to do.
func NoGPU(c setting.Config, err error) error {
	if errors.Is(err, gpu.ErrNotBuilt) {
		return setting.Refuse("--device %s: %v; `go build -tags cuda ./cmd/lockstep` makes one that can, "+
			"and --device cpu needs none", c.Device, err)
	}
	return setting.Refuse("--device: %v; LOCKSTEP_CUDA_PATH names more folders with libraries, and --device "+
		"cpu needs none", err)
}

// openProcessor opens the CPU, and the GPU if one computes.
func (w *Worker) openProcessor() (err error) {
	if w.cpu, err = job.OpenCPU(w.Config, w.Config.Threads, w.Crowded); err != nil || !w.Config.IsOnGPU() {
		return err
	}
	number := w.deviceNumber()
	e, err := OpenGPU(w.Config, number)
	if err != nil {
		return NoGPU(w.Config, err)
	}
	w.gpu = e
	info := e.Info()
	w.Note("GPU %d: %s, %s, compute capability %d.%d, driver for CUDA %d.%d", number,
		info.Name, spelling.Size(info.MemoryBytes), info.Capability/10, info.Capability%10, info.Driver/1000,
		info.Driver%1000/10)
	return nil
}

// deviceNumber returns the number of this worker's GPU: the one that --device names, else each worker of a
// host takes the next one, around and around.
func (w *Worker) deviceNumber() int {
	if IsNumbered(w.Config) {
		return w.Config.DeviceNumber()
	}
	local := w.Rank
	if w.hosts.Size() > 0 {
		local = slices.Index(w.hosts.Peers(w.Rank), w.Rank)
	}
	return local % max(1, gpu.Count())
}

// IsNumbered reports whether --device names one GPU.
func IsNumbered(c setting.Config) bool { return strings.Contains(c.Device, ":") }

// executor returns what computes the passes; nil: the CPU.
func (p *processor) executor() graph.Executor {
	if p.gpu == nil {
		return nil
	}
	return p.gpu
}

// deviceErr returns an error if the GPU has failed. It is for the goroutine that trains.
func (w *Worker) deviceErr() error {
	if w.gpu == nil || w.gpu.Err() == nil {
		return nil
	}
	return fmt.Errorf("--device %s failed during the run, whose weights are lost: %w", w.Config.Device,
		w.gpu.Err())
}

// addGPU adds the GPU that computed to the worker's figures, if one did, with what it took by its own clock.
func (w *Worker) addGPU(r *job.Result, seen *train.Watched) {
	if w.gpu == nil {
		return
	}
	g := Recorded(w.gpu.Info())
	w.gpuMemory.look(w.gpu, w.gpuMemory.asked.Add(gpuMemoryEvery)) // as it is at the end
	r.Summary.GPU = g.Name
	r.GPU = &record.RankGPU{Number: w.deviceNumber(), Bus: w.gpu.Info().Bus, GPU: *g,
		BytesInUse: w.gpuMemory.most}
	if seen != nil {
		took := job.PhasesOf(seen.Phases)
		r.GPU.Time = &record.GPUTime{Steps: seen.Steps, Seconds: seen.Time.Seconds(), Forward: took.Forward,
			Backward: took.Backward, Optimizer: took.Optimizer}
	}
}

// gpuMemoryEvery is how old the memory in use on a GPU may be, so that the driver is not asked in every step.
const gpuMemoryEvery = time.Second

// gpuMemory is the memory in use on a worker's GPU.
type gpuMemory struct {
	asked     time.Time
	now, most int64 // bytes
}

// look returns the bytes in use at a time, 0 without a GPU.
func (m *gpuMemory) look(d device, now time.Time) int64 {
	if d != nil && now.Sub(m.asked) >= gpuMemoryEvery {
		m.asked, m.now = now, d.MemoryInUse()
		m.most = max(m.most, m.now)
	}
	return m.now
}

// peakFLOPs returns the operations per second that reach the limit of what computes for this worker: products
// of the GPU, or multiply-adds of the processor, which takes about 0.2 s. It is 0 of a GPU that several
// share.
func (w *Worker) peakFLOPs() float64 {
	switch {
	case w.gpu == nil:
		return peak.FLOPs(w.cpu)
	case w.sharesGPU():
		return 0
	}
	return w.gpu.Peak()
}

// sharesGPU reports whether other workers of the host compute on this worker's GPU, as far as it can see.
func (w *Worker) sharesGPU() bool {
	workers := w.Config.Workers
	if w.hosts.Size() > 0 {
		workers = len(w.hosts.Peers(w.Rank))
	}
	gpus := max(1, gpu.Count())
	if IsNumbered(w.Config) {
		gpus = 1
	}
	return workers > gpus
}

// slow sets the speed of this worker's computation, as --slow-worker says.
func (w *Worker) slow() {
	factor, delay := w.Config.SlowWorkers.Of(w.Rank)
	if w.delay, w.isDue = delay, delay > 0; w.isDue {
		w.Note("%v of waiting before the first pass of every step (--slow-worker)", delay)
	}
	if factor > 1 {
		w.cpu.Slow(factor)
		w.Note("computation slowed %v times by a duty cycle (--slow-worker)", factor)
	}
}

// begins notes the start of a batch; it is train.Config.Watch. A worker that is to wait in every step does
// so here, so that the forward pass has the time.
func (w *Worker) begins(p trace.Phase) {
	w.Beacon.Move(p)
	if w.isDue && p == trace.Forward {
		w.isDue = false
		time.Sleep(w.delay)
	}
}
