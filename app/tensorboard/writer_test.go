package tensorboard_test

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/app/tensorboard"
)

var keep = flag.String("keep", "", "folder to write the golden event file to, for testdata/read.py")

// start is a fixed time, so that files are the same in every run.
var start = time.Unix(1_700_000_000, 125_000_000)

// write writes the files of a run that came to step 400 and was resumed after step 200, in the same second.
func write(t *testing.T, folder string) []byte {
	t.Helper()
	return slices.Concat(writeFrom(t, folder, start, 0),
		writeFrom(t, folder, start.Add(time.Microsecond), 300))
}

// writeFrom writes the file of the steps from first.
func writeFrom(t *testing.T, folder string, start time.Time, first int64) []byte {
	t.Helper()
	w, err := tensorboard.Create(folder, start, first)
	if err != nil {
		t.Fatal(err)
	}
	for step := first / 100; step < 5; step++ {
		w.Add(start.Add(time.Duration(step)*time.Second), step*100,
			tensorboard.Scalar{Tag: "loss/train", Value: 2.5/float64(step+1) + float64(first)},
			tensorboard.Scalar{Tag: "accuracy/test", Value: 0.1 * float64(step)},
			tensorboard.Scalar{Tag: "rank 0/memory, bytes", Value: 3e9 + float64(step)})
	}
	w.Add(start, 1<<40, tensorboard.Scalar{Tag: "größe", Value: math.Inf(1)})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "events.out.tfevents.*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("files %v, %v", files, err)
	}
	content, err := os.ReadFile(files[len(files)-1]) // sorted, as TensorBoard reads them
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// The files are byte for byte those in which TensorBoard's reader found what testdata/golden.txt lists, each
// step once; its first line is their hash.
func TestGolden(t *testing.T) {
	folder := t.TempDir()
	if *keep != "" {
		folder = *keep
	}
	content := write(t, folder)
	golden, err := os.ReadFile("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	want, _, _ := strings.Cut(string(golden), "\n")
	if got := fmt.Sprintf("sha256 %x", sha256.Sum256(content)); got != want {
		t.Errorf("the files have %s, golden.txt was read from those with %s", got, want)
	}
	const joint = "\nloss/train 200 1700000002.125 0.833333313\nloss/train 300 1700000003.125 300.625\n"
	if !bytes.Contains(golden, []byte(joint)) {
		t.Errorf("golden.txt does not go on with the steps of the second file:\n%s", golden)
	}
}

// What was flushed is in the file while the writer goes on.
func TestFlush(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "b")
	w, err := tensorboard.Create(folder, start, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	size := func() int64 {
		files, _ := filepath.Glob(filepath.Join(folder, "*"))
		info, err := os.Stat(files[0])
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	w.Add(start, 1, tensorboard.Scalar{Tag: "x", Value: 1})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if size() <= before {
		t.Error("the event is not in the file")
	}
}

func TestErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := tensorboard.Create(filepath.Join(file, "run"), start, 1); err == nil {
		t.Error("a folder below a file")
	}
	w, err := tensorboard.Create(t.TempDir(), start, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w.Add(start, 1, tensorboard.Scalar{Tag: "late", Value: 1})
	if w.Flush() == nil {
		t.Error("an event after Close was accepted")
	}
}
