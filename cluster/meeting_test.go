//go:build unix

package cluster_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lockstep/cluster"
	"lockstep/cluster/foreign"
)

// meetHere returns the place and the membership of rank 0 of two on this machine.
func meetHere(t *testing.T) (cluster.Place, cluster.Member) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	p, err := foreign.Place(variables("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 " +
		"OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=7"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Member(nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, m
}

// A process that comes before rank 0, and one that comes when rank 0 has failed, hear of its status.
func TestMeetingEndsBeforeItBegan(t *testing.T) {
	for name, pause := range map[string]time.Duration{"early": 50 * time.Millisecond, "late": 0} {
		t.Run(name, func(t *testing.T) {
			p, m := meetHere(t)
			joined := make(chan error)
			guest := m
			guest.Rank = 1
			go func() {
				_, err := cluster.Join(t.Context(), guest, cluster.Hello{})
				joined <- err
			}()
			time.Sleep(pause)
			meeting, err := cluster.Host(p, m)
			if err != nil {
				t.Fatal(err)
			}
			meeting.End(7)
			var ended *cluster.EndedError
			if err := <-joined; !errors.As(err, &ended) || ended.Status != 7 {
				t.Errorf("got %v, want an EndedError with status 7", err)
			}
			if _, err := os.Stat(m.Socket); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the socket is still there: %v", err)
			}
		})
	}
}

// The socket of a process that is gone is replaced, that of one that listens is not; those of other jobs that
// are gone for a while are removed.
func TestMeetingTakesTheSocket(t *testing.T) {
	p, m := meetHere(t)
	if err := os.Mkdir(filepath.Dir(m.Socket), 0o700); err != nil {
		t.Fatal(err)
	}
	other, hourAgo := filepath.Join(filepath.Dir(m.Socket), "other.sock"), time.Now().Add(-time.Hour)
	for _, path := range []string{m.Socket, other} {
		gone, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		gone.SetUnlinkOnClose(false)
		gone.Close()
	}
	if err := os.Chtimes(other, hourAgo, hourAgo); err != nil {
		t.Fatal(err)
	}
	meeting, err := cluster.Host(p, m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("the socket of another job that is gone is left")
	}
	var refused *cluster.RendezvousError
	if _, err := cluster.Host(p, m); !errors.As(err, &refused) {
		t.Errorf("a second host: got %v, want a RendezvousError", err)
	}
	go cluster.Join(t.Context(), cluster.Member{Rank: 1, World: 2, Socket: m.Socket, IsGuest: true},
		cluster.Hello{})
	meeting.End(0)
}

// Nobody else may have prepared the folder of the socket.
func TestMeetingRefusesAnOpenFolder(t *testing.T) {
	p, m := meetHere(t)
	if err := os.Mkdir(filepath.Dir(m.Socket), 0o755); err != nil {
		t.Fatal(err)
	}
	var refused *cluster.RendezvousError
	if _, err := cluster.Host(p, m); !errors.As(err, &refused) {
		t.Errorf("got %v, want a RendezvousError", err)
	}
}
