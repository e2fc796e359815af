package cluster_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/cluster"
	"lockstep/cluster/pass"
)

// A worker whose connection was closed before it was answered comes again; one with a token that is refused
// does not.
func TestWorkerComesAgainUntilItIsAnswered(t *testing.T) {
	token := newToken(t)
	ours, err := token.Authority()
	if err != nil {
		t.Fatal(err)
	}
	others, err := pass.NewAuthority(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		answers    []*pass.Authority // nil: none
		isAdmitted bool
	}{
		{[]*pass.Authority{nil, nil, ours}, true},
		{[]*pass.Authority{nil, others}, false},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan int)
		go func() {
			n := 0
			for _, a := range test.answers {
				conn, err := l.Accept()
				if err != nil {
					break
				}
				if n++; a != nil {
					a.Admit(conn)
				}
				conn.Close()
			}
			served <- n
		}()
		err = cluster.Reach(t.Context(), l.Addr().String(), token)
		l.Close()
		if (err == nil) != test.isAdmitted {
			t.Errorf("%d answers: %v", len(test.answers), err)
		}
		if n := <-served; n != len(test.answers) {
			t.Errorf("%d answers: %d calls", len(test.answers), n)
		}
	}
}

// A process that waits for rank 0 says so once, with what is in the way, and goes on trying.
func TestWaitingIsTold(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nobody listens there now
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var told []error
	m := cluster.Member{Rank: 1, World: 2, Address: l.Addr().String(), Token: newToken(t), IsGuest: true}
	m.Waits = func(why error) {
		told = append(told, why)
		time.AfterFunc(200*time.Millisecond, cancel) // ten more attempts
	}
	if _, err := cluster.Join(ctx, m, cluster.Hello{}); err == nil {
		t.Error("joined where nobody listens")
	}
	if len(told) != 1 || !strings.Contains(told[0].Error(), "reach rank 0 at "+m.Address) ||
		!errors.Is(told[0], syscall.ECONNREFUSED) {
		t.Errorf("told %v, want once that rank 0 refuses", told)
	}
}
