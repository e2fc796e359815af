package job

import (
	"io"
	"testing"

	"lockstep/cluster"
	"lockstep/comm"
)

// A worker whose peer went away is a witness; one whose peer runs another collective has failed itself.
func TestWitnessesAreToldFromCulprits(t *testing.T) {
	lost := &comm.PeerError{Rank: 3, Op: comm.AllReduce, Err: io.EOF}
	mismatched := &comm.PeerError{Rank: 3, Op: comm.AllReduce,
		Err: &comm.MismatchError{Own: "all-reduce 1", Peer: "barrier 1"}}
	for err, want := range map[error]cluster.Failure{
		lost:       {Status: ExitPeerLost, Text: lost.Error(), Noticed: true, Lost: 3},
		mismatched: {Status: ExitPeerLost, Text: mismatched.Error()},
	} {
		if got := failureOf(err); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// A survivor ends with the status of a lost peer, whatever status the one that failed has.
func TestSurvivorsHaveTheirOwnStatus(t *testing.T) {
	culprit := cluster.WorkerError{Rank: 1, Status: ExitData, Reported: true}
	if got := ExitCode(&culprit); got != ExitData {
		t.Errorf("the launcher ends with %d, want %d", got, ExitData)
	}
	if got := ExitCode(&cluster.VerdictError{Worker: culprit}); got != ExitPeerLost {
		t.Errorf("a survivor ends with %d, want %d", got, ExitPeerLost)
	}
	if got := ExitCode(&cluster.CutOffError{}); got != ExitPeerLost {
		t.Errorf("a worker that is cut off ends with %d, want %d", got, ExitPeerLost)
	}
}
