package forecast

import (
	"cmp"
	"math"
	"slices"
	"time"

	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/random"
	"lockstep/simulate"
)

// Calibration is what short runs of one and two workers have told about a machine, in seconds.
type Calibration struct {
	Machine  string     `json:"machine"`           // what its track record is kept under
	Cores    int        `json:"cores"`             // of the machine
	Started  time.Time  `json:"started"`           // when
	Seconds  float64    `json:"seconds"`           // that the runs took
	Results  string     `json:"results_sha256"`    // seal of their results.json
	Rounds   int        `json:"rounds"`            // of interleaved runs
	Taken    float64    `json:"cores_taken"`       // share of core time that others took, at the median
	Shapes   []Passes   `json:"shapes"`            // of a worker alone, by ascending samples of a shard
	Crowding []float64  `json:"crowding"`          // slow-down of passes with 1, 2, ... busy workers
	Step     []float64  `json:"step_quantiles"`    // 21 of a step over its run's median, ascending
	Runs     []float64  `json:"run_logs"`          // log of a run's median over that of its row, ascending
	Inside   Link       `json:"inside"`            // within a host
	Outside  Link       `json:"outside"`           // between hosts; zero: not measured
	Add      float64    `json:"add"`               // core seconds to add a byte to another
	RowBytes float64    `json:"row_bytes"`         // of a shard's losses and statistics
	Gradient []Gradient `json:"gradients"`         // in the order in which they become final
	Tuned    Link       `json:"tuned"`             // Outside, or Inside without it, before it was fitted
	Fits     []Fit      `json:"fits"`              // rows of two workers beside the model
	Codings  []Coding   `json:"codings,omitempty"` // of the codecs that rows use
}

// Passes are the phases of a step of one worker alone, at the median.
type Passes struct {
	Samples  float64 `json:"samples"`  // of a shard
	Shards   int     `json:"shards"`   // of the step
	Data     float64 `json:"data"`     // waiting for the loader
	Forward  float64 `json:"forward"`  // all forward passes
	Backward float64 `json:"backward"` // all backward passes
	Update   float64 `json:"update"`   // of the weights
	Other    float64 `json:"other"`    // the rest
}

// Seconds is the whole step.
func (p Passes) Seconds() float64 { return p.Data + p.Forward + p.Backward + p.Update + p.Other }

// Link is what messages between two ranks cost.
type Link struct {
	Latency    float64 `json:"latency"`     // of a step with one message
	Message    float64 `json:"message"`     // of each further message
	Byte       float64 `json:"byte"`        // of each byte in one direction
	CPUMessage float64 `json:"cpu_message"` // core time of either end
	CPUByte    float64 `json:"cpu_byte"`    // core time of either end
	Burst      float64 `json:"burst"`       // bytes that an idle link lets pass at once
}

func (l Link) simulated() simulate.Link {
	return simulate.Link{Latency: l.Latency, Message: l.Message, Byte: l.Byte, CPUMessage: l.CPUMessage,
		CPUByte: l.CPUByte, Burst: l.Burst}
}

// Gradient is a parameter's place in the flat gradient vector, in floats, and the time after which the last
// backward pass of a worker has made it final.
type Gradient struct {
	Offset int     `json:"offset"` // of the first float
	Len    int     `json:"len"`    // floats
	Ready  float64 `json:"ready"`  // seconds since that pass began
}

// Fit is a row of two workers beside what the model says of it.
type Fit struct {
	Way      string  `json:"strategy"`    // strategy, with settings of its own
	Hosts    int     `json:"hosts"`       // 1 or 2
	Batch    int     `json:"batch"`       // global
	Shards   int     `json:"shards"`      // of a batch
	Measured float64 `json:"measured_ms"` // median over runs of their median steps
	Model    float64 `json:"model_ms"`    // what the model says of it
}

// fitOf returns the fit of a way of two workers on so many hosts; nil if it was not measured.
func (k *Calibration) fitOf(way string, hosts int) *Fit {
	for i := range k.Fits {
		if f := &k.Fits[i]; f.Way == way && f.Hosts == hosts {
			return f
		}
	}
	return nil
}

// model describes the gradients, numbered in the order in which they become final.
func (k *Calibration) model() simulate.Model {
	m := simulate.Model{RowBytes: k.RowBytes}
	last := math.SmallestNonzeroFloat64
	for i, g := range k.Gradient {
		m.Segments = append(m.Segments, gradsync.Segment{Offset: g.Offset, Len: g.Len})
		m.Order = append(m.Order, i)
		last = max(last, g.Ready)
	}
	for _, g := range k.Gradient {
		m.Ready = append(m.Ready, g.Ready/last)
	}
	return m
}

// PassesAt returns the passes of a worker alone whose shards have so many samples: between those that were
// measured, or in proportion to the nearest. Data, Update and Other are those of the next larger shape, or of
// the largest. There must be shapes.
func (k *Calibration) PassesAt(samples float64) Passes {
	i, _ := slices.BinarySearchFunc(k.Shapes, samples, func(p Passes, at float64) int {
		return cmp.Compare(p.Samples, at)
	})
	if i == len(k.Shapes) || i == 0 || k.Shapes[i].Samples == samples {
		p := k.Shapes[min(i, len(k.Shapes)-1)]
		p.Forward, p.Backward = p.Forward*samples/p.Samples, p.Backward*samples/p.Samples
		p.Samples = samples
		return p
	}
	low, high := k.Shapes[i-1], k.Shapes[i]
	part := (samples - low.Samples) / (high.Samples - low.Samples)
	between := func(a, b float64) float64 { // of a shard each
		a, b = a/float64(low.Shards), b/float64(high.Shards)
		return (a + part*(b-a)) * float64(high.Shards)
	}
	high.Forward, high.Backward = between(low.Forward, high.Forward), between(low.Backward, high.Backward)
	high.Samples = samples
	return high
}

