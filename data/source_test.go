package data

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
)

// Of several errors it is that of the first number, however many goroutines there are; each number is called
// once, and a context ends the calls.
func TestForAll(t *testing.T) {
	const n = 300
	for first := range n {
		err := forAll(t.Context(), n, func(i int) error {
			if i >= first {
				return fmt.Errorf("number %d", i)
			}
			return nil
		})
		if want := fmt.Sprint("number ", first); err == nil || err.Error() != want {
			t.Fatalf("error %v, want %s", err, want)
		}
	}
	var calls [n]atomic.Int64
	if err := forAll(t.Context(), n, func(i int) error { calls[i].Add(1); return nil }); err != nil {
		t.Error(err)
	}
	for i := range calls {
		if calls[i].Load() != 1 {
			t.Errorf("number %d is called %d times", i, calls[i].Load())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var called atomic.Int64
	err := forAll(ctx, 1e6, func(int) error { called.Add(1); cancel(); return nil })
	if !errors.Is(err, context.Canceled) || called.Load() > 1000 {
		t.Errorf("error %v after %d calls", err, called.Load())
	}
}
