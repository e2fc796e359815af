package explain

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"lockstep/app/evidence/stat"
	"lockstep/app/record"
	"lockstep/app/strategy"
)

// Cost is a part of the time of a step, of which a [Term] is the difference between two sides.
type Cost int

// The costs of a step. Work, Efficiency and Memory are what the compute of a step divides into when two sides
// are compared; a profile of one side has all of it as Work.
const (
	Work       Cost = iota // computing the samples that a worker has, by the slower side's speed alone
	Efficiency             // of kernels, at the shape that a worker has
	Memory                 // contention for what cores share, frequency included
	Cores                  // threads that were runnable without a core; of two sides only
	Straggler              // waiting for a worker that computes longer than the others
	Imbalance              // waiting for a worker that has more shards than the others
	Latency                // messages of the exchange, however long they are
	Bandwidth              // bytes of the exchange, moved and added
	Codec                  // writing and reading them in the wire's form
	Data                   // waiting for the loader
	Optimizer              // updating weights
	Checkpoint             // copying the state, or waiting until it can be
	Runtime                // pauses of the language's runtime
	Other                  // the rest
	NumCosts   = iota
)

// names are those of the costs, as terms have them in JSON.
func names() []string {
	return []string{"work", "efficiency", "memory", "cores", "straggler", "imbalance", "latency", "bandwidth",
		"codec", "data", "optimizer", "checkpoint", "runtime", "other"}
}

// String returns the name of a cost, as terms have it in JSON.
func (c Cost) String() string { return names()[c] }

// CostNamed returns the cost of a name; -1 if none has it.
func CostNamed(name string) Cost { return Cost(slices.Index(names(), name)) }

// IsCompute reports whether a cost is a part of computation.
func (c Cost) IsCompute() bool { return c <= Cores }

// IsExchange reports whether a cost is of the exchange, waiting in it for another worker included.
func (c Cost) IsExchange() bool { return Straggler <= c && c <= Codec }

// costs are seconds of a step by [Cost].
type costs [NumCosts]float64

// sum returns the seconds of all costs.
func (c costs) sum() (sum float64) {
	for _, v := range c {
		sum += v
	}
	return sum
}

// plus returns c with f times other added.
func (c costs) plus(f float64, other costs) costs {
	for i, v := range other {
		c[i] += f * v
	}
	return c
}

// Side is one of the two things that are compared, with its runs.
type Side struct {
	Name    string         // for a reader
	Setting record.Setting // what was run
	Runs    []*record.Run  // that have steps; without those that were disturbed, if enough are left
}

// NewSide returns the side of a row.
func NewSide(name string, row *record.Row) Side {
	s := Side{Name: name, Setting: row.Setting}
	for i := range row.Runs {
		if row.Runs[i].Error == "" && leastSteps(&row.Runs[i]) > firstSteps {
			s.Runs = append(s.Runs, &row.Runs[i])
		}
	}
	calm := slices.DeleteFunc(slices.Clone(s.Runs), func(r *record.Run) bool { return r.Taken.IsDisturbed() })
	if len(calm) >= max(stat.LeastRounds, len(s.Runs)/2) {
		s.Runs = calm
	}
	return s
}

// leastSteps returns the steps of the rank that has fewest; 0 without ranks.
func leastSteps(run *record.Run) (least int) {
	for i, r := range run.Ranks {
		if n := len(r.Steps.Seconds); i == 0 || n < least {
			least = n
		}
	}
	return least
}

func (s Side) way() strategy.Strategy { return strategy.Named(s.Setting.Strategy) }

// configured returns what the configuration of the side's runs says. Sides have runs.
func (s Side) configured() map[string]any {
	all := map[string]any{"task": "classification"} // of runs from before there was another one
	var recorded map[string]any                     // nil if the text is null, or none
	_ = json.Unmarshal(s.Runs[0].Config, &recorded)
	maps.Copy(all, recorded)
	return all
}

// update tells which update of the weights a worker computes. Sides have runs.
func (s Side) update() any {
	x := s.Setting
	optimizer, _ := s.configured()["optimizer"].(string) // what is no name could not be compared
	return [...]any{optimizer, x.Strategy, x.Options, x.Workers, x.Threads, x.Servers,
		x.ServerPlace}
}

// kernels names what computed the side, and its math; "": its runs do not tell.
func (s Side) kernels() string {
	if len(s.Runs) == 0 || s.Runs[0].Kernels() == "" {
		return ""
	}
	math, _ := s.configured()["math"].(string)
	return strings.TrimSuffix(s.Runs[0].Kernels()+" with --math "+math, " with --math ")
}

// perWorker returns the samples of a worker's step: a whole batch where workers share no step.
func (s Side) perWorker() float64 {
	if s.isAsync() {
		return float64(s.Setting.Batch)
	}
	return float64(s.Setting.Batch) / float64(s.Setting.Workers)
}

// isAsync reports whether workers share no step: their runs tell of updates by staleness, as those of
// "ps-async" do but with staleness 0.
func (s Side) isAsync() bool { return len(s.Runs) > 0 && s.Runs[0].Staleness != nil }

// isApart reports whether no worker waits for another within a step.
func (s Side) isApart() bool { return s.Setting.Workers == 1 || s.way().IsFloor || s.isAsync() }

// firstSteps are left out of every mean: memory is touched for the first time, links are measured.
const firstSteps = 2

// averageEvery returns the number of steps from one exchange to the next. Sides have runs.
func (s Side) averageEvery() int {
	if every, _ := s.configured()["average-every"].(float64); s.way().Exchange == strategy.Averages {
		return int(max(1, min(every, 1e9)))
	}
	return 1
}
