package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/app/bundle"
)

// folder makes a folder with these files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// packed returns the bundle of a folder.
func packed(t *testing.T, dir string) []byte {
	t.Helper()
	m, err := bundle.Scan(dir, bundle.Manifest{Kind: bundle.Bench, Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := bundle.Write(&b, dir, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A folder comes out as it went in; weights and checkpoints stay out and are named; equal folders give equal
// bytes whenever they were made.
func TestRoundTrip(t *testing.T) {
	files := map[string]string{"results.json": "{}", "plan.json": strings.Repeat("x", 100000),
		"runs/01-01-a/steps.jsonl": "", "runs/01-01-a/model.safetensors": "weights",
		"runs/01-01-a/checkpoints/step-1/weights": "w", "runs/01-02-ä b/host.json": "h"}
	dir, again := folder(t, files), folder(t, files)
	old := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Chtimes(filepath.Join(again, "results.json"), old, old),
		os.Chmod(filepath.Join(again, "plan.json"), 0o600)); err != nil {
		t.Fatal(err)
	}
	text := packed(t, dir)
	if !bytes.Equal(text, packed(t, again)) {
		t.Error("equal folders give different bytes")
	}
	out := filepath.Join(t.TempDir(), "out")
	m, err := bundle.Extract(bytes.NewReader(text), out)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Files) != 4 || len(m.LeftOut) != 2 || m.Kind != bundle.Bench || m.Version != "1" {
		t.Errorf("manifest %+v", m)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(name)))
		isOut := strings.Contains(name, "safetensors") || strings.Contains(name, "checkpoints")
		if isOut != errors.Is(err, fs.ErrNotExist) || !isOut && string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := bundle.Extract(bytes.NewReader(text), out); err == nil {
		t.Error("a folder that is not empty was written to")
	}
}

// Steps that a run adds while it is packed stay out; a file that changes otherwise is refused.
func TestWriteWhileFilesChange(t *testing.T) {
	dir := folder(t, map[string]string{"steps.jsonl": "one\n"})
	at := filepath.Join(dir, "steps.jsonl")
	m, err := bundle.Scan(dir, bundle.Manifest{Kind: bundle.Training, Version: "1"})
	if err == nil {
		err = os.WriteFile(at, []byte("one\ntwo\n"), 0o644)
	}
	var b bytes.Buffer
	if err == nil {
		err = bundle.Write(&b, dir, m)
	}
	out := filepath.Join(t.TempDir(), "out")
	if err == nil {
		_, err = bundle.Extract(&b, out)
	}
	if text, failed := os.ReadFile(filepath.Join(out, "steps.jsonl")); err != nil || string(text) != "one\n" {
		t.Errorf("%v, %v, %q", err, failed, text)
	}
	if err := os.WriteFile(at, []byte("no\n\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	refused := (*bundle.FormatError)(nil)
	if err := bundle.Write(&b, dir, m); !errors.As(err, &refused) {
		t.Errorf("error %v", err)
	}
}

func TestScanRefusesLinks(t *testing.T) {
	dir := folder(t, map[string]string{"a": "a"})
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "b")); err != nil {
		t.Skip(err)
	}
	if _, err := bundle.Scan(dir, bundle.Manifest{}); err == nil || !strings.Contains(err.Error(), "link") {
		t.Errorf("error %v, want one about the link", err)
	}
}

// entry is one of a hostile archive.
type entry struct {
	tar.Header
	text string
}

func file(name, text string) entry {
	return entry{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))}, text}
}

// listed is the manifest of files as they would be if it told the truth.
func listed(files ...entry) entry {
	m := bundle.Manifest{Schema: 1, Kind: bundle.Bench}
	for _, f := range files {
		sum := sha256.Sum256([]byte(f.text))
		m.Files = append(m.Files, bundle.File{Name: f.Name, Bytes: f.Size,
			SHA256: hex.EncodeToString(sum[:])})
	}
	text, _ := json.Marshal(m)
	return file(bundle.ManifestFile, string(text))
}

