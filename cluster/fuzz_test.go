package cluster_test

import (
	"bytes"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"lockstep/cluster"
)

// speaker is a connection whose other side has said all that it will say.
type speaker struct {
	net.Conn // nil: nothing else is called
	said     *bytes.Reader
}

func (s *speaker) Read(b []byte) (int, error)       { return s.said.Read(b) }
func (s *speaker) Write(b []byte) (int, error)      { return len(b), nil }
func (s *speaker) SetDeadline(time.Time) error      { return nil }
func (s *speaker) SetReadDeadline(time.Time) error  { return nil }
func (s *speaker) SetWriteDeadline(time.Time) error { return nil }
func (s *speaker) Close() error                     { return nil }

// FuzzRendezvous says lines to a coordinator that has accepted the token. What strangers say is in package
// pass.
func FuzzRendezvous(f *testing.F) {
	f.Add([]byte(`{"hello":{"rank":1,"world":2}}` + "\n" + `{"progress":{"step":1}}` + "\n"))
	f.Add([]byte(`{"hello":{"rank":2,"world":2}}` + "\n"))
	f.Add([]byte(`{"hello":{"rank":0,"world":2}}` + "\n" + `{"result":[[[1]]]}` + "\n" +
		`{"failure":{}}` + "\n"))
	f.Add([]byte(`{"hello":{"rank":0,"world":2,"generation":7,"key":"AAA="}}` + "\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		isAdmitted, lines := cluster.Attend(&speaker{said: bytes.NewReader(said)})
		if ends := bytes.Count(said, []byte{'\n'}); lines > ends || isAdmitted && ends == 0 {
			t.Fatalf("%d lines of %q", lines, said)
		}
	})
}

// FuzzWelcome answers a worker that joins.
func FuzzWelcome(f *testing.F) {
	f.Add([]byte(`{"welcome":{"addresses":["a","b"],"hosts":["h"],"job":{}}}` + "\n"))
	f.Add([]byte(`{"refused":"full"}` + "\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		err := cluster.Enter(&speaker{said: bytes.NewReader(said)})
		if err == nil && !bytes.Contains(bytes.ToLower(said), []byte("welcome")) {
			t.Fatalf("%q was taken for a welcome", said)
		}
	})
}

// FuzzMember reads a worker's place from its environment.
func FuzzMember(f *testing.F) {
	f.Add("0", "2", "1", "2", "127.0.0.1", "29500", newToken(f).Reveal(), "3")
	f.Add("0", "", "", "2", "::1", "0", "", "")
	f.Fuzz(func(t *testing.T, rank, world, torchRank, torchWorld, host, port, token, segment string) {
		m, err := cluster.Environment{cluster.EnvRank: rank, cluster.EnvWorld: world, "RANK": torchRank,
			"WORLD_SIZE": torchWorld, cluster.EnvMasterAddr: host, cluster.EnvMasterPort: port,
			cluster.EnvToken: token, "LOCKSTEP_SEGMENT": segment}.ResolveMember()
		var wrong *cluster.EnvironmentError
		switch {
		case err != nil && !errors.As(err, &wrong):
			t.Fatalf("%T: %v", err, err)
		case err != nil && len(token) > 8 && strings.Contains(err.Error(), token) && token != host:
			t.Fatalf("the error repeats the token: %v", err)
		case err == nil && (m.Rank < 0 || m.Rank >= m.World || m.Token.IsZero() || host == ""):
			t.Fatalf("%+v", m)
		}
	})
}
