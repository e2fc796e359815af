package compare

import (
	"cmp"
	"lockstep/app/evidence/stat"
	"slices"
	"time"

	"lockstep/app/record"
)

// KernelsKind is the "kind" of a results file that holds Kernels. One without a kind holds Results.
const KernelsKind = "kernels"

// Kernels is how fast single kernels ran, next to the limits that the machine showed in the same run.
type Kernels struct {
	Kind     string         `json:"kind"`    // [KernelsKind]
	Version  string         `json:"version"` // of the program
	Revision string         `json:"revision,omitempty"`
	Go       string         `json:"go"`
	Command  []string       `json:"command"` // arguments that repeat the measurement
	Started  time.Time      `json:"started"`
	Seconds  float64        `json:"seconds"` // wall time of all
	Host     record.Machine `json:"host"`
	GPU      *record.GPU    `json:"gpu,omitempty"` // null: the CPU computed
	Load     float64        `json:"load"`          // processes ready to run before the start
	Taken    *record.Taken  `json:"cores_taken"`   // what others took; null: unknown

	Model   string `json:"model"`
	Size    int    `json:"size,omitempty"` // height and width of the images, unless it reads texts
	Batch   int    `json:"batch"`
	Threads int    `json:"threads"`
	ISA     string `json:"isa"`
	Math    string `json:"math"` // how products are computed, as --math names it
	Repeats int    `json:"repeats"`

	// PeakSamples are multiply-adds in registers, in floating-point operations per second, measured
	// beside every step because clocks drift; PeakFLOPs is their median. On a GPU they are products of
	// large matrices, once before the steps and once after them.
	PeakSamples record.Numbers `json:"peak_samples"`
	PeakFLOPs   float64        `json:"peak_flops"`
	// PartsSamples and PartsFLOPs are the same of products of parts, if Math has some: on tiles in the
	// nearest cache, each product counted once.
	PartsSamples record.Numbers `json:"parts_samples,omitempty"`
	PartsFLOPs   float64        `json:"parts_flops,omitempty"`
	Bandwidth    []Bandwidth    `json:"bandwidth"` // by rising size of the working set

	// StepSeconds are whole training steps, the update included, without a clock inside.
	StepSeconds record.Numbers `json:"step_seconds"`
	Layers      []Timing       `json:"layers"` // every op of a step of Model, in the order they run
}

// Bandwidth is how fast memory was read and written while passing over a working set.
type Bandwidth struct {
	Bytes     int64   `json:"bytes"`
	PerSecond float64 `json:"bytes_per_second"`
}

// Timing is how long one kernel took for one shape. What follows Seconds is derived from it by
// [Kernels.Rate].
type Timing struct {
	Op      string         `json:"op"`
	Kind    string         `json:"kind,omitempty"` // the op, and the filter's size if it has one: "conv 3x3"
	Layer   string         `json:"layer,omitempty"`
	Shape   string         `json:"shape"`
	OfParts bool           `json:"of_parts,omitempty"` // PartsFLOPs limits its products
	FLOPs   int64          `json:"flops"`              // nominal: every product counts, padding included
	Bytes   int64          `json:"bytes"`              // every input read once, every result written once
	Seconds record.Numbers `json:"seconds"`

	Median         float64 `json:"median_seconds"`
	FLOPsPerSecond float64 `json:"flops_per_second"`
	BytesPerSecond float64 `json:"bytes_per_second"`
	OfPeak         float64 `json:"of_peak"`       // FLOPsPerSecond / PeakFLOPs, or PartsFLOPs
	OfBandwidth    float64 `json:"of_bandwidth"`  // BytesPerSecond / that of such a working set
	Bound          float64 `json:"bound_seconds"` // the least time that either limit allows
	BoundBy        string  `json:"bound_by"`      // "flops" or "bytes"
	OfBound        float64 `json:"of_bound"`      // Bound / Median: 1 is perfect
}

// Lost returns the seconds that t took beyond its bound; negative if it was faster.
func (t *Timing) Lost() float64 { return t.Median - t.Bound }

// Rate fills in what is derived from t's samples, of which there is at least one and which are above
// 0, and k's limits, which are known.
func (k *Kernels) Rate(t *Timing) {
	bandwidth := k.bandwidthOf(t.Bytes)
	limit := k.PeakFLOPs
	if t.OfParts {
		limit = k.PartsFLOPs
	}
	byFLOPs, byBytes := float64(t.FLOPs)/limit, float64(t.Bytes)/bandwidth
	t.Median = stat.Median(t.Seconds)
	t.FLOPsPerSecond = float64(t.FLOPs) / t.Median
	t.BytesPerSecond = float64(t.Bytes) / t.Median
	t.OfPeak, t.OfBandwidth = byFLOPs/t.Median, byBytes/t.Median
	t.Bound, t.BoundBy = byFLOPs, "flops"
	if byBytes > byFLOPs {
		t.Bound, t.BoundBy = byBytes, "bytes"
	}
	t.OfBound = t.Bound / t.Median
}

// bandwidthOf returns the bandwidth of the largest measured working set that is not larger than
// bytes, or else of the smallest: what can be hoped for if all operands lie in the nearest cache
// that holds them.
func (k *Kernels) bandwidthOf(bytes int64) float64 {
	best := k.Bandwidth[0].PerSecond
	for _, b := range k.Bandwidth {
		if b.Bytes <= bytes {
			best = b.PerSecond
		}
	}
	return best
}

// Furthest returns the n timings of list that lost most time to their bounds, the worst first.
func Furthest(list []Timing, n int) []Timing {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b Timing) int {
		return cmp.Compare(b.Lost(), a.Lost())
	})
	return sorted[:min(n, len(sorted))]
}

// Total returns the sum of list's medians, and what it would be if none were above its bound, in seconds.
func Total(list []Timing) (median, least float64) {
	for i := range list {
		median += list[i].Median
		least += min(list[i].Median, list[i].Bound)
	}
	return median, least
}

// Work is all timings of one kind.
type Work struct {
	Kind   string
	Calls  int
	Median float64 // sum of the medians, in seconds
	Bound  float64 // sum of the bounds, in seconds
	Lost   float64 // sum of what each call took beyond its bound; calls faster than theirs add nothing
}

// ByKind groups the timings of list that have a kind by it. The kind that lost most time comes first.
func ByKind(list []Timing) []Work {
	var all []Work
	for i := range list {
		t := &list[i]
		if t.Kind == "" {
			continue
		}
		at := slices.IndexFunc(all, func(w Work) bool { return w.Kind == t.Kind })
		if at < 0 {
			at = len(all)
			all = append(all, Work{Kind: t.Kind})
		}
		w := &all[at]
		w.Calls++
		w.Median += t.Median
		w.Bound += t.Bound
		w.Lost += max(0, t.Lost())
	}
	slices.SortStableFunc(all, func(a, b Work) int { return cmp.Compare(b.Lost, a.Lost) })
	return all
}
