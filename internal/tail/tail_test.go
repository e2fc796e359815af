package tail_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/tail"
)

// add appends text to a file, whose folder it makes.
func add(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// collect follows a folder, and returns what has come of each file and how long the longest part was.
func collect(c tail.Config) (f *tail.Follower, got map[string]string, longest *int) {
	got, longest = map[string]string{}, new(int)
	c.Every = time.Second
	c.Send = func(p tail.Part) {
		got[p.Name] += string(p.Bytes)
		*longest = max(*longest, len(p.Bytes))
	}
	return tail.Follow(c), got, longest
}

func TestPartsAddUpToTheFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "later")
		f, got, longest := collect(tail.Config{Folder: folder, Bytes: 4})
		time.Sleep(1500 * time.Millisecond)
		add(t, filepath.Join(folder, "a"), "one")
		add(t, filepath.Join(folder, "deep", "b"), "123456789")
		time.Sleep(time.Second)
		if got["a"] != "one" || got["deep/b"] != "123456789" || *longest != 4 {
			t.Errorf("after a look: %q in parts of up to %d", got, *longest)
		}
		add(t, filepath.Join(folder, "a"), " two")
		if err := f.Close(); err != nil || got["a"] != "one two" {
			t.Errorf("after the end: %q, %v", got, err)
		}
	})
}

func TestLinesStayWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		f, got, _ := collect(tail.Config{Folder: folder, Bytes: 8,
			KeepsLines: func(name string) bool { return strings.HasSuffix(name, ".jsonl") }})
		add(t, filepath.Join(folder, "a.jsonl"), "one\ntwo\nthr")
		add(t, filepath.Join(folder, "a.log"), "one\ntwo\nthr")
		time.Sleep(1500 * time.Millisecond)
		if got["a.jsonl"] != "one\ntwo\n" || got["a.log"] != "one\ntwo\nthr" {
			t.Errorf("%q", got)
		}
		add(t, filepath.Join(folder, "a.jsonl"), "ee\n")
		if err := f.Close(); err != nil || got["a.jsonl"] != "one\ntwo\nthree\n" {
			t.Errorf("after the end: %q, %v", got, err)
		}
	})
}

// A file that cannot be read keeps no other one back, and its error is told at the end.
func TestUnreadableFiles(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads every file")
	}
	folder := t.TempDir()
	add(t, filepath.Join(folder, "a"), "hidden")
	if err := os.Chmod(filepath.Join(folder, "a"), 0); err != nil {
		t.Fatal(err)
	}
	add(t, filepath.Join(folder, "b"), "seen")
	f, got, _ := collect(tail.Config{Folder: folder, Bytes: 64})
	if err := f.Close(); err == nil || got["b"] != "seen" {
		t.Errorf("%q, %v", got, err)
	}
}
