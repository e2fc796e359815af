package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"lockstep/app/record"
)

// passengers returns lines of a table of three classes, 80, 15 and 5 of a hundred, that a number and a
// category tell; one number in 20 is missing.
func passengers(n int, hasLabel bool) string {
	var b strings.Builder
	b.WriteString("fare;port;label\n")
	if !hasLabel {
		b.Reset()
		b.WriteString("id,port,fare\n")
	}
	for i := range n {
		class, at := "lost", i*37%100
		if at >= 80 {
			class = "saved"
		}
		if at >= 95 {
			class = "crew"
		}
		fare := fmt.Sprint(1_000_000*(i*13%10) + map[string]int{"lost": 3_000_000, "saved": 60_000_000,
			"crew": 30_000_000}[class])
		if i%20 == 7 {
			fare = ""
		}
		port := []string{"S", "C", "Q"}[i*7%2]
		if class == "crew" {
			port = "Q"
		}
		if hasLabel {
			fmt.Fprintf(&b, "%s;%s;%s\n", fare, port, class)
		} else {
			fmt.Fprintf(&b, "%d,%s,%s\n", i, port, fare)
		}
	}
	return b.String()
}

// A table is trained on, then scored and told alike: by infer from CSV and JSONL whose columns are in another
// order, and by an evaluation of the weights, which keep what columns mean.
func TestATableFromTrainingToNewRows(t *testing.T) {
	root := t.TempDir()
	path := func(name string) string { return filepath.Join(root, name) }
	write := func(name, text string) {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("rows.csv", passengers(400, true))
	write("new.csv", passengers(400, false))
	status, out, text := execute("train", "--data", path("rows.csv"), "--model", "mlp", "--epochs", "6",
		"--batch", "20", "--lr", "0.1", "--out", path("run"), "--quiet", "--json")
	if status != 0 {
		t.Fatalf("train: %s", text)
	}
	var s record.Summary
	if err := json.Unmarshal([]byte(out), &s); err != nil || *s.TestAccuracy < 0.9 {
		t.Fatalf("%v: accuracy %v", err, s.TestAccuracy)
	}
	status, out, text = execute("infer", path("run"), path("new.csv"))
	told := strings.Split(strings.TrimSpace(out), "\n")
	if status != 0 || len(told) != 401 || !strings.Contains(text, "file has it not: id") {
		t.Fatalf("status %d, %d lines, %s", status, len(told), text)
	}
	labels := strings.Split(strings.TrimSpace(passengers(400, true)), "\n")
	right := 0
	for i, line := range told[1:] {
		fields := strings.Split(line, ",")
		if fields[0] != strconv.Itoa(i+1) {
			t.Fatalf("line %d: %s", i+1, line)
		}
		if strings.HasSuffix(labels[i+1], ";"+fields[1]) {
			right++
		}
	}
	status, out, text = execute("train", "--weights", path("run"), "--model", "mlp", "--data",
		path("rows.csv"), "--eval-only", "--json", "--quiet", "--out", path("scored"))
	var scored record.Summary
	if err := json.Unmarshal([]byte(out), &scored); status != 0 || err != nil {
		t.Fatalf("status %d, %v, %s", status, err, text)
	}
	if got := *scored.TestAccuracy * 400; scored.TestSamples != 400 || int(got+0.5) != right {
		t.Errorf("%d labels are right, the evaluation says %v of %d", right, got, scored.TestSamples)
	}
	write("new.jsonl", `{"port": "X", "fare": 3e6}`+"\n"+`{"fare": null, "port": "Q"}`+"\n")
	status, out, text = execute("infer", path("run"), path("new.jsonl"), "--json", "--top", "2")
	if status != 0 || strings.Count(out, "\n") != 2 || !strings.Contains(out, `"input":2,"label":`) ||
		!strings.Contains(text, "1 row of port with a value that no training row had") {
		t.Errorf("status %d: %s%s", status, out, text)
	}
	write("bad.csv", "port,fare\nS,1\nS,many\n")
	write("less.csv", "port\nS\n")
	for name, want := range map[string]string{"less.csv": "no column fare, which the training file has",
		"bad.csv": `bad.csv, line 3: column "fare": "many", want a finite`} {
		if status, _, text := execute("infer", path("run"), path(name)); status != 3 ||
			!strings.Contains(text, want) {
			t.Errorf("status %d: %s", status, text)
		}
	}
}
