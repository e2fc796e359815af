package bench

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"lockstep/app/host"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/data"
)

// DescribeHost returns what is known about this machine, as results carry it.
func DescribeHost() record.Machine { return machineOf(host.Describe()) }

func machineOf(h record.Host) record.Machine {
	return record.Machine{Name: h.Name, OS: h.OS, Kernel: h.Kernel, Arch: h.Arch, CPU: h.CPU,
		Cores: h.UsableCores, MemoryBytes: h.MemoryBytes, ISA: h.ISA}
}

// collect fills run from the summary and from the raw samples in the run directory, and completes
// the row's setting with what the run resolved.
func collect(run *record.Run, row *record.Row, c setting.Config, s *record.Summary) error {
	c = c.Placed(cmp.Or(s.Device, c.Device))
	config, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("bench: configuration: %w", err)
	}
	run.Config = config
	run.Outcome, run.Data = s.Outcome, s.DataSHA256
	if found := s.StrategyChoice; found != nil {
		run.Chosen = found.Chosen
	}
	run.Seed, run.Evaluations, run.TrainSeconds = c.Seed, s.Evaluations, s.TrainSeconds
	if s.Work != nil {
		run.PeakFLOPs = s.Work.Peak
	}
	if s.Async != nil {
		run.Staleness = s.Async.Staleness
	}
	run.BusiestBytes, run.ServerBytes = s.BusiestBytes, s.ServerBytes
	run.BytesVectors, run.Checkpoints = s.BytesVectors, s.Checkpoints
	resolved(&row.Setting, c, s)
	err = collectSteps(run, row.Setting.Workers, c, s)
	if err == nil && c.Duration() > 0 && !c.Averages() { // the number of a step says where workers average
		row.Thin(run)
	}
	return err
}

// checkData returns an error if the samples of a run are not those of the runs of its row so far: they did
// other work. Files may have been changed before a benchmark was resumed, or while it ran.
func checkData(row *record.Row, name string, now record.DataHash) error {
	unknown := record.DataHash{}
	for _, former := range slices.Concat(row.Runs, row.Replaced) {
		if was := former.Data; was != now && was != unknown && now != unknown {
			return &data.FormatError{File: name, Offset: -1,
				Reason: fmt.Sprintf("the data has changed: training and test samples have %v, those of the "+
					"runs so far %v", now, was),
				Next: "put the data back as it was, or begin a benchmark of the new data"}
		}
	}
	return nil
}

// resolved completes a row's setting with what a run of c has resolved.
func resolved(set *record.Setting, c setting.Config, s *record.Summary) {
	set.Generated, set.Classes = s.Generated, s.Classes
	set.Algorithm, set.Link = s.Algorithm, s.Link
	set.Threads, set.Shards = s.Threads, s.Shards
	set.Wire = wireOf(s.Workers, s.Strategy, s.Wire)
	c.Wire = cmp.Or(set.Wire, c.Wire) // what "auto" has chosen in any run
	set.IsLossy = set.IsLossy || setting.IsLossy(set.Wire)
	set.Inexact = cmp.Or(set.Inexact, c.Inexact())
	if s.Weights != nil {
		set.Weights, set.WeightsSHA256 = s.Weights.Path, s.Weights.SHA256
	}
}

// collectSteps reads the raw samples of a run of c.
func collectSteps(run *record.Run, workers int, c setting.Config, s *record.Summary) (err error) {
	if run.Ranks, err = stepsOf(c.Out, workers, s.Async != nil); err != nil {
		return err
	}
	for i := range run.Ranks {
		run.Ranks[i].Hidden = hidden(s.Ranks, i)
		if i < len(s.Ranks) {
			run.Ranks[i].GPU = s.Ranks[i].GPU
			run.Ranks[i].BytesSent, run.Ranks[i].BytesVectors = s.Ranks[i].BytesSent, s.Ranks[i].BytesVectors
		}
	}
	if c.IsIsolated() || c.Averages() {
		addShares(run.Ranks)
	}
	if s.Async == nil { // else no worker sees an epoch
		run.EpochSeconds = epochSeconds(run.Ranks[0].Steps, int(s.Epochs+1e-9))
	}
	return nil
}

