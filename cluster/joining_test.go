//go:build unix

package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/cluster"
)

// A worker that is killed or stopped before all have joined is named, with what happened to it, before the
// others have waited in vain.
func TestLaunchNamesWhoEndsBeforeAllHaveJoined(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{
		"killed waiting":  "was killed by signal SIGKILL before its first report",
		"stopped at once": "is stopped by a signal and has given no sign of life for 2.25s before its first",
	} {
		_, err := launch(t, t.Context(), how, 3)
		var e *cluster.WorkerError
		if !errors.As(err, &e) || e.Rank != 1 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want that rank 1 %s", how, err, want)
		}
	}
}

// hostHere launches a run of two of this machine, whose rank 1 is a guest that is still to come. Rank 0 does
// not end by itself.
func hostHere(t *testing.T, ctx context.Context, agree func(json.RawMessage) string) (
	guest cluster.Member, refused <-chan error, ended <-chan error) {
	t.Helper()
	place, member := meetHere(t)
	meeting, err := cluster.Host(place, member)
	if err != nil {
		t.Fatal(err)
	}
	meeting.Agree = agree
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, why, done := t.TempDir(), make(chan error, 16), make(chan error, 1)
	go func() {
		_, err := cluster.Launch(ctx, cluster.LaunchConfig{World: 2, Command: []string{self},
			Meeting:     meeting,
			Environment: cluster.ProcessEnvironment().With(cluster.Environment{behaviour: "waits"}),
			JoinTimeout: 20 * time.Second, Refused: func(err error) { why <- err },
			Log: func(rank int) string { return filepath.Join(dir, strconv.Itoa(rank)) }})
		meeting.End(4)
		done <- err
	}()
	member.Rank = 1
	return member, why, done
}

// A guest that comes when the run is ending does not keep it: it hears of the end, or was just in time.
func TestGuestsThatComeAtTheEnd(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	guest, _, ended := hostHere(t, ctx, nil)
	joined := make(chan error, 1)
	stop()
	go func() {
		session, err := cluster.Join(t.Context(), guest, cluster.Hello{})
		if err == nil {
			session.Close()
			err = &cluster.EndedError{}
		}
		joined <- err
	}()
	select {
	case err := <-ended:
		var e *cluster.StopError
		if !errors.As(err, &e) {
			t.Errorf("the launcher got %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the launcher does not end")
	}
	var over *cluster.EndedError
	if err := <-joined; !errors.As(err, &over) {
		t.Errorf("the guest got %v", err)
	}
}

// A guest of another job is told so, and so is the launcher, which goes on waiting for its own.
func TestGuestsOfAnotherJob(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	guest, refused, ended := hostHere(t, ctx, func(terms json.RawMessage) string {
		if string(terms) == `"seed 1"` {
			return ""
		}
		return string(terms)
	})
	_, err := cluster.Join(t.Context(), guest, cluster.Hello{PID: 7, Host: "here",
		Terms: json.RawMessage(`"seed 2"`)})
	const want = `rank 1 (pid 7 on here) is of another job: "seed 2"`
	var e *cluster.RendezvousError
	if !errors.As(err, &e) || !strings.HasSuffix(err.Error(), "refused: "+want) {
		t.Errorf("the guest got %v", err)
	}
	if why := <-refused; why.Error() != "refused a process: "+want {
		t.Errorf("the launcher says %v", why)
	}
	session, err := cluster.Join(t.Context(), guest, cluster.Hello{Terms: json.RawMessage(`"seed 1"`)})
	if err != nil {
		t.Fatal(err)
	}
	session.Fail(cluster.Failure{Status: 3}, nil)
	session.Close() // before the meeting ends, which kills who stays
	<-ended
}
