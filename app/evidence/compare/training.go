package compare

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"lockstep/app/record"
	"lockstep/trace"
)

// Training holds the results of a training run.
type Training struct {
	record.Summary
	Watched       []WatchedRank  `json:"-"` // by rank
	Joint         Curve          `json:"-"` // of all workers together
	Configuration string         `json:"-"` // the resolved settings, as YAML
	Machine       record.RunHost `json:"-"` // of rank 0; zero: not known
	Spans         trace.Source   `json:"-"` // of its workers; nil: there are none

	moved []map[string]float64 // seconds of each rank that its phases have more than it tells

	hash string // SHA-256 of steps.jsonl; "": it is not there, or empty
}

// WatchedRank holds the metrics of one worker, averaged over stretches of equally many steps; the last
// stretch may be shorter.
type WatchedRank struct {
	Curve              // losses of the global batch, the worker's own where it tells those, as samples are
	Seconds  []float64 // of a step, mean
	Cores    []float64 // processor time per time that it was taken in, see leastUsage; NaN: not known
	Memory   []float64 // resident bytes, largest
	Sent     []float64 // bytes per second of the same time
	Received []float64

	at, samples float64 // until the end of the last stretch
	taken       []taken // by stretch
}

// maxStretches is how many points of a run are worth drawing; maxRanks is more than a run has workers.
const (
	maxStretches = 300
	maxRanks     = 1 << 12
)

// NewTraining reads the steps.jsonl of a run, of which a summary tells the rest. The lines of each rank must
// be in the order of steps. It skips incomplete lines, which a killed worker or a full disk leaves.
func NewTraining(s *record.Summary, steps io.Reader) (*Training, error) {
	t := Training{Summary: *s}
	if t.Workers < 1 || t.Steps < 0 {
		return nil, fmt.Errorf("summary: %d workers, %d steps", t.Workers, t.Steps)
	}
	length, from := max(1, (t.Steps+maxStretches-1)/maxStretches), 0
	if t.Resumed != nil {
		from = t.Resumed.Steps
	}
	stretches := map[int]stretch{}
	sum := sha256.New()
	lines := bufio.NewScanner(io.TeeReader(steps, sum))
	isEmpty := true
	for lines.Scan() {
		isEmpty = false
		var l record.Step
		if json.Unmarshal(lines.Bytes(), &l) != nil {
			continue
		}
		if l.Rank < 0 || l.Rank >= maxRanks || l.Step < 0 {
			return nil, fmt.Errorf("steps: step %d of rank %d", l.Step, l.Rank)
		}
		if stretches[l.Step/length] == nil {
			stretches[l.Step/length] = stretch{}
		}
		stretches[l.Step/length].of(l.Rank).add(l, l.Step >= from)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("steps: %w", err)
	}
	if !isEmpty {
		t.hash = hex.EncodeToString(sum.Sum(nil))
	}
	t.Watched, t.Joint = follow(stretches)
	t.Joint = t.joint(t.Joint)
	t.moved = t.moveCoreWaits(stretches)
	return &t, nil
}

// Changed says which files of an ended run were changed after its end, by the seal of its summary.
func (t *Training) Changed() []string {
	if t.IsInterrupted {
		return nil
	}
	return t.Contradicts(t.hash)
}

// unlessZero returns v, or NaN if it is not positive: it was not told.
func unlessZero(v float64) float64 {
	if v > 0 {
		return v
	}
	return math.NaN()
}

// taken is the processor time and the wall time of a stretch, in seconds.
type taken struct{ cores, usage float64 }

// leastUsage is the time in seconds that processors in use are a mean of: systems count the time of a
// thread that runs in ticks of up to 10 ms, so that a step of 2 ms may seem to use four of two cores.
const leastUsage = 0.1

// inUse returns the processors in use over the last stretches of leastUsage together; NaN if there are
// fewer.
func (w *WatchedRank) inUse() float64 {
	var sum taken
	for _, t := range slices.Backward(w.taken) {
		sum.cores, sum.usage = sum.cores+t.cores, sum.usage+t.usage
		if sum.usage >= leastUsage {
			return sum.cores / sum.usage
		}
	}
	return math.NaN()
}

// add adds a stretch.
func (w *WatchedRank) add(s *sums) {
	n, usage := float64(s.steps), unlessZero(s.usage)
	w.at, w.samples = w.at+s.seconds, w.samples+s.samples
	w.Curve.add(s.last, s.loss/n, w.at, w.samples)
	w.Seconds = append(w.Seconds, s.seconds/n)
	w.taken = append(w.taken, taken{s.cpu, s.usage})
	w.Cores = append(w.Cores, w.inUse())
	w.Memory = append(w.Memory, s.memory)
	w.Sent, w.Received = append(w.Sent, s.sent/usage), append(w.Received, s.received/usage)
}
