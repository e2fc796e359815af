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

// A setting that is given and changes nothing is named; one that is not given, or has an effect, is not.
func TestIdleSettings(t *testing.T) {
	for _, test := range []struct {
		flags map[string]string
		want  string // the only line; "": none
	}{
		{map[string]string{"data": "cifar10", "size": "64"},
			"--size has no effect: all images of cifar10 have the same size"},
		{map[string]string{"data": "synthetic", "size": "64"}, ""},
		{map[string]string{"optimizer": "adamw", "momentum": "0.9"},
			"--momentum has no effect: --optimizer adamw has none"},
		{map[string]string{"optimizer": "muon", "momentum": "0.9"}, ""},
		{map[string]string{"beta1": "0.8"}, "--beta1 has no effect: --optimizer sgd has none"},
		{map[string]string{"optimizer": "lamb", "eps": "1e-7"}, ""},
		{map[string]string{"triangle": "0,0.2,0"},
			"--triangle has no effect: it is for --schedule triangle, not constant"},
		{map[string]string{"gamma": "0.5", "schedule": "cosine"},
			"--gamma has no effect: it is for --schedule step, not cosine"},
		{map[string]string{"gamma": "0.5", "schedule": "step"}, ""},
		{map[string]string{"wire": "bf16"}, "--wire has no effect: one worker exchanges nothing"},
		{map[string]string{"wire": "bf16", "workers": "2", "strategy": "none"},
			"--wire has no effect: workers of --strategy none exchange nothing"},
		{map[string]string{"wire": "bf16", "workers": "2"}, ""},
		{map[string]string{"bucket": "4KiB", "workers": "2", "strategy": "all-reduce"},
			"--bucket has no effect: --strategy all-reduce has no buckets"},
		{map[string]string{"algorithm": "ring", "workers": "2", "strategy": "gather-scatter"},
			"--algorithm has no effect: --strategy gather-scatter has an algorithm of its own"},
		{map[string]string{"sequence": "64"}, "--sequence has no effect: lenet reads images"},
		{map[string]string{"label-column": "bar", "model": "bert-tiny", "data": "sst2"},
			"--label-column has no effect: the columns of sst2 are known"},
		{map[string]string{"label-column": "bar", "model": "bert-tiny", "data": "./own.csv"}, ""},
		{map[string]string{"label-column": "bar"}, "--label-column has no effect: lenet reads images"},
		{map[string]string{"decay": "matrices"}, "--decay has no effect: --weight-decay is 0"},
		{map[string]string{"tta": "flip", "limit-test": "0"},
			"--tta has no effect: --limit-test 0 leaves nothing to evaluate"},
		{map[string]string{"master-port": "9000"},
			"--master-port has no effect: workers of one process need no place to meet"},
		{map[string]string{"streams": "4"},
			"--streams has no effect: workers of one process are not linked by TCP"},
		{map[string]string{"streams": "4", "workers": "2", "link": "tcp"}, ""},
	} {
		c, origins, err := setting.Resolve(setting.Source{Flags: test.flags})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.Idle(origins), "; "); got != test.want {
			t.Errorf("%v: %q, want %q", test.flags, got, test.want)
		}
	}
	wire := cluster.Environment{"LOCKSTEP_TRAIN_WIRE": "bf16"}
	c, origins, err := setting.Resolve(setting.Source{Environment: wire})
	if got := strings.Join(c.Idle(origins), "; "); err != nil ||
		got != "LOCKSTEP_TRAIN_WIRE has no effect: one worker exchanges nothing" {
		t.Errorf("a variable: %q, %v", got, err)
	}
}
