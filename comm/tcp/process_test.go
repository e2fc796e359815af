//go:build unix

package tcp_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lockstep/comm"
	"lockstep/comm/tcp"
)

// childAddrs makes the test binary the last rank of a group, for tests that end a process.
var (
	childAddrs   = flag.String("child", "", "addresses of all ranks, the own one last")
	childStreams = flag.Int("streams", 1, "connections of each of the child's links")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *childAddrs != "" {
		if err := child(strings.Split(*childAddrs, ",")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// child takes part in one all-reduce, reports it on stdout and then sleeps until it is killed.
func child(addrs []string) error {
	l, err := tcp.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	g, err := join3(l, len(addrs)-1, addrs, *childStreams, time.Minute)
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

func join3(l *tcp.Listener, rank int, addrs []string, streams int, timeout time.Duration) (*comm.Group,
	error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	mesh, err := tcp.Connect(ctx, l, tcp.Config{Rank: rank, Addrs: addrs, Token: []byte(token),
		Streams: streams})
	if err != nil {
		return nil, err
	}
	return comm.NewGroup(mesh, comm.Config{Timeout: timeout})
}

// With two ranks here and one in a process that is killed or stopped, both ranks here name it and
// the operation: at once if it is killed, after the time-out if it is stopped.
func TestSurvivorsOfAProcess(t *testing.T) {
	const timeout = time.Second
	tests := []struct {
		signal   syscall.Signal
		streams  int
		min, max time.Duration
		cause    error
	}{
		{syscall.SIGKILL, 1, 0, timeout / 2, nil},
		{syscall.SIGKILL, 4, 0, timeout / 2, nil},
		{syscall.SIGSTOP, 1, timeout / 2, 10 * timeout, comm.ErrTimeout},
		{syscall.SIGSTOP, 4, timeout / 2, 10 * timeout, comm.ErrTimeout},
	}
	for _, test := range tests {
		errs, elapsed := survive(t, test.signal, test.streams, timeout)
		for r, err := range errs {
			var lost *comm.PeerError
			if !errors.As(err, &lost) || lost.Op != comm.AllReduce {
				t.Errorf("%v: rank %d got %v", test.signal, r, err)
				continue
			}
			var report *comm.ReportError
			if test.cause != nil && !errors.As(err, &report) && !errors.Is(err, test.cause) {
				t.Errorf("%v: rank %d got %v, want %v", test.signal, r, err, test.cause)
			}
			if lost.Rank != 2 {
				t.Errorf("%v: rank %d blames rank %d, want 2: %v", test.signal, r, lost.Rank, err)
			}
		}
		if elapsed < test.min || elapsed > test.max {
			t.Errorf("%v: noticed after %v, want %v to %v", test.signal, elapsed, test.min, test.max)
		}
	}
}

// survive returns the errors of ranks 0 and 1 after rank 2 was sent the signal, and the time from
// the signal to the last of them.
func survive(t *testing.T, signal syscall.Signal, streams int, timeout time.Duration) ([2]error,
	time.Duration) {
	t.Helper()
	listeners, addrs := listen(t, 2)
	addrs = append(addrs, "127.0.0.1:1") // the highest rank dials only
	cmd := exec.Command(os.Args[0], "-child", strings.Join(addrs, ","), "-streams",
		fmt.Sprint(streams))
	cmd.Stderr = os.Stderr
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
	for r, l := range listeners {
		all.Go(func() {
			defer l.Close()
			g, err := join3(l, r, addrs, streams, timeout)
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
