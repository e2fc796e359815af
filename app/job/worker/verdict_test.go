package worker

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/app/job"
	"lockstep/cluster"
)

// A worker in the middle of a long step writes down why the run ends, and ends with the status of a lost
// peer. One that ends by itself, or is asked to stop, is left alone.
func TestAWorkerEndsInTheMiddleOfAStep(t *testing.T) {
	verdict := &cluster.VerdictError{Worker: cluster.WorkerError{Rank: 2, PID: 7, Host: "b",
		Signal: "SIGKILL", Step: 4, Phase: "backward"}}
	const line = "lockstep: rank 1: the run has ended: rank 2 (pid 7 on b) was killed by signal SIGKILL " +
		"after step 4, phase backward\n"
	for name, c := range map[string]struct {
		cause  error
		step   time.Duration // how long it goes on
		status int           // 0: it is not ended
		log    string
	}{
		"a long step":     {verdict, time.Minute, job.ExitPeerLost, line},
		"a short one":     {verdict, 100 * time.Millisecond, 0, ""},
		"cut off":         {&cluster.CutOffError{Rank: 1}, time.Minute, job.ExitPeerLost, ""},
		"asked to stop":   {cluster.ErrStopped, time.Minute, 0, ""},
		"the run is over": {context.Canceled, time.Minute, 0, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			var log bytes.Buffer
			status := 0
			stop := outlast(ctx, 1, &log, func(s int) { status = s })
			cancel(c.cause)
			time.Sleep(c.step)
			stop()
			if status != c.status || c.log != "" && log.String() != c.log {
				t.Errorf("%s: status %d, log %q; want %d, %q", name, status, log.String(), c.status, c.log)
			}
		})
	}
}
