package job

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// lastWork is how long a worker may go on with its step after the run has ended because of another. It is
// less than the time after which the launcher kills it.
const lastWork = time.Second

// outlast ends the process of a rank that goes on with its step after the run has ended, or after it was cut
// off: it writes the cause to log, and calls abandon with the status. Stop is to be called when the rank has
// ended by itself.
func outlast(ctx context.Context, rank int, log io.Writer, abandon func(status int)) (stop func()) {
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		cause := context.Cause(ctx)
		if ExitCode(cause) != ExitPeerLost {
			return // it was asked to stop, and may take its time
		}
		select {
		case <-ended:
		case <-time.After(lastWork):
			fmt.Fprintf(log, "lockstep: %v\n", causeOf(rank, cause))
			abandon(ExitPeerLost)
		}
	})
	return func() {
		close(ended)
		watching.Wait()
	}
}