// Measured is a row that was run, with its median step.
type Measured struct {
	Run
	Seconds float64
}

// Weights of a fit, as logs: how far a step of the model may be from a measured one, and each cost from what
// was measured directly. Groups measure the least latency, of messages that are waited for with nothing else
// to do; that of training is longer.
const (
	stepTrust    = 0.03
	latencyTrust = 2.0
	byteTrust    = 0.01 // of a described network, else latencyTrust
	cpuTrust     = 0.3
)

// Link returns the link between hosts, or that within one.
func (k *Calibration) Link(isOutside bool) *Link {
	if isOutside {
		return &k.Outside
	}
	return &k.Inside
}

// FitLink changes the costs of the link that in describes, within a host if in has no network, near to what
// they are, so that the model's steps are those of the rows, and adds these to the fits. The time of a byte
// stays nearer to what it is if that is known, as it is of a described network. Within a host a core copies
// it, so its core time grows with its time: groups measure both with vectors that fit a cache, and gradients
// may not. It fails as package simulate does.
func (k *Calibration) FitLink(isByteKnown bool, in Inputs, rows []Measured) error {
	isOutside := in.Network != ""
	l := k.Link(isOutside)
	first := *l
	first.Latency = max(first.Latency, 1e-7)
	k.Tuned = first
	trust := []float64{latencyTrust, latencyTrust, cpuTrust}
	if isByteKnown {
		trust[1] = byteTrust
	}
	noise := make([]float64, len(rows)) // factor of a row's step
	for i, row := range rows {
		step, err := in.step(k, row.Run)
		if err != nil {
			return err
		}
		noisy, err := median(k, in.job(k, row.Run))
		if err != nil {
			return err
		}
		noise[i] = noisy / step
	}
	var failed error
	miss := func(x []float64) float64 {
		*l = first
		l.Latency, l.Byte = l.Latency*math.Exp(x[0]), l.Byte*math.Exp(x[1])
		if l.CPUByte *= math.Exp(x[2]); !isOutside {
			l.CPUByte *= math.Exp(x[1])
		}
		sum := 0.0
		for i := range x {
			sum += x[i] / trust[i] * x[i] / trust[i]
		}
		for i, row := range rows {
			step, err := in.step(k, row.Run)
			if err != nil {
				failed = err
				return math.Inf(1)
			}
			e := math.Log(step*noise[i]/row.Seconds) / stepTrust
			sum += 2 * math.Log1p(e*e/2) // a row that others have disturbed does not bend the rest
		}
		return sum
	}
	miss(descend(make([]float64, len(trust)), miss)) // sets l
	for i, row := range rows {
		step, err := in.step(k, row.Run)
		if err != nil {
			return err
		}
		k.Fits = append(k.Fits, Fit{Way: row.Way, Hosts: row.Hosts, Batch: row.Batch,
			Shards: row.Job.Plan.Shards(), Measured: 1e3 * row.Seconds, Model: 1e3 * step * noise[i]})
	}
	return failed
}

// descend returns a point near x where miss is least, along one axis at a time.
func descend(x []float64, miss func(x []float64) float64) []float64 {
	best := miss(x)
	for size := 0.4; size > 0.01; {
		isBetter := false
		for i := range x {
			for _, d := range []float64{size, -size} {
				next := slices.Clone(x)
				next[i] += d
				if m := miss(next); m < best {
					best, x, isBetter = m, next, true
					break
				}
			}
		}
		if !isBetter {
			size /= 2
		}
	}
	return x
}

// Coding is what a codec leaves of a vector, and takes.
type Coding struct {
	Wire   string  `json:"wire"`   // name
	Ratio  float64 `json:"ratio"`  // bytes that it leaves of one; 0: the codec says its own size
	Encode float64 `json:"encode"` // core seconds by byte of the vector
	Decode float64 `json:"decode"` // likewise
}

// Wire returns how gradients travel by a named codec; nil is none. The first time it measures the codec.
func (k *Calibration) Wire(name string, codec comm.Codec) simulate.Wire {
	if codec == nil {
		return simulate.Wire{}
	}
	i := slices.IndexFunc(k.Codings, func(c Coding) bool { return c.Wire == name })
	if i < 0 {
		i, k.Codings = len(k.Codings), append(k.Codings, codingOf(name, codec))
	}
	c := k.Codings[i]
	return simulate.Wire{Codec: codec, Ratio: c.Ratio, Encode: c.Encode, Decode: c.Decode}
}

// codingOf measures a codec.
func codingOf(name string, codec comm.Codec) Coding {
	const elems, trials = 1 << 16, 4
	vector, back := make([]float32, elems), make([]float32, elems)
	s := random.Derive(1, 2, 3)
	for i := range vector {
		vector[i] = float32(s.Unit(uint64(i))-0.5) * 1e-2
	}
	coded := make([]byte, codec.MaxBytes(elems))
	c := Coding{Wire: name, Encode: 1, Decode: 1}
	for range trials {
		begin := time.Now()
		n := codec.Encode(coded, vector)
		middle := time.Now()
		if codec.Decode(back, coded[:n]) != nil {
			return Coding{Wire: name}
		}
		c.Encode = min(c.Encode, middle.Sub(begin).Seconds()/(4*elems))
		c.Decode = min(c.Decode, time.Since(middle).Seconds()/(4*elems))
		c.Ratio = float64(n) / (4 * elems)
	}
	return c
}
