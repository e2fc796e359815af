package cluster_test

import (
	"io"
	"net"
	"testing"

	"lockstep/cluster"
)

// A worker whose connection was closed before its token was read comes again; one with a token that is
// refused does not.
func TestWorkerComesAgainUntilItIsAnswered(t *testing.T) {
	for _, test := range []struct {
		answers    []string
		isAdmitted bool
	}{
		{[]string{"", "", "ok\n"}, true},
		{[]string{"", "no\n"}, false},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan int)
		go func() {
			n := 0
			for _, answer := range test.answers {
				conn, err := l.Accept()
				if err != nil {
					break
				}
				if n++; answer != "" {
					io.ReadFull(conn, make([]byte, len(cluster.Token(secret).Preamble())))
					io.WriteString(conn, answer)
				}
				conn.Close()
			}
			served <- n
		}()
		err = cluster.Reach(t.Context(), l.Addr().String(), cluster.Token(secret))
		l.Close()
		if (err == nil) != test.isAdmitted {
			t.Errorf("answers %q: %v", test.answers, err)
		}
		if n := <-served; n != len(test.answers) {
			t.Errorf("answers %q: %d calls", test.answers, n)
		}
	}
}
