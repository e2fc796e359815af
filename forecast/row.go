package forecast

import (
	"cmp"
	"math"
	"slices"

	"lockstep/comm"
	"lockstep/random"
	"lockstep/shard"
	"lockstep/simulate"
)

// Inputs are what is described, not measured.
type Inputs struct {
	Network string  `json:"network"`         // as given; "": workers of one machine
	Rate    float64 `json:"bits_per_second"` // of a host's link, in each direction; 0: no limit
	Delay   float64 `json:"delay_seconds"`   // one way
	IsLab   bool    `json:"lab"`             // hosts are those of a lab, which share this machine's cores
	PerHost int     `json:"per_host"`        // workers of each host
	Cores   float64 `json:"cores"`           // of each host, or of the machine that all are on
	Group   int     `json:"group,omitempty"` // hosts of a switch; 0: all
	// Oversubscription is what hosts of a switch may send over what its uplink carries; 0: it carries all.
	Oversubscription float64 `json:"oversubscription,omitempty"`
	IsWeak           bool    `json:"weak"`                     // the batch grows with the workers
	Samples          float64 `json:"samples,omitempty"`        // to train on; 0: not asked
	Price            float64 `json:"price_per_hour,omitempty"` // of a host, in dollars; 0: not asked
	Changes          string  `json:"what_if,omitempty"`        // what differs from the machine measured
	Widening         float64 `json:"widening"`                 // of intervals, by the track record; 0: 1
}

// Run is a configuration that is predicted. Its step is the median one but where workers do not meet in every
// step: there it is the mean, of "local-sgd" and "diloco" over whole rounds, of "ps-async" from one update to
// the next.
type Run struct {
	Way     string // strategy, with settings of its own
	Hosts   int
	Batch   int // samples of a step
	Threads int // of each worker
	// Slow holds factors of a worker's passes, and waits in seconds, by rank; nil: none is slowed.
	Slow func(rank int) (factor, wait float64)
	// Job has everything that is neither measured nor described: Strategy, Topology, Plan and settings of the
	// exchange.
	Job simulate.Job
}

// Row is what is predicted of a run.
type Row struct {
	Way     string `json:"strategy"` // strategy, with settings of its own
	Workers int    `json:"workers"`  // replicas
	Threads int    `json:"threads"`  // of each; 0: not told
	Hosts   int    `json:"hosts"`    // that have them
	Batch   int    `json:"batch"`    // global
	Shards  int    `json:"shards"`   // of a batch

	Step       Predicted          `json:"step_ms"`            // the median step of a run, see Run
	IsKnown    bool               `json:"measured,omitempty"` // Step is what the calibration measured
	Rate       float64            `json:"samples_per_second"` // at the median
	Efficiency float64            `json:"efficiency"`         // of the rate of as many that work alone
	Binding    string             `json:"binding"`            // what would shorten the step most
	Terms      map[string]float64 `json:"terms_ms"`           // means over workers, no noise; they add up
	Seconds    float64            `json:"seconds,omitempty"`  // until the samples that were asked for
	Dollars    float64            `json:"dollars,omitempty"`  // for that

	// Other ways to predict the same step, in milliseconds.
	Naive     float64 `json:"naive_ms"`     // computing, then bytes by bandwidth
	Amdahl    float64 `json:"amdahl_ms"`    // by the serial part of two workers
	Gustafson float64 `json:"gustafson_ms"` // likewise
}

// Predicted is a prediction with its 90 % interval.
type Predicted struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Scale  float64 `json:"scale"` // log half width that noise and the model were expected to need
}

// Holds reports whether the interval contains a measurement.
func (p Predicted) Holds(measured float64) bool { return p.Low <= measured && measured <= p.High }

// Miss returns the relative error of the prediction of a measurement.
func (p Predicted) Miss(measured float64) float64 { return p.Median/measured - 1 }

// slice is how long Linux lets a computation run while others wait for its core, in seconds.
const slice = 3e-3

// steps is the number of steps that stand for a run without noise.
const steps = 2

// fewWorkers is a number of workers whose runs are simulated many times.
const fewWorkers = 32

