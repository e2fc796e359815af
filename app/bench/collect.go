package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/analysis"
	"lockstep/app/host"
	"lockstep/app/job"
	"lockstep/app/setting"
)

// settingOf is the row's configuration as asked for; what only a run can tell is added by collect.
func settingOf(c setting.Config) analysis.Setting {
	wire := wireOf(c.Workers, c.Strategy, c.Wire)
	return analysis.Setting{
		Wire: wire, IsLossy: setting.IsLossy(wire),
		Model: c.Model, Data: c.Data, Strategy: c.Strategy, Algorithm: c.Algorithm, Link: c.Link,
		Workers: c.Workers, Threads: c.Threads, Batch: c.Batch, Shards: c.Shards, Steps: c.Steps,
		Epochs: c.Epochs, LR: c.Optimizer.LR, Seed: c.Seed,
	}
}

// DescribeHost returns what is known about this machine, as results carry it.
func DescribeHost() analysis.Host {
	h := host.Describe()
	return analysis.Host{Name: h.Name, OS: h.OS, Kernel: h.Kernel, Arch: h.Arch, CPU: h.CPU,
		Cores: h.UsableCores, MemoryBytes: h.MemoryBytes, ISA: h.ISA}
}

// Load returns the mean number of processes that were ready to run in the last minute; 0 where
// the system does not tell.
func Load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	v, _ := strconv.ParseFloat(first, 64) // 0 if it is no number
	return v
}

// line is one line of steps.jsonl: a step of one rank.
type line struct {
	Rank    int                        `json:"rank"`
	Step    int                        `json:"step"`
	Epoch   int                        `json:"epoch"`
	Loss    analysis.Number            `json:"loss"`
	OwnLoss analysis.Number            `json:"own_loss"`
	Samples int                        `json:"samples"`
	Seconds analysis.Number            `json:"seconds"`
	Phases  map[string]analysis.Number `json:"phases"`
}

// collect fills run from the summary and from the raw samples in the run directory, and completes
// the row's setting with what the run resolved.
func collect(run *analysis.Run, row *analysis.Row, c setting.Config, s *job.Summary) error {
	config, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("bench: configuration: %w", err)
	}
	run.Config = config
	run.Seconds, run.Steps, run.Samples = s.Seconds, s.Steps, s.Samples
	run.TrainAccuracy, run.TestAccuracy = optional(s.TrainAccuracy), optional(s.TestAccuracy)
	run.TestSamples = int(s.TestSamples)
	run.BytesSent, run.BytesReceived = s.BytesSent, s.BytesReceived
	run.PeakRSSBytes = s.PeakRSSBytes
	run.Taken = (*analysis.Taken)(s.Taken)
	run.ParameterSHA256, run.ISA = s.ParameterSHA256, s.ISA
	set := &row.Setting
	set.Generated, set.Classes = s.Generated, s.Classes
	set.Algorithm, set.Link = s.Algorithm, s.Link
	set.Threads, set.Shards = s.Threads, s.Shards
	set.Wire = wireOf(s.Workers, s.Strategy, s.Wire)
	set.IsLossy = set.IsLossy || setting.IsLossy(set.Wire) // what "auto" has chosen in any run

	f, err := os.Open(filepath.Join(c.Out, "steps.jsonl"))
	if err != nil {
		return fmt.Errorf("bench: raw samples: %w", err)
	}
	defer f.Close()
	if run.Ranks, err = readSteps(f, set.Workers); err != nil {
		return fmt.Errorf("bench: %s: %w", f.Name(), err)
	}
	if set.Strategy == "none" {
		addShares(run.Ranks)
	}
	run.EpochSeconds = epochSeconds(run.Ranks[0].Steps, int(s.Epochs+1e-9))
	return nil
}

// readSteps sorts the lines of all ranks into columns. Lines of one rank must come in order of
// steps; the lines of several ranks may mix.
func readSteps(r io.Reader, workers int) ([]analysis.Rank, error) {
	ranks := make([]analysis.Rank, workers)
	for i := range ranks {
		ranks[i].Rank = i
		ranks[i].Steps.Phases = map[string]analysis.Numbers{}
	}
	d := json.NewDecoder(bufio.NewReader(r))
	for {
		var l line
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
		if l.Step != len(s.Seconds) {
			return nil, fmt.Errorf("rank %d: step %d, want %d", l.Rank, l.Step, len(s.Seconds))
		}
		appendLine(s, l)
	}
	for _, rank := range ranks {
		n, first := len(rank.Steps.Seconds), len(ranks[0].Steps.Seconds)
		if n != first || n == 0 {
			return nil, fmt.Errorf("rank %d has %d steps, rank 0 has %d", rank.Rank, n, first)
		}
	}
	return ranks, nil
}

func appendLine(s *analysis.Steps, l line) {
	for name, v := range l.Phases {
		if s.Phases[name] == nil {
			// A phase that appears late has had no share before.
			s.Phases[name] = make(analysis.Numbers, len(s.Seconds))
		}
		s.Phases[name] = append(s.Phases[name], float64(v))
	}
	s.Epoch = append(s.Epoch, l.Epoch)
	s.Samples = append(s.Samples, l.Samples)
	s.Loss = append(s.Loss, float64(l.Loss))
	s.OwnLoss = append(s.OwnLoss, float64(l.OwnLoss))
	s.Seconds = append(s.Seconds, float64(l.Seconds))
	for name, v := range s.Phases {
		if len(v) < len(s.Seconds) {
			s.Phases[name] = append(v, 0)
		}
	}
}

// addShares makes the samples of each step those of all workers: workers that never exchange
// know their own share alone.
func addShares(ranks []analysis.Rank) {
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
func epochSeconds(s analysis.Steps, n int) analysis.Numbers {
	sums := make(analysis.Numbers, n)
	for i, epoch := range s.Epoch {
		if epoch < n {
			sums[epoch] += s.Seconds[i]
		}
	}
	return slices.Clip(sums)
}

func optional(v *float64) analysis.Number {
	if v == nil {
		return analysis.Number(math.NaN())
	}
	return analysis.Number(*v)
}
