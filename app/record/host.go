package record

import "strings"

// Host describes a machine. What the system does not
// tell is "" or 0.
type Host struct {
	Name          string   `json:"name"`           // the machine's own
	OS            string   `json:"os"`             // linux, darwin, ...
	Platform      string   `json:"platform"`       // distribution and version
	Kernel        string   `json:"kernel"`         // version of the operating system
	Arch          string   `json:"arch"`           // of the processor
	CPU           string   `json:"cpu"`            // model name
	PhysicalCores int      `json:"physical_cores"` // processors
	LogicalCores  int      `json:"logical_cores"`  // with hyper-threads
	UsableCores   int      `json:"usable_cores"`   // after affinity and container limits
	MemoryBytes   uint64   `json:"memory_bytes"`   // of the machine, or of its container
	ISA           []string `json:"isa"`            // kernel paths of this processor and build
	Go            string   `json:"go"`             // version of the compiler
	Lab           string   `json:"lab,omitempty"`  // flags of the lab whose hosts the workers were on
}

// GPU describes what computed the passes of a run in place of the processor. What the driver does not tell
// is "" or 0.
type GPU struct {
	Name        string   `json:"name"`                // as the driver has it
	MemoryBytes int64    `json:"memory_bytes"`        // of the GPU
	Capability  int      `json:"capability"`          // compute capability, 90 for 9.0
	Processors  int      `json:"processors"`          // its multiprocessors
	Driver      int      `json:"driver"`              // newest CUDA of the driver, 13000 for 13.0
	Libraries   []string `json:"libraries,omitempty"` // loaded besides the driver, with versions
}

// Kind words what decides how a GPU rounds: its name and the versions of the libraries.
func (g *GPU) Kind() string {
	if len(g.Libraries) == 0 {
		return g.Name
	}
	return g.Name + " (" + strings.Join(g.Libraries, ", ") + ")"
}

// RankGPU is the GPU of a worker.
type RankGPU struct {
	Number int    `json:"number"`        // among those of its host that the worker sees, from 0
	Bus    string `json:"bus,omitempty"` // its place on the host's bus; "": not known
	GPU
	BytesInUse int64    `json:"bytes_in_use,omitempty"` // most seen, of all processes; 0: not told
	Time       *GPUTime `json:"time,omitempty"`         // null: its clock saw no step
}

// GPUTime is what a GPU did by its own clock, in some of the steps: times from the first to the last op of
// each pass, with what it waits for in between. The rest of the steps it was idle.
type GPUTime struct {
	Steps     int     `json:"steps"`     // that its clock saw
	Seconds   float64 `json:"seconds"`   // that they took on the host
	Forward   float64 `json:"forward"`   // seconds in forward passes, with samples and weights that travel
	Backward  float64 `json:"backward"`  // seconds in backward passes
	Optimizer float64 `json:"optimizer"` // seconds in updates; 0: the host made them
}

// Busy returns the seconds of all passes and updates.
func (t *GPUTime) Busy() float64 { return t.Forward + t.Backward + t.Optimizer }

// Clock says how the clock of a rank's host stands to the launcher's, by round trips during the run. On the
// launcher's host both are 0.
type Clock struct {
	OffsetMS float64 `json:"offset_ms"` // what it shows beyond the launcher's
	ErrorMS  float64 `json:"error_ms"`  // by how much that may be wrong: half of the least round trip
}
