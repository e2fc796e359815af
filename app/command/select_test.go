package command

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
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

// Weights of classes and a validation file of its own give the same run for any number of workers, which says
// what counts how often, and chooses by the file.
func TestTrainWeighsClasses(t *testing.T) {
	root := t.TempDir()
	table := func(name string, rows int) string {
		var b strings.Builder
		b.WriteString("x,y,label\n")
		for i := range rows {
			class := []string{"often", "seldom"}[max(0, i%8-6)]
			fmt.Fprintf(&b, "%d,%d,%s\n", i*37%101, i%8+i%3, class)
		}
		return plant(t, root, name, b.String())
	}
	data, val := table("train.csv", 96), table("chosen.csv", 40)
	weights := plant(t, root, "weights.csv", "class,weight\noften,1\nseldom,7\n")
	train := func(name string, more ...string) (s record.Summary, text string) {
		t.Helper()
		status, out, text := execute(append([]string{"train", "--model", "mlp", "--data", data,
			"--validation", val, "--epochs", "3", "--shards", "3", "--threads", "1", "--link", "local",
			"--json", "--out",
			filepath.Join(root, name)}, more...)...)
		if status != 0 {
			t.Fatalf("status %d: %s", status, text)
		}
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			t.Fatal(err)
		}
		return s, text
	}
	one, text := train("one", "--class-weights", "balanced")
	if !strings.Contains(text, "samples count by their class: often 0.5714, seldom 4") {
		t.Errorf("the run says %s", text)
	}
	if one.Best == nil || one.TestSamples != 40 || one.DataSHA256.Validation == "" {
		t.Errorf("best %+v of %d samples", one.Best, one.TestSamples)
	}
	three, _ := train("three", "--class-weights", "balanced", "--workers", "3")
	file, _ := train("file", "--class-weights", weights) // the same up to a factor
	plain, _ := train("plain")
	if one.ParameterSHA256 != three.ParameterSHA256 || one.ParameterSHA256 == plain.ParameterSHA256 ||
		math.Abs(file.Loss.Last-one.Loss.Last) > 1e-4 {
		t.Errorf("balanced %.8s, by three workers %.8s, plain %.8s; loss %v, with weights from a file %v",
			one.ParameterSHA256, three.ParameterSHA256, plain.ParameterSHA256, one.Loss.Last, file.Loss.Last)
	}
	bad := plant(t, root, "bad.csv", "often,1\nrare,2\n")
	status, _, text := execute("train", "--model", "mlp", "--data", data, "--class-weights", bad, "--out",
		filepath.Join(root, "x"))
	want := `bad.csv, line 2: "rare" is none of the classes: often, seldom`
	if status != 3 || !strings.Contains(text, want) {
		t.Errorf("status %d, %s", status, text)
	}
}

// plant writes a file and returns its path.
func plant(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
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
		"--best-by loss":                             "--best-by chooses by validation samples",
		"--best-by loss --eval-only --weights x":     "has nothing to do with --eval-only",
		"--early-stopping 3":                         `did you mean "--patience"?`,
		"--val-split 0.1":                            `did you mean "--validation"?`,
		"--load-best-model-at-end":                   `did you mean "--restore-best"?`,
		"--weighted-sampler balanced":                `did you mean "--class-shares"?`,
		"--sample-weight w":                          `did you mean "--weight-column"?`,
		"--best-by rmse":                             "no figure of --task classification, want one of acc",
		"--task regression --best-by accuracy":       "want one of rmse, loss, mae, r2",
		"--task regression --until accuracy=0.9":     "has no classes",
		"--task regression --class-weights balanced": "--weight-column weighs samples",
		"--task regression":                          "the labels of glyphs are classes, and regression",
		"--weight-column w":                          "glyphs is no table",
		"--class-shares balanced --shuffle blocks":   "not by --shuffle blocks",
		"--class-weight balanced":                    `did you mean "--class-weights"?`,
		"--validation val.csv":                       "the samples of glyphs have a name",
		"--wandb":                                    "events for TensorBoard",
	} {
		fields := append([]string{"train", "--limit-train", "64", "--out", filepath.Join(t.TempDir(), "x")},
			strings.Fields(args)...)
		if status, _, text := execute(fields...); status != 2 || !strings.Contains(text, want) {
			t.Errorf("%s: status %d, %s, want %q", args, status, text, want)
		}
	}
}
