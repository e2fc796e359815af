package agent

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stage is a stream to Send in this process.
type stage struct {
	io.Reader
	io.Writer
}

// takeFrom takes results of the job "j" of the folder jobs.
func takeFrom(t *testing.T, jobs, to string, f Fetch) error {
	t.Helper()
	in, ask := io.Pipe()
	answer, out := io.Pipe()
	f.Folder = "j"
	go func() { out.CloseWithError(Send(in, out, jobs)) }()
	defer answer.Close()
	return Take(stage{answer, ask}, f, to)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "none"
	}
	return string(text)
}

// Results take the place of nothing but an empty folder, unless they are those of a run that has gone on.
func TestResultsAreFetched(t *testing.T) {
	jobs := t.TempDir()
	put(t, filepath.Join(jobs, "j", "out", "summary.json"), "{}")
	put(t, filepath.Join(jobs, "j", "out", "deep", "x"), "deep")
	put(t, filepath.Join(jobs, "j", "secret"), "not asked for")
	empty, used, resumed := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(empty, "out"), 0o777); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(used, "out", "stale"), "of another run")
	put(t, filepath.Join(resumed, "out", "stale"), "of the run before")
	for to, want := range map[string]map[string]string{
		empty:       {"out/summary.json": "{}", "out/deep/x": "deep", "secret": "none"},
		t.TempDir(): {"out/summary.json": "{}", "out/deep/x": "deep", "secret": "none"},
		resumed:     {"out/summary.json": "{}", "out/deep/x": "deep", "out/stale": "none"},
		used:        {"out/summary.json": "none", "out/stale": "of another run"},
	} {
		err := takeFrom(t, jobs, to, Fetch{Name: "out", IsResumed: to == resumed})
		if (err != nil) != (to == used) {
			t.Errorf("%v", err)
		}
		for name, text := range want {
			if got := read(filepath.Join(to, name)); got != text {
				t.Errorf("%s: %q, want %q", name, got, text)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(to, ".lockstep-*")); left != nil {
			t.Errorf("left %v", left)
		}
	}
	if err := takeFrom(t, jobs, empty, Fetch{Name: "absent"}); err != nil {
		t.Errorf("a command without results: %v", err)
	}
	if err := takeFrom(t, jobs, empty, Fetch{Name: "../x"}); err == nil {
		t.Error("a name outside of the job was sent")
	}
}

// What is cut off changes nothing.
func TestCutFetchChangesNothing(t *testing.T) {
	jobs, to := t.TempDir(), t.TempDir()
	put(t, filepath.Join(jobs, "j", "out", "x"), strings.Repeat("new", 1000))
	put(t, filepath.Join(to, "out", "x"), "old")
	var archive bytes.Buffer
	request, _ := json.Marshal(Fetch{Folder: "j", Name: "out", IsResumed: true})
	if err := Send(bytes.NewReader(append(request, '\n')), &archive, jobs); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 100, 512, 600, 1024, 2000} {
		cut := stage{bytes.NewReader(archive.Bytes()[:n]), io.Discard}
		if err := Take(cut, Fetch{Folder: "j", Name: "out", IsResumed: true}, to); err == nil {
			t.Errorf("%d bytes of %d: no error", n, archive.Len())
		}
		if got := read(filepath.Join(to, "out", "x")); got != "old" {
			t.Errorf("%d bytes: %.10q", n, got)
		}
	}
}

// An archive cannot write outside of its folder.
func TestUnpackStaysInside(t *testing.T) {
	for _, header := range []tar.Header{{Name: "../x", Typeflag: tar.TypeReg},
		{Name: "/tmp/x", Typeflag: tar.TypeReg}, {Name: "a/../../x", Typeflag: tar.TypeReg},
		{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/tmp"}, {Name: "fifo", Typeflag: tar.TypeFifo},
		{Name: "hard", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}} {
		var archive bytes.Buffer
		w := tar.NewWriter(&archive)
		if err := w.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		w.Close()
		if err := Unpack(&archive, t.TempDir()); err == nil {
			t.Errorf("%q was unpacked", header.Name)
		}
	}
	folder := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(folder, "away")); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	w.WriteHeader(&tar.Header{Name: "away/x", Typeflag: tar.TypeReg})
	w.Close()
	if err := Unpack(&archive, folder); err == nil {
		t.Error("a link that was there led outside")
	}
}

func FuzzUnpack(f *testing.F) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	w.WriteHeader(&tar.Header{Name: "a/b", Typeflag: tar.TypeReg, Size: 1})
	w.Write([]byte("x"))
	w.Close()
	f.Add(archive.Bytes())
	f.Fuzz(func(t *testing.T, text []byte) {
		above := t.TempDir()
		folder := filepath.Join(above, "in")
		os.Mkdir(folder, 0o777)
		Unpack(bytes.NewReader(text), folder) // most are refused
		if entries, _ := os.ReadDir(above); len(entries) != 1 {
			t.Errorf("%d entries beside the folder", len(entries)-1)
		}
	})
}
