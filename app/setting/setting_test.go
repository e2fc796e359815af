package setting_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lockstep/app/setting"
	"lockstep/cluster"
)

// A configuration keeps all its values in JSON, by the names of its flags, and reads what older versions
// wrote.
func TestConfigInJSON(t *testing.T) {
	want, _, err := setting.Resolve(setting.Source{Flags: map[string]string{"optimizer": "adamw", "lr": "0.1",
		"beta1": "0.8", "beta2": "0.95", "eps": "1e-6", "decay": "matrices",
		"groups":   "*.bias=2,0;fc*=1,0.5,3",
		"schedule": "step", "milestones": "1.5,3", "gamma": "0.5", "scale-lr": "sqrt,64", "steps": "7",
		"lookahead": "5,0.5", "until": "accuracy=0.9", "triangle": "0.2,0.3,0", "limit-train": "all",
		"memory": "1MiB", "seed": "18446744073709551615"}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got setting.Config
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read back differs (-written +read):\n%s\n%s", diff, text)
	}
	for _, part := range []string{`"lr":0.1`, `"groups":"*.bias=2,0;fc*=1,0.5,3"`, `"until":"accuracy=0.9"`,
		`"limit-train":-1`, `"memory":1048576`, `"decay":"matrices"`, `"milestones":"1.5,3"`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
	plain, err := json.Marshal(setting.Default())
	if err != nil || !json.Valid(plain) || strings.Contains(string(plain), "beta1") {
		t.Errorf("an open setting is written as a value: %s, %v", plain, err)
	}
	older := setting.Default()
	if err := json.Unmarshal([]byte(`{"lr":0.5,"gone":1,"groups":"","until":"","lookahead":"2,0.5"}`),
		&older); err != nil {
		t.Fatal(err)
	}
	if older.Optimizer.LR != 0.5 || older.Lookahead.Every != 2 || older.Optimizer.Name != "sgd" {
		t.Errorf("read %+v from an older version", older)
	}
}

// A setting that is given and that the strategy lacks is named; one that is not given is not.
func TestIdleSettings(t *testing.T) {
	for _, test := range []struct {
		flags map[string]string
		want  string // the only line; "": none
	}{
		{map[string]string{"bucket": "4KiB", "workers": "2"}, ""},
		{map[string]string{"bucket": "4KiB", "workers": "2", "strategy": "all-reduce"},
			"--bucket has no effect: it is for --strategy ddp or ps or ps-async or auto, not all-reduce"},
		{map[string]string{"rebalance": "true"},
			"--rebalance has no effect: it is for --strategy gather-scatter or all-reduce or ddp, not " +
				"single"},
	} {
		c, origins, err := setting.Resolve(setting.Source{Flags: test.flags})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.Idle(origins), "; "); got != test.want {
			t.Errorf("%v: %q, want %q", test.flags, got, test.want)
		}
	}
	wire := cluster.Environment{"LOCKSTEP_TRAIN_OUTER_LR": "1"}
	c, origins, err := setting.Resolve(setting.Source{Environment: wire})
	if got := strings.Join(c.Idle(origins), "; "); err != nil ||
		got != "LOCKSTEP_TRAIN_OUTER_LR has no effect: it is for --strategy diloco, not single" {
		t.Errorf("a variable: %q, %v", got, err)
	}
}
