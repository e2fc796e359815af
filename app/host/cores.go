package host

import (
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
)

// Taken says what part of the time of a machine's cores went elsewhere during a run, of which the run
// would have been the faster without. Each is 0 to 1.
type Taken struct {
	Stolen float64 `json:"stolen"` // by other virtual machines on the same hardware
	Others float64 `json:"others"` // by other processes of this one
}

// CoreTimes are seconds of all cores of a machine together.
type CoreTimes struct {
	All    float64 `json:"all"`
	Busy   float64 `json:"busy"` // with processes of this machine
	Stolen float64 `json:"stolen"`
	Own    float64 `json:"own"` // with this process
}

// CoresNow returns the times since the machine started; zero if the system does not tell.
func CoresNow() CoreTimes {
	list, err := cpu.Times(false)
	if err != nil || len(list) == 0 {
		return CoreTimes{}
	}
	t := list[0]
	busy := t.User + t.Nice + t.System + t.Irq + t.Softirq
	return CoreTimes{All: busy + t.Steal + t.Idle + t.Iowait, Busy: busy, Stolen: t.Steal,
		Own: processTime().Seconds()}
}

// Since returns what has gone by since start.
func (t CoreTimes) Since(start CoreTimes) CoreTimes {
	return CoreTimes{t.All - start.All, t.Busy - start.Busy, t.Stolen - start.Stolen, t.Own - start.Own}
}

// leastWatched is the time of a core below which shares say little: systems count in hundredths of a second.
const leastWatched = time.Second

// Taken returns what went elsewhere while the processes of a run took own seconds of the machine's cores;
// nil if that is not known.
func (t CoreTimes) Taken(own float64) *Taken {
	if t.All < leastWatched.Seconds() || t.Own == 0 {
		return nil
	}
	share := func(seconds float64) float64 { return min(max(seconds/t.All, 0), 1) }
	return &Taken{Stolen: share(t.Stolen), Others: share(t.Busy - own)}
}
