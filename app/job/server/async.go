package server

import (
	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/comm"
	"lockstep/ps"
)

// count counts in a what became of a gradient.
func count(a *record.Async, u ps.Update) {
	if u.IsDropped {
		a.Dropped++
		return
	}
	for len(a.Staleness) <= u.Staleness {
		a.Staleness = append(a.Staleness, 0)
	}
	a.Staleness[u.Staleness]++
	a.ByWorker[u.Worker]++
	a.Updates++
	a.Samples += int64(u.Samples)
}

// ledgerOf returns the configuration of the ledger of a run.
func ledgerOf(c setting.Config, b Blueprint) ps.LedgerConfig {
	l := ps.LedgerConfig{Workers: c.Workers, PerEpoch: c.StepsPerEpoch(b.Samples),
		To: c.NumSteps(b.Samples), Staleness: c.StalenessBound(), Backup: c.BackupWorkers,
		Every: c.CheckpointInterval().Steps, Continuous: !c.KeepsCheckpoints() && c.Until == 0}
	if c.For != "" {
		l.To = endless
	}
	return l
}

// endless is the number of batches of a run whose length is a time.
const endless = 1 << 30

// MayLose returns which ranks a run of c can go on without: asynchronous workers, but for rank 0, which
// evaluates and saves, and those with a server; nil if it needs all.
func MayLose(c setting.Config) func(rank int) bool {
	if !c.IsAsync() {
		return nil
	}
	return func(rank int) bool {
		for s := range c.NumServers() {
			if c.ServerRank(s) == rank {
				return false
			}
		}
		return rank > 0 && rank < c.Workers
	}
}

// PostConfig returns the configuration of the links of a run with servers, in the given start of its job.
func PostConfig(c setting.Config, generation uint32) comm.PostConfig {
	return comm.PostConfig{Timeout: job.Preparing, MayLose: MayLose(c), Generation: generation}
}
