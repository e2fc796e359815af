package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockstep/app/record"
)

// houses returns a table of prices, which are a function of size and district but for a little, with a column
// of weights.
func houses(rows, from int) string {
	var b strings.Builder
	b.WriteString("size,district,price,w\n")
	for i := from; i < from+rows; i++ {
		size, district := 50+i*37%101, []string{"north", "south", "port"}[i%3]
		price := 2000*size + 60_000*(i%3) + i*7%11*100
		fmt.Fprintf(&b, "%d,%s,%d,%d\n", size, district, price, i%4)
	}
	return b.String()
}

// A table of prices, from training to predictions: three workers end as one does, a run that was resumed too;
// the evaluation, infer, serve, eval-only and the exported file say the same numbers.
func TestRegressionFromTrainingToNewRows(t *testing.T) {
	root := t.TempDir()
	path := func(name string) string { return filepath.Join(root, name) }
	plant(t, root, "train.csv", houses(300, 0))
	tested := plant(t, root, "test.csv", houses(60, 300))
	run := func(args ...string) (s record.Summary) {
		t.Helper()
		status, out, text := execute(append([]string{"train", "--json", "--quiet"}, args...)...)
		if status != 0 {
			t.Fatalf("%v: status %d: %s", args, status, text)
		}
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	train := func(name string, more ...string) record.Summary {
		t.Helper()
		return run(append([]string{"--task", "regression", "--model", "mlp", "--data", root,
			"--label-column", "price", "--weight-column", "w", "--validation", "0.1", "--restore-best",
			"--batch", "30", "--shards", "6",
			"--lr", "0.1", "--threads", "1", "--link", "local", "--out", path(name)}, more...)...)
	}
	one := train("one", "--epochs", "20")
	figure := func(s record.Summary, k int) float64 {
		return float64(record.Final(s.Evaluations).Metrics[k].Value)
	}
	if one.TestAccuracy != nil || one.TrainAccuracy != nil || one.TestSamples != 60 ||
		one.Best.By != "rmse" || figure(one, 2) < 0.9 || !(figure(one, 0) < 30_000) {
		t.Fatalf("accuracy %v, best %+v, metrics %v", one.TestAccuracy, one.Best,
			record.Final(one.Evaluations).Metrics)
	}
	three := train("three", "--epochs", "20", "--workers", "3")
	train("half", "--epochs", "9", "--checkpoint-every", "40")
	resumed := run("--resume", path("half"), "--epochs", "20", "--workers", "2")
	for name, s := range map[string]record.Summary{"three workers": three, "resumed": resumed} {
		if s.ParameterSHA256 != one.ParameterSHA256 || figure(s, 0) != figure(one, 0) {
			t.Errorf("%s: %.8s, RMSE %v; want %.8s, %v", name, s.ParameterSHA256, figure(s, 0),
				one.ParameterSHA256, figure(one, 0))
		}
	}
	again := run("--weights", path("one"), "--model", "mlp", "--data", tested, "--eval-only", "--out",
		path("again")) // the weights know column and task
	if figure(again, 0) != figure(one, 0) {
		t.Errorf("RMSE %v of the weights, want %v", figure(again, 0), figure(one, 0))
	}
	values := told(t, path("one"), tested)
	sum := 0.0
	for i, line := range strings.Split(strings.TrimSpace(houses(60, 300)), "\n")[1:] {
		price, _ := strconv.ParseFloat(strings.Split(line, ",")[2], 64)
		sum += (price - values[i]) * (price - values[i])
	}
	if got := math.Sqrt(sum / 60); math.Abs(got-figure(one, 0)) > 1e-3 {
		t.Errorf("RMSE %v of what infer says, want %v", got, figure(one, 0))
	}
	if status, _, text := execute("export", path("one"), "--out", path("one.onnx")); status != 0 {
		t.Fatalf("export: %s", text)
	}
	for i, x := range told(t, path("one.onnx"), tested) {
		if x != values[i] {
			t.Errorf("row %d: %v by the exported file, want %v", i, x, values[i])
		}
	}
	serves(t, path("one"), values[0])
	trainsOn(t, root, path("one.onnx"), figure(one, 0))
}

// trainsOn checks that an exported file of the regression trains on as the weights do: from an error of rmse,
// on standardised numbers, and that it is exported with their unit again.
func trainsOn(t *testing.T, data, file string, rmse float64) {
	t.Helper()
	for name, more := range map[string][]string{"on": nil, "fresh": {"--fresh-head"}} {
		run := filepath.Join(data, name)
		status, out, text := execute(append([]string{"train", "--task", "regression", "--model", file,
			"--data", data, "--label-column", "price", "--batch", "30", "--epochs", "3", "--threads", "1",
			"--lr", "0.01", "--link", "local", "--json", "--out", run}, more...)...)
		var s record.Summary
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			t.Fatalf("status %d, %v: %s", status, err, text)
		}
		got := float64(record.Final(s.Evaluations).Metrics[0].Value)
		if s.Loss.Last > 1 || name == "on" && got > 1.2*rmse || strings.Contains(text, "deviation 1)") {
			t.Errorf("%s: loss %v, RMSE %v after %v: %s", name, s.Loss.Last, got, rmse, text)
		}
		if status, _, text := execute("export", run, "--out", run+".onnx"); status != 0 {
			t.Fatalf("export: %s", text)
		}
		table := filepath.Join(data, "test.csv")
		if a, b := told(t, run, table), told(t, run+".onnx", table); !slices.Equal(a, b) {
			t.Errorf("%s: the file exported again says %v, the run %v", name, b[0], a[0])
		}
	}
}

