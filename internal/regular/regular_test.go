//go:build unix

package regular_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lockstep/internal/regular"
)

func TestOpenRefusesWhatIsNoRegularFile(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, folder, os.DevNull} {
		f, err := regular.Open(path)
		if err == nil {
			f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), path+": not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := regular.Open(filepath.Join(folder, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want os.ErrNotExist", err)
	}
}

func TestReplaceHonoursTheUmask(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	defer syscall.Umask(syscall.Umask(0))
	for umask, want := range map[int]os.FileMode{0o022: 0o644, 0o002: 0o664, 0o077: 0o600} {
		syscall.Umask(umask)
		err := regular.Replace(path, func(w io.Writer) error {
			_, err := io.WriteString(w, "text")
			return err
		})
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || info.Mode() != want || info.Size() != 4 {
			t.Errorf("umask %o: %v, %v, %v, want mode %v", umask, info.Mode(), err, statErr, want)
		}
	}
	broken := errors.New("broken")
	if err := regular.Replace(path, func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v, want the file alone", entries, err)
	}
}

// An error about the file that is written beside the one to replace names the latter.
func TestReplaceNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "file")
	err := regular.Replace(path, func(io.Writer) error { return nil })
	if want := "open " + path + ": no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// A file is read whole up to a bound.
func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("12345"), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := regular.ReadFile(path, 5); string(text) != "12345" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	_, err := regular.ReadFile(path, 4)
	if err == nil || !strings.Contains(err.Error(), path+": more than 4 bytes") {
		t.Errorf("%v, want a bound and the name", err)
	}
	if _, err := regular.ReadFile(filepath.Dir(path), 4); err == nil {
		t.Error("a folder was read")
	}
}
