package checkpoint_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/checkpoint"
	"lockstep/tensor"
)

// note is what the tests keep beside the files.
type note struct {
	Text string `json:"text"`
}

// files returns the files of a checkpoint whose values depend on the step.
func files(step int) []checkpoint.File {
	values := make([]byte, 4000)
	for i := range values {
		values[i] = byte(step + i%7)
	}
	return []checkpoint.File{
		{Name: checkpoint.WeightsFile, Entries: []checkpoint.Entry{
			entry("w", checkpoint.F32, tensor.Shape{1000}, values)}},
		{Name: checkpoint.OptimizerFile, Entries: []checkpoint.Entry{
			entry("w.momentum", checkpoint.F32, tensor.Shape{10, 100}, values)}},
	}
}

func commit(t *testing.T, s *checkpoint.Store, step int) *checkpoint.Checkpoint {
	t.Helper()
	c, err := s.Commit(step, note{fmt.Sprint(step)}, files(step))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newest returns the step of the newest checkpoint, and how many newer ones are damaged.
func newest(t *testing.T, s *checkpoint.Store) (step, faults int) {
	t.Helper()
	c, damaged, err := s.Newest()
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf(`{"text":"%d"}`, c.Step); strings.Join(strings.Fields(string(c.Run)), "") != want {
		t.Fatalf("run %s, want %s", c.Run, want)
	}
	return c.Step, len(damaged)
}

// names lists a folder.
func names(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func TestStoreKeepsTwo(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "checkpoints")
	s := checkpoint.NewStore(folder)
	var none *checkpoint.NoneError
	if _, _, err := s.Newest(); !errors.As(err, &none) || !strings.Contains(err.Error(), "no checkpoint") {
		t.Errorf("empty store: %v", err)
	}
	for _, step := range []int{9, 10, 100} {
		c := commit(t, s, step)
		if got, _ := newest(t, s); got != step || c.Path != filepath.Join(folder, fmt.Sprint("step-", step)) {
			t.Errorf("newest is %d at %s, want %d", got, c.Path, step)
		}
	}
	if got := names(t, folder); got != "step-10 step-100" {
		t.Errorf("left %q", got)
	}
	// After going back to 10, what lies beyond belongs to steps that are yet to come.
	if err := os.MkdirAll(filepath.Join(folder, ".tmp-step-12", "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	commit(t, s, 11)
	if got := names(t, folder); got != "step-10 step-11" {
		t.Errorf("left %q", got)
	}
}

// Every file cut at many places, with a bit flipped in every byte of the manifest and in some of
// the others, missing, empty, or exchanged between two checkpoints: named, and the one before used.
func TestDamagedCheckpointsAreNamed(t *testing.T) {
	folder := t.TempDir()
	s := checkpoint.NewStore(folder)
	commit(t, s, 1)
	commit(t, s, 2)
	damage := func(what, name string, text []byte) {
		t.Helper()
		path := filepath.Join(folder, "step-2", name)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if text == nil {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		c, faults, err := s.Newest()
		if err != nil || c.Step != 1 || len(faults) != 1 || !strings.Contains(faults[0].Error(), name) {
			t.Fatalf("%s %s: %v, faults %v", name, what, err, faults)
		}
		if err := os.WriteFile(path, good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{checkpoint.ManifestFile, checkpoint.WeightsFile, checkpoint.OptimizerFile} {
		good, err := os.ReadFile(filepath.Join(folder, "step-2", name))
		if err != nil {
			t.Fatal(err)
		}
		other, err := os.ReadFile(filepath.Join(folder, "step-1", name))
		if err != nil {
			t.Fatal(err)
		}
		damage("removed", name, nil)
		for n := 0; n < len(good); n += 101 {
			damage("cut", name, good[:n])
		}
		damage("longer", name, append(good[:len(good):len(good)], '\n'))
		if name != checkpoint.ManifestFile {
			damage("exchanged", name, other)
		}
		step := 1
		if name != checkpoint.ManifestFile {
			step = 97
		}
		for i := 0; i < len(good); i += step {
			flipped := append([]byte{}, good...)
			flipped[i] ^= 1 << (i % 8)
			damage(fmt.Sprintf("flipped at %d", i), name, flipped)
		}
	}
	// A whole checkpoint under another's name, and then none at all.
	if err := os.Rename(filepath.Join(folder, "step-1"), filepath.Join(folder, "step-3")); err != nil {
		t.Fatal(err)
	}
	if step, faults := newest(t, s); step != 2 || faults != 1 {
		t.Errorf("newest %d, %d faults", step, faults)
	}
	if err := os.Remove(filepath.Join(folder, "step-2", checkpoint.WeightsFile)); err != nil {
		t.Fatal(err)
	}
	var none *checkpoint.NoneError
	if _, _, err := s.Newest(); !errors.As(err, &none) || len(none.Tried) != 2 ||
		!strings.Contains(err.Error(), "step-2/model.safetensors: missing") {
		t.Errorf("got %v", err)
	}
}

func TestManifestsWithOddNamesAreRefused(t *testing.T) {
	for _, name := range []string{"../x", "/etc/passwd", ".", "", "a/b"} {
		folder := filepath.Join(t.TempDir(), "step-1")
		text, err := checkpoint.EncodeManifest(checkpoint.Manifest{Step: 1, Run: []byte("{}"),
			Files: []checkpoint.Part{{Name: name}}})
		if err == nil {
			err = os.Mkdir(folder, 0o777)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, checkpoint.ManifestFile), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		var fault *checkpoint.FormatError
		if _, err := checkpoint.OpenCheckpoint(folder); !errors.As(err, &fault) ||
			!strings.Contains(err.Error(), "lists a file named") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
