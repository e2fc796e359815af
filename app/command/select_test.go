package command

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/record"
)

// Validation samples set apart choose the same weights and the same end for any number of workers, and best/
// has them for infer, and as a start.
func TestTrainChoosesByValidation(t *testing.T) {
	root := t.TempDir()
	train := func(name string, more ...string) (s record.Summary) {
		t.Helper()
		status, out, text := execute(append([]string{"train", "--limit-train", "300", "--limit-test", "40",
			"--validation", "0.2", "--epochs", "9", "--patience", "2", "--best-by", "macro-f1", "--lr", "0.1",
			"--shards", "6", "--threads", "1", "--link", "local", "--json", "--quiet", "--out",
			filepath.Join(root, name)}, more...)...)
		if status != 0 {
			t.Fatalf("status %d: %s", status, text)
		}
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	one, three := train("one", "--restore-best"), train("three", "--restore-best", "--workers", "3")
	if one.Best == nil || three.Best == nil || *one.Best != *three.Best || !one.Best.IsRestored ||
		one.ParameterSHA256 != three.ParameterSHA256 || one.Steps != three.Steps || one.TestSamples != 40 {
		t.Errorf("one worker: %.8s, %d steps, best %+v; three: %.8s, %d steps, best %+v", one.ParameterSHA256,
			one.Steps, one.Best, three.ParameterSHA256, three.Steps, three.Best)
	}
	last := train("last")
	if last.Best.IsRestored || last.Steps != one.Steps || last.ParameterSHA256 == one.ParameterSHA256 {
		t.Errorf("without --restore-best: %.8s, %+v", last.ParameterSHA256, last.Best)
	}
	best := filepath.Join(root, "last", "best")
	if status, _, text := execute("checkpoint", "diff", best, filepath.Join(root, "one")); status != 0 {
		t.Errorf("best/ of the run without --restore-best has other weights: %s", text)
	}
}

// What is predict elsewhere is infer here.
func TestPredictOfInputs(t *testing.T) {
	status, _, text := execute("predict", "runs/photos", "cat.jpg")
	if status != 2 || !strings.Contains(text, "lockstep infer runs/photos cat.jpg") {
		t.Errorf("status %d, %s", status, text)
	}
}

func TestChoiceRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"--patience 2":                               "--validation 0.1 sets a tenth",
		"--patience 2 --limit-test 0":                "has nothing to choose by",
		"--restore-best --strategy none --workers 2": "would choose differently",
		"--validation 1":                             "--validation",
		"--best-by f2":                               "macro-f1",
		"--early-stopping 3":                         `did you mean "--patience"?`,
		"--val-split 0.1":                            `did you mean "--validation"?`,
		"--load-best-model-at-end":                   `did you mean "--restore-best"?`,
		"--class-weights balanced":                   "--best-by macro-f1 chooses by all classes alike",
		"--wandb":                                    "events for TensorBoard",
	} {
		fields := append([]string{"train", "--limit-train", "64", "--out", filepath.Join(t.TempDir(), "x")},
			strings.Fields(args)...)
		if status, _, text := execute(fields...); status != 2 || !strings.Contains(text, want) {
			t.Errorf("%s: status %d, %s, want %q", args, status, text, want)
		}
	}
}
