package cluster_test

import (
	"errors"
	"strings"
	"testing"

	"lockstep/cluster"
)

const secret = "00112233445566778899aabbccddeeff"

func TestResolveMember(t *testing.T) {
	full := cluster.Environment{
		"LOCKSTEP_RANK": "1", "LOCKSTEP_WORLD": "3", "LOCKSTEP_TOKEN": secret,
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
		{"bad token", cluster.Environment{"LOCKSTEP_TOKEN": "topsecret"}, []string{"LOCKSTEP_TOKEN"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, err := full.With(test.change).ResolveMember()
			if len(test.want) == 0 {
				want := cluster.Member{Rank: 1, World: 3, Address: "127.0.0.1:29500", Token: secret}
				if err != nil || m != want {
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

func TestTokensDiffer(t *testing.T) {
	a, b := cluster.NewToken(), cluster.NewToken()
	if a == b {
		t.Error("two tokens are equal")
	}
	if _, err := cluster.ParseToken(string(a)); err != nil {
		t.Error(err)
	}
}
