package setting_test

import (
	"strings"
	"testing"

	"lockstep/app/setting"
	"lockstep/cluster"
)

// Processes agree if and only if they were given the same, wherever it was given, but for what is each one's
// own. What differs is named with both values, and a value of any length has a bounded term.
func TestProcessesAgree(t *testing.T) {
	terms := func(flags map[string]string, variables cluster.Environment) map[string]string {
		terms, err := setting.Terms(setting.Source{Flags: flags, Environment: variables})
		if err != nil {
			t.Fatal(err)
		}
		return terms
	}
	rank0 := terms(map[string]string{"seed": "1", "lr": "0.50", "out": "a"}, nil)
	tests := []struct {
		flags map[string]string
		want  string
	}{
		{map[string]string{"lr": "0.5", "batch": "64", "out": "b", "threads": "3"}, ""},
		{map[string]string{"lr": "0.5", "seed": "2"}, "--seed 2 (rank 0: left out)"},
		{map[string]string{"model": "vgg11"},
			"--lr left out (rank 0: 0.5), --model vgg11 (rank 0: left out)"},
		{map[string]string{"lr": "0.5", "resume": "gone"}, "--resume gone (rank 0: left out)"},
	}
	for _, test := range tests {
		if got := setting.Disagreement(terms(test.flags, nil), rank0); got != test.want {
			t.Errorf("%v: %q, want %q", test.flags, got, test.want)
		}
	}
	byVariable := terms(nil, cluster.Environment{"LOCKSTEP_TRAIN_LR": "0.5"})
	if got := setting.Disagreement(byVariable, rank0); got != "" {
		t.Errorf("a variable in place of a flag: %s", got)
	}
	long := func(last string) map[string]string {
		return terms(map[string]string{"weights": strings.Repeat("x", 1<<20) + last}, nil)
	}
	if got := setting.Disagreement(long("a"), long("b")); !strings.HasPrefix(got, `--weights "xxx`) ||
		len(got) > 200 {
		t.Errorf("long values: %q", got)
	}
	if _, err := setting.Terms(setting.Source{Flags: map[string]string{"batch": "many"}}); err == nil {
		t.Error("an invalid value was taken")
	}
}
