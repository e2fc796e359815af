package job

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/graph"
	"lockstep/graph/gpu"
	"lockstep/internal/kernel/peak"
	"lockstep/internal/spelling"
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

// placed returns c with its device decided, and the GPU of this machine; nil if the CPU computes. A GPU that
// c demands and that cannot be used is an error of the configuration.
func (o *Options) placed(c setting.Config) (setting.Config, *record.GPU, error) {
	if !c.IsDeviceOpen() && !c.IsOnGPU() {
		return c, nil, nil
	}
	info, why := gpu.Info{}, c.WantsCPU()
	if why == "" {
		e, err := openGPU(c.Placed(gpuOf(c)), c.DeviceNumber())
		switch {
		case err == nil:
			info = e.Info()
			e.Close()
		case c.IsDeviceOpen():
			why = err.Error()
		default:
			return c, nil, noGPU(c, err)
		}
	}
	if why != "" {
		fmt.Fprintf(o.Stderr, "note: --device auto: the CPU computes: %s\n", why)
		cpu := o.decide(c, setting.DeviceCPU)
		if err := cpu.Validate(); err != nil {
			return cpu, nil, setting.Refuse("--%v", err)
		}
		return cpu, nil, nil
	}
	done := o.decide(c, gpuOf(c))
	o.noteGPU(c, done, info)
	return done, recorded(info), nil
}

// recorded returns info for the record.
func recorded(info gpu.Info) *record.GPU {
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
	f.GPUs, f.GPU = gpu.Count(), recorded(e.Info())
}

// gpuOf returns the name of the GPU that c asks for; the first one for auto.
func gpuOf(c setting.Config) string {
	if c.IsOnGPU() {
		return c.Device
	}
	return setting.DeviceCUDA
}

// decide returns c on a device, and notes which of its values that has changed.
func (o *Options) decide(c setting.Config, device string) setting.Config {
	done := c.Placed(device)
	o.Origins = o.Origins.Changed(c, done, "chosen by --device "+c.Device)
	return done
}

// noteGPU says what computes the run, and what that makes of its settings.
func (o *Options) noteGPU(asked, c setting.Config, info gpu.Info) {
	text := fmt.Sprintf("note: --device %s: %s, %s, computes", asked.Device, info.Name,
		setting.Size(info.MemoryBytes))
	switch c.Math {
	case setting.Auto:
	case asked.Math:
		text += " in " + c.Math
	default:
		text += fmt.Sprintf(" in %s, which --math %s means on a GPU", c.Math, asked.Math)
	}
	gpus := gpu.Count()
	if isNumbered(c) {
		gpus = 1
	}
	switch n := o.mostOfHost(c); {
	case o.Meeting != nil && gpus == 1: // each process may see another one; the summary will know
	case n > gpus:
		text += fmt.Sprintf("; %s share %s: their times show contention, not scaling",
			spelling.Count(n, "worker"), spelling.Count(max(gpus, 1), "GPU"))
	case n > 1:
		text += fmt.Sprintf("; %d workers have a GPU each", n)
	}
	fmt.Fprintln(o.Stderr, text)
}

// mostOfHost returns the greatest number of workers of one host.
func (o *Options) mostOfHost(c setting.Config) int {
	if o.Meeting != nil {
		return max(1, o.Place.LocalWorld)
	}
	most := 0
	for _, l := range o.Environment.Loads(c.Workers, c.NumApart()) {
		most = max(most, l.Workers)
	}
	if most == 0 {
		return c.Workers
	}
	return most
}

// openGPU opens a GPU for c, whose device is decided. If its math is not, the GPU is only looked at.
func openGPU(c setting.Config, number int) (*gpu.Executor, error) {
	if c.Math == setting.Auto {
		c.Math = c.Maths()[0].Name
	}
	return gpu.Open(gpu.Config{Device: number, Math: gpu.Math(c.Math)})
}

