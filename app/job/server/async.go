package server

import (
	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/comm"
	"lockstep/ps"
)

// updateBook is what server 0 of an asynchronous run writes about its updates.
type updateBook struct {
	*job.Seat
	order    record.Order
	isPrompt bool              // the log keeps nothing back
	log      *rundir.UpdateLog // nil before open, and if that fails
	stat     record.Async
}

// newUpdateBook returns the book of a run whose updates are stale at most by the bound.
func newUpdateBook(s *job.Seat, b Blueprint, bound int) *updateBook {
	c := s.Config
	o := record.Order{Schema: record.Schema, Settings: c.ReplaySettings(), Data: b.Data,
		PerEpoch: c.StepsPerEpoch(b.Samples), Bound: bound}
	if c.For == "" && c.Until == 0 { // else what the run finds out ends it
		o.Steps = c.NumSteps(b.Samples)
	}
	return &updateBook{Seat: s, order: o, isPrompt: c.KeepsCheckpoints(),
		stat: record.Async{Bound: bound,
			Backup: c.BackupWorkers, DividesRate: c.StalenessRate, Replayed: c.Replay != "",
			ByWorker: make([]int, c.Workers)}}
}

// open opens the update log. A log that cannot be written ends no run.
func (k *updateBook) open(int) {
	var err error
	k.log, err = k.Dir.OpenUpdateLog(k.order, k.isPrompt)
	k.Lose(rundir.UpdatesFile, err)
}

// add notes what became of a gradient.
func (k *updateBook) add(u ps.Update) {
	line := record.Update{Update: u.Number, Batch: u.Batch, Worker: u.Worker, Version: u.Version,
		Staleness: u.Staleness, Dropped: u.IsDropped}
	if s := &k.stat; u.IsDropped {
		line.Update = -1
		s.Dropped++
	} else {
		for len(s.Staleness) <= u.Staleness {
			s.Staleness = append(s.Staleness, 0)
		}
		s.Staleness[u.Staleness]++
		s.ByWorker[u.Worker]++
		s.Updates++
		s.Samples += int64(u.Samples)
	}
	if k.log != nil {
		k.Lose(rundir.UpdatesFile, k.log.Add(line))
	}
}

// Close ends the log and tells the launcher what it says.
func (k *updateBook) Close() {
	if k == nil {
		return
	}
	k.Tell(job.Notice{Async: &k.stat})
	if k.log != nil {
		k.Lose(rundir.UpdatesFile, k.log.Close())
	}
}

// ledgerOf returns the configuration of the ledger of a run, with the updates that it repeats, if any.
func ledgerOf(c setting.Config, b Blueprint) (ps.LedgerConfig, error) {
	l := ps.LedgerConfig{Workers: c.Workers, PerEpoch: c.StepsPerEpoch(b.Samples),
		To: c.NumSteps(b.Samples), Staleness: c.StalenessBound(), Backup: c.BackupWorkers,
		Every: c.CheckpointInterval().Steps, Continuous: !c.KeepsCheckpoints() && c.Until == 0}
	if c.For != "" {
		l.To = endless
	}
	if c.Replay == "" {
		return l, nil
	}
	o, updates, err := rundir.ReadUpdates(c.Replay)
	if err != nil {
		return l, setting.Refuse("--replay: %v", err)
	}
	if o.Data != b.Data {
		return l, setting.Refuse("--replay: %s is of a run on other samples: %v, these are %v", c.Replay,
			o.Data, b.Data)
	}
	repeat(&l, o, updates)
	return l, nil
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
		return rank > 0 && rank < c.Workers && c.Replay == ""
	}
}

// PostConfig returns the configuration of the links of a run with servers, in the given start of its job.
func PostConfig(c setting.Config, generation uint32) comm.PostConfig {
	return comm.PostConfig{Timeout: job.Preparing, MayLose: MayLose(c), Generation: generation}
}
