package job

import (
	"context"

	"lockstep/app/setting"
)

// FinishesStep reports whether a run of c that ctx has cancelled first makes the step at hand, to save it.
// Asynchronous workers go on until what is lent is applied.
func FinishesStep(ctx context.Context, c setting.Config) bool {
	return (c.KeepsCheckpoints() || c.IsAsync()) && IsInterrupt(context.Cause(ctx))
}

// WhenCancelled arranges for f to be called once ctx ends. The function it returns undoes that,
// or waits for f.
func WhenCancelled(ctx context.Context, f func()) (undo func()) {
	called := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(called)
		f()
	})
	return func() {
		if !stop() {
			<-called
		}
	}
}
