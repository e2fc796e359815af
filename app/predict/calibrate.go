package predict

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"lockstep/app/bench"
	"lockstep/app/evidence/stat"
	"lockstep/app/host"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/forecast"
)

// calibrationRounds are as many as tell something of the spread between runs; a small budget has leastRounds.
const calibrationRounds, leastRounds = 3, 2

// Bounds of a run's steps. The first warmup are not counted.
const (
	warmup     = 2
	leastSteps = 4
	mostSteps  = 400
	startTime  = 600 * time.Millisecond // of a run at least, before its first step
)

// maxShapes is the number of shard sizes that are measured; others are interpolated.
const maxShapes = 3

// plan returns the benchmark of one and two workers that tells what c asks for. Steps of two workers take so
// many seconds, and their start as long.
func (c Config) plan(step float64, start time.Duration) bench.Config {
	all := bench.Config{Cores: host.Cores(), Order: 1}
	shapes, places := c.shapes(), c.places()
	for _, s := range shapes {
		base := c.Base
		base.Shards = s.shards
		all.Parts = append(all.Parts, bench.Part{Base: base, Models: []string{base.Model},
			Strategies: []string{strategy.Single}, Workers: []int{1}, Batches: []int{s.batch}})
	}
	two := c.resolved(strategy.None, 2)
	ways := []string{strategy.None, "all-reduce", strategy.DDP} // the floor, and two ways to exchange
	if !c.resolved("all-reduce", 2).IsTuning() {
		ways = append(ways, "all-reduce:algorithm=auto") // which measures links
	}
	for _, s := range c.Strategies {
		if of := strategy.Named(s); !slices.Contains(ways, s) && !of.IsAlone && !of.IsLoose() {
			ways = append(ways, s)
		}
	}
	for _, at := range places {
		base := c.Base
		base.Shards, base.Link = two.Shards, cmp.Or(at.link, base.Link)
		all.Parts = append(all.Parts, bench.Part{Base: base, Models: []string{base.Model}, Strategies: ways,
			Workers: []int{2}, Batches: []int{two.Batch}, Wires: []string{base.Wire},
			Conditions: at.conditions})
	}
	rows, meeting := len(shapes)+len(places)*len(ways), len(places)*len(ways)
	// One worker takes twice as long, as it has all samples.
	step *= float64(2*len(shapes)+meeting) / float64(rows)
	each := cmp.Or(c.Budget, time.Minute) / time.Duration(rows) // seconds of a row
	least := start + time.Duration(leastSteps*step*float64(time.Second))
	all.Repeats = max(leastRounds, min(calibrationRounds, int(each/least)))
	each = each/time.Duration(all.Repeats) - start
	steps := min(mostSteps, max(leastSteps, warmup+int(each.Seconds()/max(step, 1e-6))))
	for i := range all.Parts {
		short(&all.Parts[i].Base, steps)
	}
	return all
}

// short makes c a run of so many steps without evaluation, files or schedule.
func short(c *setting.Config, steps int) {
	c.Steps, c.Epochs, c.For, c.Until, c.EvalEvery = steps, 0, "", 0, 0
	c.Save, c.Trace, c.CheckpointEvery, c.Resume, c.LimitTest = false, false, "", "", 0
}

// place is where the two workers of a calibration are.
type place struct {
	conditions []bench.Condition // nil: on one machine
	link       string            // "": that of the base
}

// places lists the places whose links are asked for.
func (c Config) places() (all []place) {
	if c.Inputs.Network == "" || c.Inputs.PerHost > 1 {
		all = append(all, place{})
	}
	switch {
	case c.Inputs.Network == "":
	case c.network != nil:
		all = append(all, place{conditions: []bench.Condition{*c.network}})
	default: // without hosts, connections of one machine tell what a byte costs its cores
		all = append(all, place{link: "tcp"})
	}
	return all
}

// shape is a batch as one worker computes it alone.
type shape struct{ batch, shards int }

