package regular_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"lockstep/internal/regular"
)

// What a killed process has left goes when another is made in its folder; what a living one has stays, and so
// does everything of another name.
func TestTemporaryFilesOfTheDeadAreSwept(t *testing.T) {
	folder := t.TempDir()
	const random = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, name := range []string{".lockstep-model.safetensors-" + random,
		".lockstep-choice-" + random + "/rank0"} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	others := []string{".lockstep-owner", ".lockstep-notes-of-mine", "model.safetensors"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	living, remove, err := regular.MakeFolder(folder, "probe")
	if err != nil {
		t.Fatal(err)
	}
	if !regular.IsTemporary(filepath.Base(living)) {
		t.Errorf("%s is no temporary name", living)
	}
	err = regular.Replace(filepath.Join(folder, "file"), func(io.Writer) error {
		if got := names(t, folder); len(got) != len(others)+2 { // and its own
			t.Errorf("%v while a file is replaced", got)
		}
		_, failed := os.Stat(living)
		return failed
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, folder); len(got) != len(others)+1 {
		t.Errorf("%v are left, want %v and file", got, others)
	}
}

// names lists a folder.
func names(t *testing.T, folder string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// Many may make folders in one parent at once: none takes another's that is not locked yet for a dead one's.
func TestFoldersMadeAtOnce(t *testing.T) {
	parent := t.TempDir()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				path, remove, err := regular.MakeFolder(parent, "test")
				if err != nil {
					t.Error(err)
					return
				}
				_, err = os.Stat(path)
				if err := errors.Join(err, remove()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}