// noGPU says what a run misses that demands a GPU, and what to do.
func noGPU(c setting.Config, err error) error {
	if errors.Is(err, gpu.ErrNotBuilt) {
		return setting.Refuse("--device %s: %v; `go build -tags cuda ./cmd/lockstep` makes one that can, "+
			"and --device cpu needs none", c.Device, err)
	}
	return setting.Refuse("--device: %v; LOCKSTEP_CUDA_PATH names more folders with libraries, and --device "+
		"cpu needs none", err)
}

// DeviceError says that the GPU failed during a run, whose weights are then worthless.
type DeviceError struct {
	Device string // as --device names it
	Err    error
}

// Error says what has failed.
func (e *DeviceError) Error() string {
	return fmt.Sprintf("--device %s failed during the run, whose weights are lost: %v", e.Device, e.Err)
}

// Unwrap returns Err.
func (e *DeviceError) Unwrap() error { return e.Err }

// openDevice opens the GPU if one computes.
func (w *worker) openDevice() error {
	if !w.config.IsOnGPU() {
		return nil
	}
	number := w.deviceNumber()
	e, err := openGPU(w.config, number)
	if err != nil {
		return noGPU(w.config, err)
	}
	w.gpu = e
	info := e.Info()
	w.note("GPU %d: %s, %s, compute capability %d.%d, driver for CUDA %d.%d", number,
		info.Name, setting.Size(info.MemoryBytes), info.Capability/10, info.Capability%10, info.Driver/1000,
		info.Driver%1000/10)
	return nil
}

// deviceNumber returns the number of this worker's GPU: the one that --device names, else each worker of a
// host takes the next one, around and around.
func (w *worker) deviceNumber() int {
	if isNumbered(w.config) {
		return w.config.DeviceNumber()
	}
	local := w.rank
	if w.hosts.Size() > 0 {
		local = slices.Index(w.hosts.Peers(w.rank), w.rank)
	}
	return local % max(1, gpu.Count())
}

// isNumbered reports whether --device names one GPU.
func isNumbered(c setting.Config) bool { return strings.Contains(c.Device, ":") }

// closeDevice closes what openDevice has opened.
func (w *worker) closeDevice() {
	if w.gpu != nil {
		w.gpu.Close()
	}
}

// executor returns what computes the passes; nil: the CPU.
func (w *worker) executor() graph.Executor {
	if w.gpu == nil {
		return nil
	}
	return w.gpu
}

// deviceErr returns a *DeviceError if the GPU has failed. It is for the goroutine that trains.
func (w *worker) deviceErr() error {
	if w.gpu == nil || w.gpu.Err() == nil {
		return nil
	}
	return &DeviceError{w.config.Device, w.gpu.Err()}
}

// gpuKind describes the GPU that computes; nil: none does.
func (w *worker) gpuKind() *record.GPU {
	if w.gpu == nil {
		return nil
	}
	return recorded(w.gpu.Info())
}

// addGPU adds the GPU that computed to the worker's figures, if one did, with what it took by its own clock.
func (w *worker) addGPU(r *workerResult, seen *train.Watched) {
	g := w.gpuKind()
	if g == nil {
		return
	}
	w.gpuMemory.look(w.gpu, w.gpuMemory.asked.Add(gpuMemoryEvery)) // as it is at the end
	r.Summary.GPU = g.Name
	r.GPU = &record.RankGPU{Number: w.deviceNumber(), Bus: w.gpu.Info().Bus, GPU: *g,
		BytesInUse: w.gpuMemory.most}
	if seen != nil {
		took := phasesOf(seen.Phases)
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
func (w *worker) peakFLOPs() float64 {
	switch {
	case w.gpu == nil:
		return peak.FLOPs(w.cpu)
	case w.sharesGPU():
		return 0
	}
	return w.gpu.Peak()
}

// sharesGPU reports whether other workers of the host compute on this worker's GPU, as far as it can see.
func (w *worker) sharesGPU() bool {
	workers := w.config.Workers
	if w.hosts.Size() > 0 {
		workers = len(w.hosts.Peers(w.rank))
	}
	gpus := max(1, gpu.Count())
	if isNumbered(w.config) {
		gpus = 1
	}
	return workers > gpus
}
