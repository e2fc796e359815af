package rundir

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"lockstep/app/record"
)

// A step without a sample of its own has no own loss: null, as JSON has no NaN.
func TestStepLineWithoutOwnSamplesIsJSON(t *testing.T) {
	dir := Directory(t.TempDir())
	log, err := dir.OpenStepLog(false)
	if err != nil {
		t.Fatal(err)
	}
	log.Add(record.Step{Rank: 1, Step: 3, Samples: 2, Loss: 2.25, OwnLoss: record.Number(math.NaN())})
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(dir.Path(StepsFile))
	if err != nil {
		t.Fatal(err)
	}
	var line map[string]any
	if err := json.Unmarshal(text, &line); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if own, ok := line["own_loss"]; !ok || own != nil || line["loss"] != 2.25 || line["rank"] != 1.0 {
		t.Errorf("line %s, want loss 2.25 of rank 1 and own_loss null", text)
	}
}
