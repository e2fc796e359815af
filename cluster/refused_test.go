//go:build unix

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/cluster"
	"lockstep/cluster/foreign"
)

// A process that may not join is told why at once, and so is the launcher, which goes on waiting for one that
// may. In the end it says whom it refused last.
func TestRefusedProcessesAreToldWhy(t *testing.T) {
	place, member, refused, ended := waitingLauncher(t)
	guest := func(change func(m *cluster.Member)) cluster.Member {
		m := member
		m.Rank = 1
		change(&m)
		return m
	}
	joined := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tests := []struct {
		member cluster.Member
		want   string
	}{
		{guest(func(m *cluster.Member) { m.Token = newToken(t) }), "the token is of another run"},
		{guest(func(m *cluster.Member) { m.Rank = 3 }), "rank 3 of 3 does not belong to this run of 3 "},
		{guest(func(m *cluster.Member) { m.World = 4 }), "rank 1 of 4 does not belong to this run"},
		{guest(func(m *cluster.Member) { m.Generation = 7 }), "rank 1 is of start 7 of the job, this is "},
		{guest(func(m *cluster.Member) {}), "rank 1 has already joined"},
	}
	for i, test := range tests {
		if i == len(tests)-1 { // the rank is to be taken
			go func() {
				_, err := cluster.Join(ctx, guest(func(*cluster.Member) {}), cluster.Hello{})
				joined <- err
			}()
			time.Sleep(100 * time.Millisecond)
		}
		began := time.Now()
		_, err := cluster.Join(t.Context(), test.member, cluster.Hello{})
		var e *cluster.RendezvousError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), test.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("the process got %v, want %q", err, test.want)
		}
		if got := <-refused; !strings.HasPrefix(got.Error(), "refused a process at 127.0.0.1:") ||
			!strings.Contains(got.Error(), test.want) {
			t.Errorf("the launcher says %v, want %q", got, test.want)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%q after %v", test.want, took)
		}
	}
	want := "missing: rank 0, rank 2; refused a process at "
	if err := <-ended; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%d of %d: the launcher ends with %v", place.Rank, place.World, err)
	}
	cancel()
	<-joined
}

// waitingLauncher launches a job of three on several hosts, as which this machine counts, and waits for the
// other two for some seconds.
func waitingLauncher(t *testing.T) (cluster.Place, cluster.Member, <-chan error, <-chan error) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	e := variables(fmt.Sprintf("RANK=0 WORLD_SIZE=3 LOCAL_WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=%d "+
		"LOCKSTEP_TOKEN=%s", port, newToken(t).Reveal()))
	place, err := foreign.Place(e)
	if err != nil {
		t.Fatal(err)
	}
	member, err := place.Member(e)
	if err != nil {
		t.Fatal(err)
	}
	meeting, err := cluster.Host(place, member)
	if err != nil {
		t.Fatal(err)
	}
	dir, refused, ended := t.TempDir(), make(chan error, 16), make(chan error, 1)
	go func() {
		_, err := cluster.Launch(context.Background(), cluster.LaunchConfig{World: 3, Meeting: meeting,
			Command: []string{"sleep", "60"}, JoinTimeout: 2 * time.Second,
			Environment: cluster.ProcessEnvironment(),
			Refused:     func(err error) { refused <- err },
			Log:         func(rank int) string { return filepath.Join(dir, strconv.Itoa(rank)) }})
		meeting.End(4)
		ended <- err
	}()
	return place, member, refused, ended
}
