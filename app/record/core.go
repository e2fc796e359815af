package record

// CoreTimes are seconds of all cores of a machine together.
type CoreTimes struct {
	All    float64 `json:"all"`    // of all cores
	Busy   float64 `json:"busy"`   // with processes of this machine
	Stolen float64 `json:"stolen"` // by other virtual machines
	Own    float64 `json:"own"`    // with this process
	// Joules are what the machine's processors took, all programs together; 0: they do not tell.
	Joules float64 `json:"joules,omitempty"`
}

// Taken holds the shares of a machine's core time that others took during a run, each 0 to 1. Without them
// the run would have been faster.
type Taken struct {
	Stolen float64 `json:"stolen"` // by other virtual machines on the same hardware
	Others float64 `json:"others"` // by other processes of this one
}

// DisturbedLimit is the share of core time taken by others from which a run counts as disturbed: its times
// take no part in statistics if its row has other runs, and a benchmark repeats it unless most runs are
// disturbed.
const DisturbedLimit = 0.05

// LeastWatched is the core time, in seconds, below which what others took is unknown: systems count in
// hundredths.
const LeastWatched = 1.0

// TakenBut returns what others took of some time of the cores, of which so many seconds were a job's own; nil
// if the time is too short to tell.
func (t CoreTimes) TakenBut(own float64) *Taken {
	if t.All < LeastWatched {
		return nil
	}
	share := func(seconds float64) float64 { return min(max(seconds/t.All, 0), 1) }
	return &Taken{Stolen: share(t.Stolen), Others: share(t.Busy - own)}
}

// Sum returns the share of core time taken by others; 0 if t is nil.
func (t *Taken) Sum() float64 {
	if t == nil {
		return 0
	}
	return t.Stolen + t.Others
}

// IsDisturbed reports whether others took a share that counts; not if t is nil.
func (t *Taken) IsDisturbed() bool { return t.Sum() >= DisturbedLimit }