// job completes the job of a run by what is measured and described.
func (in Inputs) job(k *Calibration, r Run) simulate.Job {
	j := r.Job
	j.Add, j.Model = k.Add, k.model()
	j.Network = simulate.Network{Inside: k.Inside.simulated(), Outside: k.Outside.simulated(),
		Group: in.Group, Oversubscription: in.Oversubscription, Crossing: comm.Crossing,
		Unevenness: simulate.Unevenness}
	p := k.PassesAt(float64(r.Batch) / float64(j.Plan.Shards()))
	if shards, workers := j.Plan.Shards(), j.Plan.Workers(); j.Strategy == "ps-async" { // of whole batches
		j.Plan, _ = shard.Cut(shards*workers, workers)
	}
	for rank := range j.Plan.Workers() {
		lo, hi := j.Plan.Run(rank)
		part := float64(hi-lo) / float64(p.Shards)
		own := simulate.Passes{Data: p.Data * part, Forward: p.Forward * part, Backward: p.Backward * part,
			Update: p.Update, Other: p.Other, Threads: float64(max(1, r.Threads))}
		if r.Slow != nil {
			factor, wait := r.Slow(rank)
			own.Forward, own.Backward, own.Data = own.Forward*factor, own.Backward*factor, own.Data+wait
		}
		j.Workers = append(j.Workers, own)
	}
	j.Machines = []simulate.Machine{{Cores: in.Cores, Crowding: k.Crowding, Slice: slice}}
	if in.IsLab {
		j.MachineOf = make([]int, j.Topology.Size())
	}
	return j
}

// Step returns the model's mean step of a run without noise.
func (in Inputs) Step(k *Calibration, r Run) (simulate.Step, error) {
	j, n := in.job(k, r), steps
	if j.Strategy == "ps-async" { // updates come in bursts
		n = 10 * j.Plan.Workers()
	}
	return simulate.Mean(j, n, nil)
}

// step returns its seconds.
func (in Inputs) step(k *Calibration, r Run) (float64, error) {
	s, err := in.Step(k, r)
	return s.Seconds, err
}

// Row predicts a run. two is the same with two workers, by which Amdahl's law is fitted unless the
// calibration has measured it, and alone has one worker without exchange.
func (in Inputs) Row(k *Calibration, r, two, alone Run) (Row, error) {
	j := in.job(k, r)
	s, err := simulate.Mean(j, steps, nil)
	if err != nil {
		return Row{}, err
	}
	row := Row{Way: r.Way, Workers: j.Plan.Workers(), Threads: r.Threads, Hosts: r.Hosts, Batch: r.Batch,
		Shards: j.Plan.Shards(), Terms: map[string]float64{"compute": 1e3 * s.Compute,
			"waiting": 1e3 * s.Waiting, "exposed": 1e3 * s.Exposed, "update": 1e3 * s.Update}}
	binding, err := bindingOf(j, s)
	if err != nil {
		return row, err
	}
	row.Binding = string(binding)
	if row.Step, row.IsKnown, err = in.interval(k, r, j); err != nil {
		return row, err
	}
	single := k.PassesAt(float64(alone.Batch) / float64(alone.Job.Plan.Shards()))
	part := float64(alone.Job.Plan.Shards()) / float64(single.Shards)
	one := (single.Data+single.Forward+single.Backward)*part + single.Update + single.Other
	both, err := in.twoWorkers(k, two)
	if err != nil {
		return row, err
	}
	in.derive(&row, k, one, float64(alone.Batch), both, max(1, r.Threads), s.Bytes)
	return row, nil
}

// twoWorkers returns the step of two workers as it was measured or, if it was not on such a machine, by the
// model.
func (in Inputs) twoWorkers(k *Calibration, two Run) (float64, error) {
	if f := k.fitOf(two.Way, two.Hosts); f != nil && two.Slow == nil && in.Changes == "" {
		return f.Measured / 1e3, nil
	}
	return in.step(k, two)
}

// bindingOf returns what bounds a step. Of many workers only the exchange is looked into, if it is exposed.
func bindingOf(j simulate.Job, s simulate.Step) (simulate.Constraint, error) {
	switch {
	case j.Plan.Workers() <= fewWorkers:
		return simulate.Binding(j)
	case s.Compute >= s.Waiting+s.Exposed:
		return simulate.Compute, nil
	case s.Waiting > s.Exposed:
		return simulate.Slowest, nil
	}
	j.Network.Outside.Byte /= 2
	j.Network.Inside.Byte /= 2
	eased, err := simulate.Mean(j, 1, nil)
	if err != nil || eased.Seconds < s.Seconds-s.Exposed/4 {
		return simulate.Bandwidth, err
	}
	return simulate.Latency, nil
}

