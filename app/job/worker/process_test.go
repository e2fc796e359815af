package worker

import (
	"io"
	"testing"

	"lockstep/app/job"
	"lockstep/cluster"
	"lockstep/comm"
)

// A worker whose peer went away is a witness; so is one of two in different collectives, and one that was
// told of them: each says what it was in.
func TestWitnessesSayWhatTheyWereIn(t *testing.T) {
	lost := &comm.PeerError{Rank: 3, Op: comm.AllReduce, Err: io.EOF}
	mismatched := &comm.PeerError{Rank: 3, Op: comm.AllReduce,
		Err: &comm.MismatchError{Own: "all-reduce 1", Peer: "barrier 1"}}
	told := &comm.PeerError{Rank: 2, Op: comm.AllReduce, Err: &comm.ReportError{From: 3, IsMismatch: true},
		Wait: &comm.Wait{Op: comm.AllReduce, Number: 1, Name: "bucket 0", Bytes: 8}}
	for err, want := range map[error]cluster.Failure{
		lost: {Status: job.ExitPeerLost, Text: lost.Error(), Noticed: true, Lost: 3},
		mismatched: {Status: job.ExitPeerLost, Text: mismatched.Error(), Noticed: true, Lost: 3,
			In: "all-reduce 1"},
		told: {Status: job.ExitPeerLost, Text: told.Error(), Noticed: true, Lost: 2,
			In: "all-reduce 1 (bucket 0, 8 bytes)"},
	} {
		if got := failureOf(err); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// A survivor ends with the status of a lost peer, whatever status the one that failed has.
func TestSurvivorsHaveTheirOwnStatus(t *testing.T) {
	culprit := cluster.WorkerError{Rank: 1, Status: job.ExitData, Reported: true}
	if got := job.ExitCode(&culprit); got != job.ExitData {
		t.Errorf("the launcher ends with %d, want %d", got, job.ExitData)
	}
	if got := job.ExitCode(&cluster.VerdictError{Worker: culprit}); got != job.ExitPeerLost {
		t.Errorf("a survivor ends with %d, want %d", got, job.ExitPeerLost)
	}
	if got := job.ExitCode(&cluster.CutOffError{}); got != job.ExitPeerLost {
		t.Errorf("a worker that is cut off ends with %d, want %d", got, job.ExitPeerLost)
	}
}
