package comm

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/shard"
)

// Op is a collective operation.
type Op uint8

// The collectives. The first three compute sums; the others only move bytes.
const (
	AllReduce Op = iota
	ReduceScatter
	Reduce
	AllGather
	Gather
	Scatter
	Broadcast
	Barrier
	Message // of a Post; no collective
	tune    // see Group.Tune
	numOps
)

// String returns the name, as in "all-reduce".
func (o Op) String() string {
	names := [...]string{"all-reduce", "reduce-scatter", "reduce", "all-gather", "gather", "scatter",
		"broadcast", "barrier", "message", "tune"}
	if int(o) >= len(names) {
		return fmt.Sprintf("op %d", uint8(o))
	}
	return names[o]
}

// isSum reports whether the operation adds float32 values rather than moving bytes.
func (o Op) isSum() bool { return o <= Reduce }

// algorithm is one way to all-reduce.
type algorithm struct {
	name      string
	isExact   bool // gives the same bits for any number of ranks
	isPassing bool // ranks forward parts of the result that they received
	plan      func(t Topology, plan shard.Plan, rank, elems int) *Schedule
}

// algorithms is the selection table of all-reduce.
func algorithms() []algorithm {
	return []algorithm{
		{"direct", true, false, flat(directAllReduce)},
		{"gather", true, false, flat(gatherAllReduce)},
		{"halving-doubling", true, true, flat(halvingAllReduce)},
		{"hierarchical", true, true, hierarchicalAllReduce},
		{"one-shot", true, false, flat(oneShotAllReduce)},
		{"ring", false, true, flat(ringAllReduce)},
		{"tree", true, true, flat(treeAllReduce)},
	}
}

// flat adapts an algorithm that ignores the topology.
func flat(f func(plan shard.Plan, rank, elems int) *Schedule) func(Topology, shard.Plan, int, int) *Schedule {
	return func(_ Topology, plan shard.Plan, rank, elems int) *Schedule { return f(plan, rank, elems) }
}

// Algorithms returns the names of the all-reduce algorithms, without "auto".
func Algorithms() []string {
	var names []string
	for _, a := range algorithms() {
		names = append(names, a.name)
	}
	return names
}

// IsExact reports whether the algorithm gives the same bits for any number of ranks. All but "ring"
// do; "auto" never selects "ring".
func IsExact(name string) bool {
	return name == "auto" || slices.ContainsFunc(algorithms(), func(a algorithm) bool {
		return a.name == name && a.isExact
	})
}

// CheckAlgorithm returns an error that lists the valid names if name is neither "auto" nor one of
// Algorithms.
func CheckAlgorithm(name string) error {
	if name == "auto" || slices.Contains(Algorithms(), name) {
		return nil
	}
	return fmt.Errorf("comm: algorithm %q, want auto, %s", name, strings.Join(Algorithms(), ", "))
}

// indexOf returns the index of a name in table, or -1.
func indexOf(table []algorithm, name string) int {
	return slices.IndexFunc(table, func(a algorithm) bool { return a.name == name })
}

// oneShotBytes is the most that a rank may send for "auto" to select one-shot.
const oneShotBytes = 32 << 10

// Resolve returns the algorithm that "auto" stands for, given the topology and the size of the
// vector in bytes, while nothing is measured (see [Group.Tune]). Other names stand for themselves.
//
// The rule is static and follows from the cost table of the package: one-shot while it sends
// little; hierarchical where some links are within a host and some are not; direct up to 16 ranks,
// where two steps and minimal bytes win at any size; beyond that halving-doubling, whose number of
// messages grows with log p only.
func Resolve(name string, t Topology, bytes int) string {
	switch {
	case name != "auto":
		return name
	case bytes*(t.Size()-1) <= oneShotBytes:
		return "one-shot"
	case t.isMixed():
		return "hierarchical"
	case t.Size() <= 16:
		return "direct"
	}
	return "halving-doubling"
}

// Pick returns the algorithm that a group uses for a vector of that many bytes with a codec, which
// may be nil. "auto" goes by the measurements, or by Resolve's rule if measured is nil. With a
// lossy codec "auto" always goes by that rule: such sums depend on the schedule, so the schedule
// must be a function of size and topology alone, never of a timing. Where the rule's algorithm
// would round twice, Pick returns direct.
func Pick(name string, measured *Tuning, t Topology, c Codec, bytes int) string {
	if name != "auto" {
		return name
	}
	if measured != nil && (c == nil || c.Loss() == Lossless) {
		return measured.Resolve(bytes)
	}
	name = Resolve(name, t, bytes)
	if CheckCodec(name, c) != nil {
		return "direct"
	}
	return name
}

// PlanAllReduce returns rank's schedule of an all-reduce of elems elements. Each rank contributes
// the pieces of plan, which has as many workers as t has ranks. It is a pure function; the
// schedules of all ranks match.
func PlanAllReduce(name string, t Topology, plan shard.Plan, rank, elems int) (*Schedule, error) {
	name = Resolve(name, t, 4*elems)
	for _, a := range algorithms() {
		if a.name == name {
			return a.plan(t, plan, rank, elems), nil
		}
	}
	return nil, CheckAlgorithm(name)
}
