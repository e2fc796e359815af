//go:build unix

package shm_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lockstep/comm"
	"lockstep/comm/shm"
)

// isChild makes the test binary rank 2 of 3, with the segment as descriptor 3, for tests that end
// a process.
var isChild = flag.Bool("child", false, "be the last rank of a group")

func TestMain(m *testing.M) {
	flag.Parse()
	if *isChild {
		if err := child(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// child takes part in one all-reduce, reports it on stdout and then sleeps until it is killed.
func child() error {
	g, err := join(os.NewFile(3, "segment"), 2, time.Minute)
	if err != nil {
		return err
	}
	out := [][]float32{make([]float32, 1000)}
	if err := g.AllReduce(out[0], out); err != nil {
		return err
	}
	fmt.Println("ready")
	time.Sleep(time.Minute)
	return nil
}

func join(f *os.File, rank int, timeout time.Duration) (*comm.Group, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	mesh, err := shm.Connect(ctx, f, rank)
	if err != nil {
		return nil, err
	}
	return comm.NewGroup(mesh, comm.Config{Timeout: timeout})
}

// With two ranks here and one in a process that is killed or stopped, both ranks here name it and
// the operation: at once if it is killed, after the time-out if it is stopped.
func TestSurvivorsOfAProcess(t *testing.T) {
	const timeout = time.Second
	for _, test := range []struct {
		signal   syscall.Signal
		min, max time.Duration
	}{
		{syscall.SIGKILL, 0, timeout / 2},
		{syscall.SIGSTOP, timeout / 2, 10 * timeout},
	} {
		errs, elapsed := survive(t, test.signal, timeout)
		for r, err := range errs {
			var lost *comm.PeerError
			if !errors.As(err, &lost) || lost.Op != comm.AllReduce || lost.Rank != 2 {
				t.Errorf("%v: rank %d got %v, want a loss of rank 2 in all-reduce", test.signal, r, err)
			}
		}
		if elapsed < test.min || elapsed > test.max {
			t.Errorf("%v: noticed after %v, want %v to %v", test.signal, elapsed, test.min, test.max)
		}
	}
}

// survive returns the errors of ranks 0 and 1 after rank 2 was sent the signal, and the time from
// the signal to the last of them.
func survive(t *testing.T, signal syscall.Signal, timeout time.Duration) ([2]error, time.Duration) {
	t.Helper()
	f, err := shm.Create(3)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := exec.Command(os.Args[0], "-child")
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{f}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	var errs [2]error
	var all sync.WaitGroup
	for r := range errs {
		all.Go(func() {
			g, err := join(f, r, timeout)
			if err != nil {
				errs[r] = err
				return
			}
			defer g.Close()
			out := [][]float32{make([]float32, 1000)}
			for errs[r] == nil {
				errs[r] = g.AllReduce(out[0], out)
			}
		})
	}
	io.ReadFull(stdout, make([]byte, len("ready")))
	begin := time.Now()
	cmd.Process.Signal(signal)
	all.Wait()
	return errs, time.Since(begin)
}