// shapes lists the shard sizes of the rows that c asks for, with about the base's batch; the smallest, the
// largest and one between if there are many.
func (c Config) shapes() (all []shape) {
	for _, w := range append([]int{1, 2}, c.Workers...) {
		of := c.resolved(strategy.None, w)
		size := max(1, of.Batch/of.Shards)
		n := max(1, c.Base.Batch/size)
		if s := (shape{size * n, n}); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b shape) int { return cmp.Compare(a.batch/a.shards, b.batch/b.shards) })
	if n := len(all); n > maxShapes {
		all = []shape{all[0], all[n/2], all[n-1]}
	}
	return all
}

// calibrationOf reads a calibration out of the results of a benchmark with rows of one and two workers.
func (c Config) calibrationOf(folder string, r *record.Results) (forecast.Calibration, error) {
	k := forecast.Calibration{Machine: MachineKey(r.Host), Cores: r.Host.Cores, Started: r.Started,
		Seconds: r.Seconds, Results: r.Seal, Rounds: r.Ran()}
	rows, other := r.Rows, ""
	if c.From != "" {
		rows, other = c.own(rows)
	}
	var taken, crowding []float64
	for _, row := range rows {
		for _, run := range row.Runs {
			taken = append(taken, run.Taken.Sum())
		}
		if row.Setting.Workers == 1 && !math.IsNaN(rowStep(row)) {
			k.Shapes = append(k.Shapes, passesOf(row, 0))
		}
	}
	if k.Shapes == nil {
		return k, setting.Refuse("%s has no finished row of one worker of %s; want rows single with one "+
			"worker, and none, all-reduce and ddp with two, as of lockstep bench --models %s --strategies "+
			"single,none,all-reduce,ddp --workers 1,2%s", folder, c.Base.Model, c.Base.Model, other)
	}
	alone := onCores(rows[slices.IndexFunc(rows, func(row record.Row) bool {
		return row.Setting.Workers == 1 && !math.IsNaN(rowStep(row))
	})])
	slices.SortFunc(k.Shapes, func(a, b forecast.Passes) int { return cmp.Compare(a.Samples, b.Samples) })
	for _, row := range rows {
		if s := row.Setting; s.Strategy == strategy.None && s.Workers == 2 && !math.IsNaN(rowStep(row)) {
			one := k.PassesAt(float64(s.Batch) / float64(s.Shards))
			for rank := range 2 { // of the time on cores: others that want them are not our workers
				both := passesOf(row, rank)
				each := 2 * (both.Forward + both.Backward) / float64(s.Shards) * onCores(row)
				crowding = append(crowding, each*float64(one.Shards)/(one.Forward+one.Backward)/alone)
			}
		}
	}
	k.Taken = unlessNaN(stat.Median(taken))
	k.Crowding = []float64{1, max(1, unlessNaN(stat.Mean(crowding)))}
	k.Step, k.Runs = noiseOf(rows)
	return k, c.links(&k, folder, rows, other)
}

// own leaves out the rows that tell nothing of what c asks for, and words in what the last of these differs.
func (c Config) own(rows []record.Row) (own []record.Row, other string) {
	for _, row := range rows {
		if text := c.differs(row); text != "" {
			other = "; a row that tells nothing is " + text
		} else {
			own = append(own, row)
		}
	}
	return own, other
}

