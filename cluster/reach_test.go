package cluster_test

import (
	"net"
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
