package job

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

// coreTimes are seconds of all cores of a machine together.
type coreTimes struct {
	All    float64 `json:"all"`
	Busy   float64 `json:"busy"` // with processes of this machine
	Stolen float64 `json:"stolen"`
	Own    float64 `json:"own"` // with this process
}

// coresNow returns the times since the machine started; zero if the system does not tell.
func coresNow() coreTimes {
	list, err := cpu.Times(false)
	if err != nil || len(list) == 0 {
		return coreTimes{}
	}
	t := list[0]
	busy := t.User + t.Nice + t.System + t.Irq + t.Softirq
	return coreTimes{All: busy + t.Steal + t.Idle + t.Iowait, Busy: busy, Stolen: t.Steal,
		Own: processTime().Seconds()}
}

// since returns what has gone by since start.
func (t coreTimes) since(start coreTimes) coreTimes {
	return coreTimes{t.All - start.All, t.Busy - start.Busy, t.Stolen - start.Stolen, t.Own - start.Own}
}

// leastWatched is the time of a core below which shares say little: systems count in hundredths of a second.
const leastWatched = time.Second

// takenOf returns what went elsewhere on the machine of rank 0; nil if that is not known. Workers of one
// process have the time of that process each.
func takenOf(ranks []RankStat, isOneProcess bool) *Taken {
	t := ranks[0].Cores
	if t.All < leastWatched.Seconds() || t.Own == 0 {
		return nil
	}
	own := 0.0
	for _, r := range ranks {
		if isOneProcess {
			own = max(own, r.Cores.Own)
		} else if r.Host == ranks[0].Host {
			own += r.Cores.Own
		}
	}
	share := func(seconds float64) float64 { return min(max(seconds/t.All, 0), 1) }
	return &Taken{Stolen: share(t.Stolen), Others: share(t.Busy - own)}
}