// archive is a gzip'd tar of entries as they are.
func archive(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, e := range entries {
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestExtractRefuses(t *testing.T) {
	a, b := file("a", "1"), file("b", "22")
	up, root, below, dot := file("../a", "1"), file("/tmp/a", "1"), file("a/b", "1"), file("x/./a", "1")
	long, control, slash := file(strings.Repeat("n", 241), "1"), file("a\n", "1"), file(`..\a`, "1")
	link := entry{tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, ""}
	hard := entry{tar.Header{Name: "a", Typeflag: tar.TypeLink, Linkname: "b"}, ""}
	pipe := entry{tar.Header{Name: "a", Typeflag: tar.TypeFifo}, ""}
	dir := entry{tar.Header{Name: "a/", Typeflag: tar.TypeDir}, ""}
	huge := listed(entry{tar.Header{Name: "a", Size: bundle.MaxBytes + 1}, ""})
	two := listed(entry{tar.Header{Name: "a", Size: bundle.MaxBytes}, ""},
		entry{tar.Header{Name: "b", Size: 1}, ""})
	overflow := file(bundle.ManifestFile,
		`{"schema":1,"kind":"bench","files":[{"name":"a","bytes":9223372036854775807},`+
			`{"name":"b","bytes":9223372036854775807}]}`)
	whole := archive(t, listed(a), a)
	for want, text := range map[string][]byte{
		"no gzip file":                     []byte("PK\x03\x04"),
		"it is empty":                      archive(t),
		"want bundle.json":                 archive(t, a),
		"schema 0":                         archive(t, file(bundle.ManifestFile, "{}")),
		`kind "x"`:                         archive(t, file(bundle.ManifestFile, `{"schema":1,"kind":"x"}`)),
		"invalid character":                archive(t, file(bundle.ManifestFile, "{{")),
		`"../a": its path is not`:          archive(t, listed(up), up),
		`"/tmp/a": its path is not`:        archive(t, listed(root), root),
		`"x/./a": its path is not`:         archive(t, listed(dot), dot),
		"has a character that some":        archive(t, listed(control), control),
		"a character that some":            archive(t, listed(slash), slash),
		"of at most 240 bytes":             archive(t, listed(long), long),
		`"a": something of that name`:      archive(t, listed(a, a), a, a),
		`"a/b": something of that name`:    archive(t, listed(a, below), a, below),
		"it is no regular file":            archive(t, listed(a), link),
		`"a": it is no regular`:            archive(t, listed(a), hard),
		`entry "a": it is no regular file`: archive(t, listed(a), pipe),
		`"a/": it is no regular file`:      archive(t, listed(a), dir),
		"the manifest does not list it":    archive(t, listed(a), a, b),
		"it ends after 1 of 2 files":       archive(t, listed(a, b), a),
		`the manifest has "a" of 1 bytes`:  archive(t, listed(a), file("a", "12")),
		`the manifest has "a" of 1`:        archive(t, listed(a), b),
		"its bytes are not those":          archive(t, listed(a), file("a", "2")),
		"1073741825 bytes, 0 before it":    archive(t, huge),
		"1 bytes, 1073741824 before it":    archive(t, two),
		"9223372036854775807 bytes":        archive(t, overflow),
		"bundle: unexpected EOF":           append(bytes.Clone(whole), 0),
		"unexpected EOF":                   whole[:len(whole)-30],
	} {
		out := filepath.Join(t.TempDir(), "out")
		_, err := bundle.Extract(bytes.NewReader(text), out)
		var bad *bundle.FormatError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want a format error with %q", err, want)
		}
		if _, err := os.Lstat(filepath.Join(filepath.Dir(out), "a")); err == nil {
			t.Errorf("%s: a file was written outside of the folder", want)
		}
	}
}

// A gzip file without an archive, as of a results.json, is told what to do with.
func TestGzipOfAFile(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(strings.Repeat(`{"schema":3} `, 100))); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := bundle.Extract(&b, t.TempDir())
	var wrong *bundle.FormatError
	if !errors.As(err, &wrong) || !strings.Contains(wrong.Reason, "holds no tar archive") ||
		!strings.Contains(wrong.Reason, "unpack it with gunzip") {
		t.Errorf("%v", err)
	}
}