// derive fills in what follows from the step: rates, costs, and what simpler formulas say. one is the step
// of a worker alone, of so many samples, both that of two workers.
func (in Inputs) derive(row *Row, k *Calibration, one, samples, both float64, threads int, bytes float64) {
	workers := float64(row.Workers)
	row.Rate = 1e3 * float64(row.Batch) / row.Step.Median
	row.Efficiency = row.Rate / (workers * samples / one)
	if in.Samples > 0 {
		row.Seconds = in.Samples / row.Rate
		row.Dollars = in.Price * float64(row.Hosts) * row.Seconds / 3600
	}
	share, crowd, perByte := one/workers, workers, k.Inside.Byte
	if in.IsWeak {
		share = one
	}
	if in.Network != "" {
		if perByte = k.Outside.Byte; in.Rate > 0 {
			perByte = 8 / in.Rate
		}
		if !in.IsLab {
			crowd = min(workers, float64(in.PerHost))
		}
	}
	if in.Cores > 0 {
		share *= max(1, crowd*float64(threads)/in.Cores) // with cores shared evenly
	}
	row.Naive = 1e3 * (share + bytes/2*perByte)
	if row.Workers == 1 {
		row.Amdahl, row.Gustafson = 1e3*one, 1e3*one
		return
	}
	faster := one / both // of two workers
	if in.IsWeak {
		faster = 2 * one / both
	}
	serial, scaled := min(1, max(0, 2/faster-1)), min(1, max(0, 2-faster))
	work := one
	if in.IsWeak {
		work = workers * one
	}
	row.Amdahl = 1e3 * work * (serial + (1-serial)/workers)
	row.Gustafson = 1e3 * work / (workers - scaled*(workers-1))
}

// coverage is the share of measurements that an interval is to hold.
const coverage = 0.9

// modelError is the log half width of an interval for what the model gets wrong of four workers that was
// fitted to two, as results/predict shows. It grows with the square root of the doublings.
const modelError = 0.1

// interval returns the median step of a run in milliseconds, with the interval in which a measured one is
// expected: as runs differ, as the model may be wrong so far from what was measured and was of the same way
// of two workers, and as the track record asks for. A row that was measured is what was measured.
func (in Inputs) interval(k *Calibration, r Run, j simulate.Job) (p Predicted, isKnown bool, err error) {
	spread := (quantile(k.Runs, (1+coverage)/2, 0) - quantile(k.Runs, (1-coverage)/2, 0)) / 2
	workers, f := j.Plan.Workers(), k.fitOf(r.Way, min(2, r.Hosts))
	isKnown = f != nil && workers == 2 && f.Batch == r.Batch && f.Shards == j.Plan.Shards() &&
		r.Slow == nil && in.Changes == "" && (r.Hosts == 1 || in.IsLab)
	wrong := modelError / 4
	if isKnown {
		p.Median = f.Measured
	} else {
		seconds, err := median(k, j)
		if err != nil {
			return p, false, err
		}
		p.Median = 1e3 * seconds
		wrong = modelError * math.Sqrt(math.Log2(float64(max(2, workers)))/2)
	}
	if f != nil {
		wrong = math.Hypot(wrong, math.Log(f.Model/f.Measured)/2) // half of it was that run's
	}
	p.Scale = math.Hypot(spread, wrong)
	wide := math.Exp(p.Scale * max(cmp.Or(in.Widening, 1), leastWidening))
	p.Low, p.High = p.Median/wide, p.Median*wide
	return p, isKnown, nil
}

// isLoose reports whether workers meet in some steps only, or share them, so that the step of a run is the
// mean.
func isLoose(strategy string) bool {
	return slices.Contains([]string{"local-sgd", "diloco", "ps-async"}, strategy)
}

// median simulates a run with the noise of the calibration and returns its median step, in seconds, or the
// mean one if workers do not meet in every step.
func median(k *Calibration, j simulate.Job) (float64, error) {
	n := 40
	switch p := j.Plan.Workers(); {
	case p > fewWorkers: // the slowest of many is equally slow in every step
		n = 1
	case p > 8:
		n = 10
	}
	draw := func(rank, step int) float64 {
		u := random.Derive(2, uint64(rank), 0).Unit(uint64(step))
		return quantile(k.Step, u, 1)
	}
	run := math.Exp(quantile(k.Runs, 0.5, 0))
	if isLoose(j.Strategy) {
		s, err := simulate.Mean(j, n, draw)
		return s.Seconds * run, err
	}
	played, err := simulate.Steps(j, n, draw)
	var all []float64
	for _, s := range played {
		all = append(all, s.Seconds)
	}
	slices.Sort(all)
	return quantile(all, 0.5, 0) * run, err
}

// quantile returns the value at u of ascending values, linear between two; none if there are none.
func quantile(ascending []float64, u, none float64) float64 {
	if len(ascending) == 0 || slices.ContainsFunc(ascending, math.IsNaN) {
		return none
	}
	position := u * float64(len(ascending)-1)
	i := int(position)
	low, high := ascending[i], ascending[min(i+1, len(ascending)-1)]
	return low + (position-float64(i))*(high-low)
}
