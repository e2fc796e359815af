package usage

import (
	"math"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
)

// Worker is a worker of a row, in its first run.
type Worker struct {
	Row *compare.Line
	compare.RankLine
	Step        float64 // seconds: median of the steps after the first
	Computing   float64 // seconds of the run
	Exchange    float64 // seconds of the run, with what it holds of waiting for cores
	OwnMean     float64 // loss, mean over the worker's own samples
	Compression float64 // what it would have sent without compression over what it sent; NaN: no compression
	Stretches   []Stretch
}

// Stretch is steps of a worker one after another, a tenth of a second or more, without evaluations.
type Stretch struct {
	Usage float64         // seconds
	Cores float64         // processors in use, mean
	Waits [Untold]float64 // seconds by what the worker stood still for
}

// Wait is what a worker stands still for.
type Wait int

// What a worker stands still for.
const (
	Checkpoint Wait = iota
	Collector       // Go's, at work
	NoCore
	Exchange
	Untold // nothing that was measured
)

// Workers returns the workers of a row that tell what they took, by rank.
func Workers(l *compare.Line) (all []Worker) {
	runs := l.Runs()
	for i, rank := range l.Ranks {
		if math.IsNaN(rank.Memory) {
			continue
		}
		told := runs[0].Ranks[i]
		s, every := told.Steps, float64(max(1, l.Record().Every)) // steps that one stands for
		w := Worker{Row: l, RankLine: rank, Step: stat.Median(s.Seconds[min(1, len(s.Seconds)):]),
			Computing: every * (sum(s.Phases["forward"]) + sum(s.Phases["backward"])),
			Exchange:  every * sum(s.Phases["sync_exposed"]), OwnMean: stat.Mean(rank.OwnLoss),
			Compression: math.NaN(), Stretches: stretches(s, every)}
		if told.BytesSent > 0 && told.BytesVectors > told.BytesSent {
			w.Compression = float64(told.BytesVectors) / float64(told.BytesSent)
		}
		all = append(all, w)
	}
	return all
}

// sum adds up the values that are known.
func sum(values []float64) (all float64) {
	for _, v := range values {
		if stat.IsFinite(v) {
			all += v
		}
	}
	return all
}

// mostStretches is how many of a run tell its drops.
const mostStretches = 150

// stretches cuts the steps of a worker, each of which stands for so many.
func stretches(s record.Steps, every float64) (all []Stretch) {
	least, now := max(0.1, every*sum(s.Usage)/mostStretches), Stretch{}
	for i, usage := range s.Usage {
		now.Usage, now.Cores = now.Usage+every*usage, now.Cores+every*s.CPU[i]
		for j, of := range [Untold][]float64{s.Checkpoint, s.Paused, s.Delayed, s.Phases["sync_exposed"]} {
			if i < len(of) {
				now.Waits[j] += every * of[i]
			}
		}
		if now.Usage >= least {
			now.Cores /= now.Usage
			all, now = append(all, now), Stretch{}
		}
	}
	return all
}

// Drops are stretches of a worker with less than three quarters of its usual processors.
type Drops struct {
	Count, Of int             // of so many stretches
	Why       [Untold + 1]int // by what took a tenth of the stretch longer than it usually does
}

// Drops counts the drops of the worker's processors.
func (w Worker) Drops() Drops {
	var cores []float64
	var usual [Untold]float64
	for j := range usual {
		var shares []float64
		for _, s := range w.Stretches {
			shares = append(shares, s.Waits[j]/s.Usage)
		}
		usual[j] = stat.Median(shares)
	}
	for _, s := range w.Stretches {
		cores = append(cores, s.Cores)
	}
	out := Drops{Of: len(w.Stretches)}
	for _, s := range w.Stretches {
		if s.Cores >= 0.75*stat.Median(cores) {
			continue
		}
		why, most := Untold, 0.1
		for j := range usual {
			if longer := s.Waits[j]/s.Usage - usual[j]; longer > most {
				why, most = Wait(j), longer
			}
		}
		out.Count++
		out.Why[why]++
	}
	return out
}