// A bomb, small when compressed, is not written: nothing but what the manifest lists is.
func TestBomb(t *testing.T) {
	zeros := strings.Repeat("\x00", 64<<20)
	bomb := file("a", zeros)
	manifest := listed(file("a", "1"))
	out := filepath.Join(t.TempDir(), "out")
	if _, err := bundle.Extract(bytes.NewReader(archive(t, manifest, bomb)), out); err == nil {
		t.Error("the bomb was taken")
	}
	if info, err := os.Stat(filepath.Join(out, "a")); err == nil && info.Size() > 2 {
		t.Errorf("%d bytes were written", info.Size())
	}
}

// A log of one line repeated, far larger than its bundle, is packed and taken out.
func TestBundleOfOneLine(t *testing.T) {
	dir := folder(t, map[string]string{"rank0.log": strings.Repeat("waiting\n", 8<<20)})
	out := filepath.Join(t.TempDir(), "out")
	if _, err := bundle.Extract(bytes.NewReader(packed(t, dir)), out); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(out, "rank0.log"))
	if err != nil || info.Size() != 64<<20 {
		t.Errorf("%v, %v", info, err)
	}
}

func FuzzExtract(f *testing.F) {
	f.Add([]byte("PK"))
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "results.json"), []byte("{}"), 0o644); err != nil {
		f.Fatal(err)
	}
	m, err := bundle.Scan(dir, bundle.Manifest{Kind: bundle.Training})
	if err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if err := bundle.Write(&b, dir, m); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	plain := new(bytes.Buffer)
	z, err := gzip.NewReader(bytes.NewReader(b.Bytes()))
	if err != nil {
		f.Fatal(err)
	}
	if _, err := plain.ReadFrom(z); err != nil {
		f.Fatal(err)
	}
	f.Add(plain.Bytes())
	f.Fuzz(func(t *testing.T, text []byte) {
		// Compressed anew, so that inputs reach the archive behind the checksum of gzip.
		var again bytes.Buffer
		z := gzip.NewWriter(&again)
		if _, err := z.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		for _, in := range [][]byte{text, again.Bytes()} {
			parent := t.TempDir()
			m, err := bundle.Extract(bytes.NewReader(in), filepath.Join(parent, "out"))
			if entries, _ := os.ReadDir(parent); len(entries) > 1 {
				t.Fatalf("files beside the folder: %v", entries)
			}
			if err != nil {
				continue
			}
			for _, f := range m.Files {
				info, err := os.Lstat(filepath.Join(parent, "out", filepath.FromSlash(f.Name)))
				if err != nil || !info.Mode().IsRegular() || info.Size() != f.Bytes {
					t.Fatalf("%s: %v, %v", f.Name, info, err)
				}
			}
		}
	})
}

// What a process that was killed has left is not packed, nor what a run that goes on keeps from before.
func TestTemporaryFilesAreNotPacked(t *testing.T) {
	dir := folder(t, map[string]string{"results.json": "{}",
		"runs/a/.lockstep-model.safetensors-ABCDEFGHIJKLMNOPQRSTUVWXYZ":   "half of the weights",
		"runs/a/.lockstep-choice-ABCDEFGHIJKLMNOPQRSTUVWXYZ/rank0/events": "e",
		"runs/a/.steps.jsonl.before":                                      "{}"})
	m, err := bundle.Scan(dir, bundle.Manifest{Kind: bundle.Bench, Version: "1"})
	if err != nil || len(m.Files) != 1 || len(m.LeftOut) != 0 {
		t.Errorf("%v, %+v, want results.json alone", err, m)
	}
}