// A run says by what samples count, refuses weights that are all 0, and an evaluation says that it scores
// samples which may have been trained on.
func TestARegressionSaysWhatCounts(t *testing.T) {
	root := t.TempDir()
	data := plant(t, root, "rows.csv", houses(60, 0))
	none := plant(t, root, "none.csv", "size,price,w\n1,2,0\n2,3,0\n3,5,0\n")
	out := filepath.Join(root, "run")
	train := []string{"train", "--task", "regression", "--model", "mlp", "--label-column", "price",
		"--weight-column", "w", "--epochs", "1", "--batch", "20", "--link", "local", "--out", out, "--data"}
	status, _, text := execute(append(train, none)...)
	if want := "w is 0 for all"; status != 2 || !strings.Contains(text, want) {
		t.Errorf("status %d: %s, want %q", status, text, want)
	}
	status, _, text = execute(append(train, data)...)
	if want := "samples count by column w: from 0 to 3"; status != 0 || !strings.Contains(text, want) {
		t.Errorf("status %d: %s, want %q", status, text, want)
	}
	status, _, text = execute("train", "--model", "mlp", "--weights", out, "--data", data, "--eval-only",
		"--out", out+"-again")
	if want := "no part for the test, so that"; status != 0 || !strings.Contains(text, want) {
		t.Errorf("status %d: %s, want %q", status, text, want)
	}
}

// told returns the numbers that infer says of the rows of a table.
func told(t *testing.T, run, table string) (values []float64) {
	t.Helper()
	status, out, text := execute("infer", run, table)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if status != 0 || lines[0] != "input,value" || text != "" {
		t.Fatalf("infer: status %d, %s: %s", status, lines[0], text)
	}
	for _, line := range lines[1:] {
		x, err := strconv.ParseFloat(strings.Split(line, ",")[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, x)
	}
	return values
}

// serves checks what the server of a run says of the first row of the test.
func serves(t *testing.T, run string, want float64) {
	t.Helper()
	url, end := served(t, run)
	defer end()
	fields := strings.Split(strings.Split(houses(1, 300), "\n")[1], ",")
	body := fmt.Sprintf(`{"inputs":[{"row":{"size":%s,"district":%q,"w":1}}]}`, fields[0], fields[1])
	resp, err := http.Post(url+"/v1/predict", "application/json", bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got struct{ Predictions []struct{ Value float64 } }
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || len(got.Predictions) != 1 ||
		float32(got.Predictions[0].Value) != float32(want) {
		t.Errorf("%v: the server says %v, want %v", err, got.Predictions, want)
	}
}

// Samples that are drawn by class train the same weights with any number of workers, and the run says how.
func TestTrainDrawsByClass(t *testing.T) {
	root := t.TempDir()
	data := plant(t, root, "rows.csv", passengers(200, true))
	train := func(name string, more ...string) (s record.Summary, text string) {
		t.Helper()
		status, out, text := execute(append([]string{"train", "--model", "mlp", "--data", data,
			"--epochs", "3", "--batch", "30", "--shards", "6", "--threads", "1", "--link", "local", "--json",
			"--out", filepath.Join(root, name)}, more...)...)
		if status != 0 {
			t.Fatalf("status %d: %s", status, text)
		}
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			t.Fatal(err)
		}
		return s, text
	}
	one, text := train("one", "--class-shares", "balanced")
	three, _ := train("three", "--class-shares", "balanced", "--workers", "3")
	shares := plant(t, root, "shares.csv", "crew,2\nlost,2\nsaved,2\n")
	file, _ := train("file", "--class-shares", shares)
	plain, _ := train("plain")
	if one.ParameterSHA256 != three.ParameterSHA256 || one.ParameterSHA256 == plain.ParameterSHA256 ||
		one.ParameterSHA256 != file.ParameterSHA256 || one.Steps != plain.Steps {
		t.Errorf("balanced %.8s, by three workers %.8s, from a file %.8s, plain %.8s", one.ParameterSHA256,
			three.ParameterSHA256, file.ParameterSHA256, plain.ParameterSHA256)
	}
	if !strings.Contains(text, "classes are drawn in proportion: crew 1, lost 1, saved 1") {
		t.Errorf("the run says %s", text)
	}
}
