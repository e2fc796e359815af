package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Hosts is what the preflight of a job on several hosts found: "preflight" in host.json
// and results.json, and what lockstep doctor --json prints.
type Hosts struct {
	Started  time.Time   `json:"started"`  // when, by the clock of the console
	Seconds  float64     `json:"seconds"`  // that it took
	Hosts    []HostFacts `json:"hosts"`    // in the order of the list; the first has rank 0
	Routes   []Route     `json:"routes"`   // every tried address of a host, from every other
	Findings []Finding   `json:"findings"` // errors first, then warnings
}

// RunHost says when a run began and describes its machine and, if it had several hosts, what was found about
// them before; it is written to host.json.
type RunHost struct {
	Host
	GPU       *GPU      `json:"gpu,omitempty"`       // that computed; null: the processor did
	Started   time.Time `json:"started,omitzero"`    // or its last part, if it was resumed
	Preflight *Hosts    `json:"preflight,omitempty"` // of the hosts; null: there is one
	// ResumedStep is that of the checkpoint from which the last part went on; 0: it was not resumed.
	ResumedStep int `json:"resumed_step,omitempty"`
	// ConfigSHA256 is that of config.yaml as it was written: another one was edited since.
	ConfigSHA256 string `json:"config_sha256,omitempty"`
	// Ended is the error with which the run ended; left out: it goes on, has a summary, or was killed.
	Ended string `json:"ended,omitempty"`
}

// Behind returns the words of a command line behind which runs in a lab with some flags, or on several hosts,
// are started: "lab FLAGS --" or "launch --hosts LIST --"; nil for runs of one machine.
func Behind(lab string, h *Hosts) []string {
	if lab != "" {
		return slices.Concat([]string{"lab"}, strings.Fields(lab), []string{"--"})
	}
	if h == nil {
		return nil
	}
	list := make([]string, len(h.Hosts))
	for i, f := range h.Hosts {
		list[i] = fmt.Sprintf("%s:%d", f.Label, f.Slots)
	}
	return []string{"launch", "--hosts", strings.Join(list, ","), "--"}
}

// ParseHosts reads what a console has found out about the hosts of a run, as JSON; nil for "".
func ParseHosts(text string) (*Hosts, error) {
	if text == "" {
		return nil, nil
	}
	var h Hosts
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return nil, fmt.Errorf("facts of hosts: %w", err)
	}
	if err := h.Validate(); err != nil {
		return nil, err
	}
	return &h, nil
}

// Validate checks that routes are between hosts of the list. A nil h has none.
func (h *Hosts) Validate() error {
	if h == nil {
		return nil
	}
	for _, r := range h.Routes {
		if r.From < 0 || r.To < 0 || r.From >= len(h.Hosts) || r.To >= len(h.Hosts) {
			return fmt.Errorf("facts of hosts: a route from %d to %d of %d hosts", r.From, r.To, len(h.Hosts))
		}
	}
	return nil
}

// HostFacts describes a host of a job as a process on it sees it. What the system does not tell is "" or 0.
type HostFacts struct {
	Host
	Label   string `json:"host"`    // name in the list of hosts
	Slots   int    `json:"slots"`   // workers that it may have
	Address string `json:"address"` // chosen for links to it; "": none
	Why     string `json:"why"`     // the address was chosen

	Version  string `json:"version"`  // of the program
	Revision string `json:"revision"` // of its source

	Affinity        int     `json:"affinity_cores"`       // that the affinity of the process allows
	FreeMemoryBytes uint64  `json:"free_memory_bytes"`    // without swapping, within the control group
	Disks           []Disk  `json:"disks"`                // that the job writes to
	Load            float64 `json:"load"`                 // processes ready to run, mean of a minute
	FileLimit       uint64  `json:"file_limit"`           // open files of a process; 0: no limit
	ClockNanos      int64   `json:"clock_unix_nano"`      // when the facts were taken, by the host's clock
	ClockOffset     float64 `json:"clock_offset_seconds"` // clock ahead of the first host's

	Interfaces []Interface `json:"interfaces"` // those that are up

	GPUs  int    `json:"gpus,omitempty"`   // that the program can use; 0: none, or it was not asked
	GPU   *GPU   `json:"gpu,omitempty"`    // the first of them
	NoGPU string `json:"no_gpu,omitempty"` // why there is none; "": there is one, or it was not asked
}

// Disk is a place to which a job writes.
type Disk struct {
	Use        string `json:"use"`         // what for
	Path       string `json:"path"`        // folder
	FreeBytes  uint64 `json:"free_bytes"`  // for this user
	TotalBytes uint64 `json:"total_bytes"` // of the file system
}

// Interface is a network interface of a host.
type Interface struct {
	Name      string   `json:"name"`      // of the system
	Kind      string   `json:"kind"`      // physical, loopback, virtual, container
	Addresses []string `json:"addresses"` // IP addresses, without those of a single link
}

// Route is the attempt to reach an address of a host from another.
type Route struct {
	From      int     `json:"from"`                 // number of the host that dialed
	To        int     `json:"to"`                   // number of the host that was meant
	Address   string  `json:"address"`              // IP address of To
	Interface string  `json:"interface"`            // of To that has the address
	IsChosen  bool    `json:"chosen"`               // the job uses the address
	Fault     string  `json:"fault,omitempty"`      // why it cannot be used; "": it can
	Latency   float64 `json:"latency_seconds"`      // median round trip
	Rate      float64 `json:"bytes_per_second"`     // measured with one stream; 0: not measured
	Offset    float64 `json:"offset_seconds"`       // clock of To ahead of that of From
	OffsetErr float64 `json:"offset_error_seconds"` // half the shortest round trip
}

// Finding is something that hinders a job, slows it down, or should be known.
type Finding struct {
	Level string `json:"level"`          // error, warning
	Topic string `json:"topic"`          // what it is about
	Host  string `json:"host,omitempty"` // where, several by commas; "": it is about all
	Text  string `json:"text"`           // what was found
	Next  string `json:"next,omitempty"` // what mends it
}

// Levels of a Finding.
const (
	LevelError   = "error"
	LevelWarning = "warning"
)