// differs says in what a row is not of what c asks for; "" if it is, whatever its workers, batch and place.
func (c Config) differs(row record.Row) string {
	s := row.Setting
	of := c.resolved(wayOf(s), s.Workers)
	has := of // by the runs
	has.Wire = cmp.Or(s.Wire, "fp32")
	for _, run := range row.Runs {
		if read := (setting.Config{Catalog: c.Base.Catalog}); json.Unmarshal(run.Config, &read) == nil {
			has = read
		}
	}
	differing := []struct{ of, has, want string }{{"model", s.Model, of.Model}, {"data", s.Data, of.Data},
		{"threads", fmt.Sprint(s.Threads), fmt.Sprint(of.Threads)}, {"program", s.Peer, ""},
		{"slow-worker", s.SlowWorkers, ""}, {"slow-loader", s.SlowLoader, of.SlowLoader.String()}}
	if made := labOf(c.Inputs); s.Condition != "" && (made == nil || made.String() != s.Condition) {
		return fmt.Sprintf("under the condition %.200q", s.Condition)
	}
	if s.Workers > 1 && !of.IsIsolated() {
		differing = append(differing, []struct{ of, has, want string }{
			{"wire", has.GradientWire().String(), of.GradientWire().String()},
			{"bucket", fmt.Sprint(has.Bucket), fmt.Sprint(of.Bucket)},
			{"algorithm", has.Algorithm, of.Algorithm}}...)
	}
	for _, d := range differing {
		if d.has != d.want {
			return fmt.Sprintf("of %s %.80q, not %.80q", d.of, d.has, d.want)
		}
	}
	return ""
}

// wayOf returns the way of a row.
func wayOf(s record.Setting) string {
	if s.Options != "" {
		return s.Strategy + ":" + s.Options
	}
	return s.Strategy
}

