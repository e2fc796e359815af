package train_test

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"lockstep/compute"
)

var update = flag.Bool("update", false, "rewrite testdata/golden.json")

const goldenFile = "testdata/golden.json"

// TestGoldenHashes trains a few steps on every kernel path of this machine and compares the parameters with
// the golden hashes, which hold on every processor.
func TestGoldenHashes(t *testing.T) {
	golden := map[string]string{} // hash by model
	text, err := os.ReadFile(goldenFile)
	if err == nil {
		err = json.Unmarshal(text, &golden)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lenet", "vgg11"} {
		if *update {
			golden[name] = goldenRun(t, name, compute.Best())
		}
		for _, isa := range compute.Supported() {
			t.Run(isa.String()+"/"+name, func(t *testing.T) {
				if got, want := goldenRun(t, name, isa), golden[name]; got != want {
					t.Errorf("parameters hash to %s, want %s", got, want)
				}
			})
		}
	}
	if !*update {
		return
	}
	text, err = json.MarshalIndent(golden, "", "  ")
	if err == nil {
		err = os.WriteFile(goldenFile, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// goldenRun trains with a smaller last batch, uneven shards, augmentation, warm-up, momentum and
// weight decay.
func goldenRun(t *testing.T, name string, isa compute.ISA) string {
	c := example(t, name, 50, 0)
	c.Test, c.Batch, c.Steps = nil, 22, 5
	c.Augment.Pad, c.Augment.Flip, c.Optimizer.Nesterov = 2, true, true
	if name == "vgg11" {
		c.Train = c.Train.Limit(13)
		c.Batch, c.Plan, c.Steps = 7, cut(t, 2, 1), 2
	}
	return run(t, c, 1, 2, isa)[0].ParameterSHA256
}
