package worker

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"lockstep/comm"
)

// A worker whose own server fails finds its links closed; the error to tell is the server's.
func TestErrorOfAServerIsTheCause(t *testing.T) {
	broken := errors.New("server 0: broken")
	closed := fmt.Errorf("exchange of weights: %w", comm.ErrClosed)
	for _, test := range []struct{ server, worker, want error }{
		{broken, closed, broken},
		{broken, context.Canceled, context.Canceled},
		{closed, closed, closed},
		{nil, closed, closed},
		{broken, nil, nil},
	} {
		if got := (&served{err: test.server}).because(test.worker); got != test.want {
			t.Errorf("server %v, worker %v: got %v", test.server, test.worker, got)
		}
	}
	if got := (*served)(nil).because(closed); got != closed {
		t.Errorf("without servers: got %v", got)
	}
}
