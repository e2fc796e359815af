package host

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// powercap is where Linux has the energy counters of processors by Intel and AMD (RAPL). Only root may read
// them since Linux 5.10.
const powercap = "/sys/class/powercap"

// Energy adds up the joules that the processors of this machine take, by their own counters: those of whole
// packages, so with all programs and with what they take when idle, and without memory, GPUs and the rest of
// the machine.
type Energy struct {
	packages []energyCounter
	stop     chan struct{}
	sum      chan float64
}

// energyCounter is the counter of a package, in microjoules. It starts anew behind most.
type energyCounter struct {
	path       string
	last, most float64
}

// WatchEnergy begins to add. It returns nil if the machine has no counter that this process may read.
func WatchEnergy() *Energy { return watchEnergy(powercap, 20*time.Second) }

// watchEnergy reads the counters of a folder in so short intervals that none comes round twice within one.
func watchEnergy(folder string, every time.Duration) *Energy {
	e := &Energy{stop: make(chan struct{}), sum: make(chan float64, 1)}
	names, _ := filepath.Glob(filepath.Join(folder, "intel-rapl:*", "name")) // AMD's have this name too
	for _, name := range names {
		if text, err := os.ReadFile(name); err != nil || !strings.HasPrefix(string(text), "package") {
			continue // a part of a package, or the whole machine, which has it again
		}
		c := energyCounter{path: filepath.Join(filepath.Dir(name), "energy_uj")}
		c.last, c.most = numberIn(c.path), numberIn(filepath.Join(filepath.Dir(name), "max_energy_range_uj"))
		if !math.IsNaN(c.last + c.most) {
			e.packages = append(e.packages, c)
		}
	}
	if e.packages == nil {
		return nil
	}
	go e.watch(every)
	return e
}

// watch adds until it is told to stop.
func (e *Energy) watch(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	sum := 0.0
	for isOver := false; !isOver; {
		select {
		case <-tick.C:
		case <-e.stop:
			isOver = true
		}
		for i := range e.packages {
			sum += e.packages[i].since()
		}
	}
	e.sum <- sum
}

// since returns the joules since it was called before; NaN if the counter cannot be read any more.
func (c *energyCounter) since() float64 {
	now := numberIn(c.path)
	took := now - c.last
	if took < 0 {
		took += c.most
	}
	c.last = now
	return 1e-6 * took
}

// Stop returns the joules since [WatchEnergy]; 0 where there is no counter, or if one was lost.
func (e *Energy) Stop() float64 {
	if e == nil {
		return 0
	}
	close(e.stop)
	if sum := <-e.sum; !math.IsNaN(sum) {
		return sum
	}
	return 0
}

// numberIn returns the number in a file of the kernel; NaN without one.
func numberIn(path string) float64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}