// hidden returns the mean seconds of a step in which computation hid communication of a rank; nil if its
// buckets do not tell.
func hidden(ranks []record.RankStat, rank int) *float64 {
	if rank >= len(ranks) || len(ranks[rank].Buckets) == 0 {
		return nil
	}
	sum := 0.0
	for _, b := range ranks[rank].Buckets {
		if b.Hidden == nil {
			return nil
		}
		sum += b.Hidden.StepSeconds
	}
	return &sum
}

// stepsOf reads the steps of a run directory, as readSteps does.
func stepsOf(folder string, workers int, isAsync bool) ([]record.Rank, error) {
	f, err := os.Open(filepath.Join(folder, rundir.StepsFile))
	if err != nil {
		return nil, fmt.Errorf("bench: raw samples: %w", err)
	}
	defer f.Close()
	ranks, err := readSteps(f, workers, isAsync)
	if err != nil {
		return nil, fmt.Errorf("bench: %s: %w", f.Name(), err)
	}
	return ranks, nil
}

// readSteps sorts the lines of all ranks into columns. Lines of one rank must come in order of
// steps; the lines of several ranks may mix. Every rank has every step, unless workers are asynchronous and
// share them.
func readSteps(r io.Reader, workers int, isAsync bool) ([]record.Rank, error) {
	ranks := make([]record.Rank, workers)
	for i := range ranks {
		ranks[i].Rank = i
		ranks[i].Steps.Phases = map[string]record.Numbers{}
	}
	d := json.NewDecoder(bufio.NewReader(r))
	for {
		var l record.Step
		err := d.Decode(&l)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if l.Rank < 0 || l.Rank >= workers {
			return nil, fmt.Errorf("rank %d of %d workers", l.Rank, workers)
		}
		s := &ranks[l.Rank].Steps
		if l.Step != len(s.Seconds) && !isAsync {
			return nil, fmt.Errorf("rank %d: step %d, want %d", l.Rank, l.Step, len(s.Seconds))
		}
		appendLine(s, l)
	}
	for i, rank := range ranks {
		ranks[i].Steps.OmitZeros()
		n, first := len(rank.Steps.Seconds), len(ranks[0].Steps.Seconds)
		if (n != first || n == 0) && !isAsync {
			return nil, fmt.Errorf("rank %d has %d steps, rank 0 has %d", rank.Rank, n, first)
		}
	}
	return ranks, nil
}

func appendLine(s *record.Steps, l record.Step) {
	for name, v := range l.Phases.ByName() {
		s.Phases[name] = append(s.Phases[name], v)
	}
	s.Epoch = append(s.Epoch, l.Epoch)
	s.Samples = append(s.Samples, l.Samples)
	s.Loss = append(s.Loss, float64(l.Loss))
	s.OwnLoss = append(s.OwnLoss, float64(l.OwnLoss))
	s.Seconds = append(s.Seconds, float64(l.Seconds))
	s.Usage = append(s.Usage, l.UsageSeconds)
	s.CPU = append(s.CPU, l.CPUSeconds)
	s.RSS = append(s.RSS, float64(l.RSSBytes))
	s.GPU = append(s.GPU, float64(l.GPUBytes))
	s.Sent = append(s.Sent, float64(l.BytesSent))
	s.Received = append(s.Received, float64(l.BytesReceived))
	s.Shards = append(s.Shards, l.Shards)
	s.AddParts(l.Parts)
}

// addShares replaces the samples of each step by the sum over all workers, because workers that
// exchange nothing in a step report only their own.
func addShares(ranks []record.Rank) {
	for i := range ranks[0].Steps.Samples {
		sum := 0
		for _, rank := range ranks {
			sum += rank.Steps.Samples[i]
		}
		for _, rank := range ranks {
			rank.Steps.Samples[i] = sum
		}
	}
}

// epochSeconds sums the step times of each of the first n epochs, those that were completed.
func epochSeconds(s record.Steps, n int) record.Numbers {
	sums := make(record.Numbers, n)
	for i, epoch := range s.Epoch {
		if 0 <= epoch && epoch < n {
			sums[epoch] += s.Seconds[i]
		}
	}
	return slices.Clip(sums)
}
