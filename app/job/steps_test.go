package job

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"lockstep/train"
)

// A step without a sample of its own has no own loss: null, as JSON has no NaN.
func TestStepLineWithoutOwnSamplesIsJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), stepsFile)
	log, err := openStepLog(path)
	if err != nil {
		t.Fatal(err)
	}
	log.add(1, train.Step{Number: 3, Samples: 2, Loss: 2.25, OwnLoss: math.NaN()},
		usage{sent: 5, received: 6})
	if err := log.close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
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