func unlessNaN(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// passesOf returns the phases of a step of a rank, at the median over runs of their medians.
func passesOf(row record.Row, rank int) forecast.Passes {
	of := func(phase string) float64 {
		return overRuns(row, func(run record.Run) float64 {
			return stat.Median(settled(run.Ranks[rank].Steps.Phases[phase]))
		})
	}
	s := row.Setting
	return forecast.Passes{Samples: float64(s.Batch) / float64(s.Shards), Shards: s.Shards, Data: of("data"),
		Forward: of("forward"), Backward: of("backward"), Update: of("optimizer"), Other: of("other")}
}

// settled leaves out the first steps, which warm up caches and links.
func settled(steps []float64) []float64 { return steps[min(warmup, max(0, len(steps)-1)):] }

// overRuns returns the median of a figure over the runs of a row; NaN if none succeeded.
func overRuns(row record.Row, of func(record.Run) float64) float64 {
	var all []float64
	for _, run := range row.Runs {
		if run.Error == "" && len(run.Ranks) > 0 {
			all = append(all, of(run))
		}
	}
	return stat.Median(all)
}

// stepOf returns the median step of a run in seconds: of rank 0, or the mean over workers that do not meet.
// Of workers that meet in some steps only, or share them, it is the mean step of the run.
func stepOf(row record.Row, run record.Run) float64 {
	if s := row.Setting; s.Workers > 1 && strategy.Named(s.Strategy).IsLoose() && run.Samples > 0 &&
		s.Strategy != strategy.None {
		return run.TrainSeconds * float64(s.Batch) / float64(run.Samples)
	}
	if !strategy.Named(row.Setting.Strategy).IsFloor {
		return stat.Median(settled(run.Ranks[0].Steps.Seconds))
	}
	var each []float64
	for _, rank := range run.Ranks {
		each = append(each, stat.Median(settled(rank.Steps.Seconds)))
	}
	return stat.Mean(each)
}

// rowStep returns the median over the runs of a row of their median steps, in seconds.
func rowStep(row record.Row) float64 {
	return overRuns(row, func(run record.Run) float64 { return stepOf(row, run) })
}

// noiseOf returns quantiles of steps over the median of their run, of rows without exchange, and the logs of
// the medians of runs over that of their row.
func noiseOf(rows []record.Row) (steps, runs []float64) {
	var all []float64
	for _, row := range rows {
		middle := rowStep(row)
		for _, run := range row.Runs {
			if run.Error != "" || len(run.Ranks) == 0 {
				continue
			}
			runs = append(runs, math.Log(stepOf(row, run)/middle))
			if row.Setting.Workers == 1 || row.Setting.Strategy == strategy.None {
				own := settled(run.Ranks[0].Steps.Seconds)
				for _, s := range own {
					all = append(all, s/stat.Median(own))
				}
			}
		}
	}
	for q := range 21 {
		steps = append(steps, stat.Quantile(all, (float64(q)+0.5)/21)) // the longest stand for themselves
	}
	slices.Sort(runs)
	return steps, runs
}

// links completes k by the rows of two workers: what messages cost, first as groups have measured their links
// and processes their core time, then so that the model's steps are those of the rows.
func (c Config) links(k *forecast.Calibration, folder string, rows []record.Row, other string) error {
	hasNetwork := c.Inputs.Network != ""
	for _, isOutside := range []bool{false, true} {
		var own []record.Row
		for _, row := range rows {
			s := row.Setting
			isThere := hasNetwork && (s.Hosts > 1 || s.Condition != "" || s.Link == "tcp")
			if s.Workers == 2 && isThere == isOutside && !math.IsNaN(rowStep(row)) {
				own = append(own, row)
			}
		}
		isInLab := func(row record.Row) bool { return row.Setting.Condition != "" }
		isLab := slices.ContainsFunc(own, isInLab) // which says more than connections of one machine
		if isLab {
			own = slices.DeleteFunc(own, func(row record.Row) bool { return !isInLab(row) })
		}
		switch isNeeded := isOutside == hasNetwork || c.Inputs.PerHost > 1 && !isOutside; {
		case len(own) == 0 && isNeeded && hasNetwork:
			return setting.Refuse("%s has no row of two workers that tells of a link that is asked for; "+
				"want rows none, all-reduce and ddp with two workers, with --network over --link tcp or in "+
				"a lab of that network, with --per-host also within a host%s", folder, other)
		case len(own) == 0:
			continue
		}
		if err := measureLink(k, isOutside, folder, own); err != nil {
			return err
		}
		l := k.Link(isOutside)
		if isOutside && c.Inputs.Rate > 0 {
			l.Byte = framing * 8 / c.Inputs.Rate
			if isLab {
				l.Byte = labFraming * 8 / c.Inputs.Rate
			}
		}
		if isLab {
			l.Burst = labOf(c.Inputs).Link.Burst()
		}
		if err := c.fit(k, isOutside, own); err != nil {
			return err
		}
		if isOutside && !isLab {
			l.Latency += c.Inputs.Delay
		}
		if !c.Inputs.IsLab { // the network is not that of a lab, in which it was fitted
			l.Burst = 0
			if isLab && c.Inputs.Rate > 0 {
				l.Byte *= framing / labFraming
			}
		}
	}
	if k.Gradient == nil {
		return setting.Refuse("%s has no run of two workers that tells its gradients; want rows all-reduce "+
			"and ddp with two workers, and their run directories%s", folder, other)
	}
	return nil
}

// fit fits the costs of a link to rows of two workers, which share this machine.
func (c Config) fit(k *forecast.Calibration, isOutside bool, rows []record.Row) error {
	here := c
	here.Inputs = forecast.Inputs{PerHost: 2, IsLab: true, Cores: float64(k.Cores)}
	if isOutside {
		here.Inputs.PerHost, here.Inputs.Network = 1, c.Inputs.Network
	}
	var all []forecast.Measured
	for _, row := range rows {
		s := row.Setting
		if strategy.Named(s.Strategy).IsLoose() { // whose workers do not meet in each step
			continue
		}
		way := wayOf(s)
		of := here.resolved(way, 2)
		of.Batch, of.Shards, of.Accumulate = s.Batch, s.Shards, 1
		run, err := here.run(k, of, way)
		if err != nil {
			return err
		}
		all = append(all, forecast.Measured{Run: run, Seconds: rowStep(row)})
	}
	return k.FitLink(isOutside && c.Inputs.Rate > 0, here.Inputs, all)
}

// What packets take of a link over what they carry: of 1,500 bytes, and of 9,000, those of the lab.
const framing, labFraming = 1.045, 1.0075

// Bounds of the core seconds that a byte takes of either end of a link between hosts: less is copying alone,
// and what threads take beyond is polling for messages, which they give up to whoever computes.
const leastCPUByte, mostCPUByte = 1e-9, 2e-9

// measureLink fills a link with what groups measured of theirs, and with the least core time by byte that a
// row takes more than the one without exchange.
func measureLink(k *forecast.Calibration, isOutside bool, folder string, rows []record.Row) error {
	var latency, message, perByte, add []float64
	floor, least := math.NaN(), mostCPUByte
	for _, row := range rows {
		if row.Setting.Strategy == strategy.None {
			floor = coreSeconds(row)
		}
	}
	for _, row := range rows {
		for _, run := range row.Runs {
			s, err := rundir.Directory(filepath.Join(folder, run.Directory)).Summary()
			isRemoved := err != nil
			if isRemoved || run.Error != "" || len(run.Ranks) == 0 || row.Setting.Strategy == strategy.None {
				continue
			}
			if k.Gradient == nil {
				for _, g := range s.Gradients {
					k.Gradient = append(k.Gradient, forecast.Gradient(g))
				}
			}
			if t := s.AlgorithmChoice; t != nil {
				speed := t.Outside
				if speed.Byte == 0 {
					speed = t.Inside
				}
				latency, message = append(latency, speed.Latency), append(message, speed.Message)
				perByte, add = append(perByte, speed.Byte), append(add, t.Add)
			}
			steps := run.Ranks[0].Steps
			sent := stat.Median(settled(steps.Sent))
			if taken := coreSeconds(row) - floor; taken > 0 {
				least = min(least, taken/(sent+stat.Median(settled(steps.Received))))
			}
			if row.Setting.Strategy == "all-reduce" {
				k.RowBytes = rowBytes(k, row, sent)
			}
		}
	}
	if k.Gradient != nil && latency == nil {
		return setting.Refuse("%s has no run of two workers that tells what messages cost; want a row "+
			"all-reduce:algorithm=auto with two workers, and its run directories", folder)
	}
	l := k.Link(isOutside)
	l.Latency, l.Message = unlessNaN(stat.Median(latency)), unlessNaN(stat.Median(message))
	l.Byte, k.Add = unlessNaN(stat.Median(perByte)), unlessNaN(stat.Median(add))
	l.CPUByte, l.CPUMessage = max(leastCPUByte, least), l.Message/2 // a step has one at each end
	if !isOutside {
		l.CPUByte = min(least, l.Byte)
	}
	return nil
}

// rowBytes returns the bytes of a shard's losses and statistics: what one of two workers has sent in a step
// beyond its gradients.
func rowBytes(k *forecast.Calibration, row record.Row, sent float64) float64 {
	gradients := 0.0
	for _, g := range k.Gradient {
		gradients += 4 * float64(g.Len)
	}
	if more := sent - gradients; more > 0 && more < sent/2 { // else each worker sends several pieces
		return more / (float64(row.Setting.Shards) / 2)
	}
	return 4
}

// coreSeconds returns the core time of a worker's step, at the median over runs of the mean over steps.
func coreSeconds(row record.Row) float64 {
	return overRuns(row, func(run record.Run) float64 {
		var all []float64
		for _, rank := range run.Ranks {
			all = append(all, settled(rank.Steps.CPU)...)
		}
		return stat.Mean(all)
	})
}

// onCores returns the part of a row's steps in which its workers had cores; 1 if it is not known.
func onCores(row record.Row) float64 {
	wall := overRuns(row, func(run record.Run) float64 {
		return stat.Mean(settled(run.Ranks[0].Steps.Seconds))
	})
	if part := coreSeconds(row) / (wall * float64(row.Setting.Threads)); part > 0 && part < 1 {
		return part
	}
	return 1
}

// MachineKey names a machine in track records.
func MachineKey(m record.Machine) string {
	return fmt.Sprintf("%s, %s, %d cores, %s", m.Name, m.CPU, m.Cores, m.Arch)
}
