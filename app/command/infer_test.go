package command

import (
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/record"
)

// shadesIn writes images of two classes, dark and light, with a part to score.
func shadesIn(t *testing.T, root string) {
	t.Helper()
	for part, n := range map[string]int{"train": 20, "test": 9} {
		for class, level := range map[string]int{"dark": 90, "light": 130} {
			folder := filepath.Join(root, part, class)
			if err := os.MkdirAll(folder, 0o777); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				img := image.NewGray(image.Rect(0, 0, 32, 32))
				for p := range img.Pix {
					img.Pix[p] = uint8(level + (p*7+i*13)%60 - 30)
				}
				file, err := os.Create(filepath.Join(folder, fmt.Sprintf("%d.png", i)))
				if err == nil {
					err = png.Encode(file, img)
				}
				if err != nil {
					t.Fatal(err)
				}
				file.Close()
			}
		}
	}
}

// What infer says of the test images is right as often as the run's own evaluation found.
func TestInferSaysWhatTheEvaluationSaw(t *testing.T) {
	root := t.TempDir()
	photos, run := filepath.Join(root, "photos"), filepath.Join(root, "run")
	shadesIn(t, photos)
	if status, _, text := execute("train", "--data", photos, "--size", "32", "--steps", "6", "--batch", "10",
		"--lr", "0.05", "--out", run, "--quiet"); status != 0 {
		t.Fatalf("train: %s", text)
	}
	summary, err := os.ReadFile(filepath.Join(run, "summary.json"))
	var s record.Summary
	if err == nil {
		err = json.Unmarshal(summary, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	status, out, text := execute("infer", run, filepath.Join(photos, "test"))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if status != 0 || len(lines) != 19 || lines[0] != "input,label,probability" {
		t.Fatalf("status %d, %d lines, %s\n%s", status, len(lines), text, out)
	}
	right := 0
	for _, line := range lines[1:] {
		fields := strings.Split(line, ",")
		if filepath.Base(filepath.Dir(fields[0])) == fields[1] {
			right++
		}
	}
	if want := *s.TestAccuracy * 18; float64(right) != want {
		t.Errorf("%d of 18 labels are right, the evaluation found %v", right, want)
	}
	one := filepath.Join(photos, "test", "dark", "0.png")
	_, out, _ = execute("infer", run, one, "--json", "--top", "1")
	var got struct {
		Input, Label string
		Probability  float64
		Top          []any
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Input != one || got.Label == "" ||
		got.Probability < 0.5 || len(got.Top) != 1 {
		t.Errorf("%q: %v", out, err)
	}
}

// A damaged picture ends infer, which has told those before it, unless it may be left out.
func TestInferLeavesOutDamagedPictures(t *testing.T) {
	root := t.TempDir()
	photos, run := filepath.Join(root, "photos"), filepath.Join(root, "run")
	shadesIn(t, photos)
	if status, _, text := execute("train", "--data", photos, "--size", "32", "--steps", "1", "--batch", "10",
		"--out", run, "--quiet"); status != 0 {
		t.Fatalf("train: %s", text)
	}
	dark := filepath.Join(photos, "test", "dark")
	for _, name := range []string{"3.png", "5.png"} {
		if err := os.Truncate(filepath.Join(dark, name), 50); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		skip   string
		status int
		told   int
		want   string
	}{{"0", 3, 3, "3.png"}, {"1", 3, 4, "5.png"}, {"2", 0, 7, ""}, {"9", 0, 7, ""}} {
		status, out, text := execute("infer", run, dark, "--skip-bad", test.skip)
		lines := strings.Count(out, "\n") - 1
		if status != test.status || lines != test.told || strings.Contains(out, "3.png") ||
			!strings.Contains(text, filepath.Join(dark, test.want)+": ") && test.want != "" ||
			status == 0 && strings.Count(text, "; left out") != 2 {
			t.Errorf("--skip-bad %s: status %d, %d lines, %s", test.skip, status, lines, text)
		}
	}
}

func TestInferRefuses(t *testing.T) {
	root := t.TempDir()
	for _, test := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"infer", root}, 2, "at least one input"},
		{[]string{"infer", root, "x.png"}, 2, "is no folder of a run"},
		{[]string{"infer", root + "/none", "x.png"}, 2, "none: no such file"},
	} {
		status, _, text := execute(test.args...)
		if status != test.status || !strings.Contains(text, test.want) {
			t.Errorf("%v: status %d, %s", test.args, status, text)
		}
	}
}
