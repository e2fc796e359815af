package cluster_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"lockstep/cluster"
	"lockstep/cluster/pass"
)

// newToken returns a token that all processes of a test may have.
func newToken(t testing.TB) pass.Token {
	t.Helper()
	token, err := pass.NewToken(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestResolveMember(t *testing.T) {
	token := newToken(t)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token.Reveal()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := cluster.Environment{
		"LOCKSTEP_RANK": "1", "LOCKSTEP_WORLD": "3", "LOCKSTEP_TOKEN": token.Reveal(),
		"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500",
	}
	tests := []struct {
		name   string
		change cluster.Environment
		want   []string // parts of the error; none: no error
	}{
		{"ours", nil, nil},
		{"both agree", cluster.Environment{"RANK": "1", "WORLD_SIZE": "3"}, nil},
		{"torchrun's", cluster.Environment{"LOCKSTEP_RANK": "", "LOCKSTEP_WORLD": "",
			"RANK": "1", "WORLD_SIZE": "3"}, nil},
		{"ranks differ", cluster.Environment{"RANK": "2"}, []string{"LOCKSTEP_RANK=1", "RANK=2"}},
		{"worlds differ", cluster.Environment{"WORLD_SIZE": "4"},
			[]string{"LOCKSTEP_WORLD=3", "WORLD_SIZE=4"}},
		{"no rank", cluster.Environment{"LOCKSTEP_RANK": ""}, []string{"LOCKSTEP_RANK or RANK"}},
		{"not a number", cluster.Environment{"LOCKSTEP_RANK": "x"}, []string{`LOCKSTEP_RANK="x"`}},
		{"rank too large", cluster.Environment{"LOCKSTEP_RANK": "3"}, []string{"rank 3", "0 to 2"}},
		{"no host", cluster.Environment{"MASTER_ADDR": ""}, []string{"MASTER_ADDR"}},
		{"no port", cluster.Environment{"MASTER_PORT": "0"}, []string{"MASTER_PORT"}},
		{"token in a file", cluster.Environment{"LOCKSTEP_TOKEN": "", "LOCKSTEP_TOKEN_FILE": file}, nil},
		{"no token", cluster.Environment{"LOCKSTEP_TOKEN": ""},
			[]string{"export LOCKSTEP_TOKEN=$(lockstep token)"}},
		{"two tokens", cluster.Environment{"LOCKSTEP_TOKEN_FILE": file}, []string{"unset one"}},
		{"no such file", cluster.Environment{"LOCKSTEP_TOKEN": "", "LOCKSTEP_TOKEN_FILE": file + "x"},
			[]string{"LOCKSTEP_TOKEN_FILE", "tokenx"}},
		{"a file without end", cluster.Environment{"LOCKSTEP_TOKEN": "", "LOCKSTEP_TOKEN_FILE": "/dev/zero"},
			[]string{"more than 4096 bytes"}},
		{"bad generation", cluster.Environment{"LOCKSTEP_GENERATION": "-1"}, []string{"LOCKSTEP_GENERATION"}},
		{"bad token", cluster.Environment{"LOCKSTEP_TOKEN": "topsecret"},
			[]string{"LOCKSTEP_TOKEN", "lockstep token"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, err := full.With(test.change).ResolveMember()
			if len(test.want) == 0 {
				want := cluster.Member{Rank: 1, World: 3, Address: "127.0.0.1:29500", Token: token}
				if err != nil || !reflect.DeepEqual(m, want) {
					t.Fatalf("got %+v, %v, want %+v", m, err, want)
				}
				return
			}
			var e *cluster.EnvironmentError
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an EnvironmentError", err)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not name %q", err, part)
				}
			}
			if strings.Contains(err.Error(), "topsecret") {
				t.Errorf("%q repeats the token", err)
			}
		})
	}
}

// A restarted job has another generation, by our variable or torchrun's.
func TestGeneration(t *testing.T) {
	full := cluster.Environment{"LOCKSTEP_RANK": "0", "LOCKSTEP_WORLD": "1", "MASTER_ADDR": "127.0.0.1",
		"LOCKSTEP_CONTROL": "3"}
	for want, e := range []cluster.Environment{{}, {"TORCHELASTIC_RESTART_COUNT": "1"},
		{"LOCKSTEP_GENERATION": "2", "TORCHELASTIC_RESTART_COUNT": "7"}} {
		m, err := full.With(e).ResolveMember()
		if err != nil || m.Generation != uint32(want) {
			t.Errorf("%v: got %d, %v, want %d", e, m.Generation, err, want)
		}
	}
}

// variables turns "A=1 B=2" into an environment.
func variables(text string) cluster.Environment {
	e := cluster.Environment{}
	for pair := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(pair, "=")
		e[name] = value
	}
	return e
}
