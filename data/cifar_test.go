package data_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/data"
)

// record returns one CIFAR-10 record whose plane c has the value base+c everywhere.
func record(label, base byte) []byte {
	r := make([]byte, data.CIFARRecord)
	r[0] = label
	for i := range 3 * 1024 {
		r[1+i] = base + byte(i/1024)
	}
	return r
}

func TestDecodeCIFARInterleavesPlanes(t *testing.T) {
	pixels, labels := make([]byte, 2*3072), make([]int32, 2)
	file := append(record(7, 10), record(0, 20)...)
	if err := data.DecodeCIFAR(bytes.NewReader(file), "f", pixels, labels); err != nil {
		t.Fatal(err)
	}
	if labels[0] != 7 || labels[1] != 0 {
		t.Errorf("labels %v, want [7 0]", labels)
	}
	for i, p := range pixels {
		if want := byte(10 + 10*(i/3072) + i%3); p != want {
			t.Fatalf("pixel byte %d is %d, want %d", i, p, want)
		}
	}
}

func TestDecodeCIFARNamesTheWrongByte(t *testing.T) {
	good := append(record(1, 0), record(2, 0)...)
	mislabelled := bytes.Clone(good)
	mislabelled[data.CIFARRecord] = 200
	for _, c := range []struct {
		name   string
		file   []byte
		offset int64
		reason string
	}{
		{"empty", nil, 0, "empty"},
		{"cut", good[:4000], 4000, "truncated: ends in record 1"},
		{"long", append(bytes.Clone(good), 0), 6146, "more bytes"},
		{"mislabelled", mislabelled, 3073, "label 200 in record 1, want 0 to 9"},
	} {
		err := data.DecodeCIFAR(bytes.NewReader(c.file), "batch.bin",
			make([]byte, 2*3072), make([]int32, 2))
		wantFormatError(t, c.name, err, "batch.bin", c.offset, c.reason)
	}
}

func wantFormatError(t *testing.T, name string, err error, file string, at int64, reason string) {
	t.Helper()
	var format *data.FormatError
	if !errors.As(err, &format) {
		t.Errorf("%s: %v, want a FormatError", name, err)
		return
	}
	if !strings.HasSuffix(format.File, file) || at >= 0 && format.Offset != at ||
		!strings.Contains(err.Error(), reason) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %q at byte %d of %s; want %q at %d of %s",
			name, err, format.Offset, format.File, reason, at, file)
	}
}

// member is a file of an archive to be built.
type member struct {
	name string
	kind byte
	size int64
	head []byte // first bytes; zeros follow
}

// archive writes a tar.gz of members.
func archive(t *testing.T, members ...member) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cifar-10-binary.tar.gz")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zipped, err := gzip.NewWriterLevel(file, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	entries := tar.NewWriter(zipped)
	zeros := make([]byte, 1<<20)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Typeflag: m.kind, Size: m.size, Mode: 0o644}
		if m.kind == tar.TypeSymlink {
			h.Linkname = "/etc/passwd"
		}
		if err := entries.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		n, _ := entries.Write(m.head)
		for left := m.size - int64(n); left > 0; left -= int64(n) {
			if n, err = entries.Write(zeros[:min(left, int64(len(zeros)))]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(entries.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func batch(name string) string { return "cifar-10-batches-bin/" + name }

func TestCIFARArchiveDistrustsItsMembers(t *testing.T) {
	for _, c := range []struct {
		name, file, reason string
		members            []member
	}{
		{"no batches", ".gz", "no member cifar-10-batches-bin/data_batch_1.bin",
			[]member{{batch("readme.html"), tar.TypeReg, 10, nil}}},
		{"other folder", ".gz", "no member",
			[]member{{"../cifar-10-batches-bin/test_batch.bin", tar.TypeReg, 99, nil},
				{"/cifar-10-batches-bin/test_batch.bin", tar.TypeReg, 99, nil}}},
		{"symlink", "data_batch_1.bin", "not a regular file",
			[]member{{batch("data_batch_1.bin"), tar.TypeSymlink, 0, nil}}},
		{"short member", "test_batch.bin", "30729999 bytes, want 30730000",
			[]member{{batch("test_batch.bin"), tar.TypeReg, data.CIFARBytes - 1, nil}}},
		{"label", "test_batch.bin", "label 11 in record 0",
			[]member{{batch("test_batch.bin"), tar.TypeReg, data.CIFARBytes, []byte{11}}}},
		{"twice", "test_batch.bin", "second member of this name",
			[]member{{batch("test_batch.bin"), tar.TypeReg, data.CIFARBytes, nil},
				{"./" + batch("test_batch.bin"), tar.TypeReg, data.CIFARBytes, nil}}},
		{"bomb", ".gz", "unpacks to more than",
			[]member{{"bomb", tar.TypeReg, 300 << 20, nil}}},
	} {
		path := archive(t, c.members...)
		_, _, err := data.ReadCIFARArchive(context.Background(), path)
		wantFormatError(t, c.name, err, c.file, -1, c.reason)
		left, _ := os.ReadDir(filepath.Dir(path))
		if len(left) != 1 {
			t.Errorf("%s: reading left files behind: %v", c.name, left)
		}
	}
}

func TestCIFARArchiveDamaged(t *testing.T) {
	path := archive(t, member{batch("test_batch.bin"), tar.TypeReg, data.CIFARBytes, nil})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-8] ^= 1 // gzip's checksum
	for name, c := range map[string]struct {
		contents []byte
		reason   string
	}{
		"not gzip":  {[]byte("<html>404</html>"), "not a gzip file"},
		"cut":       {whole[:len(whole)/2], "truncated"},
		"checksum":  {flipped, "checksum"},
		"empty":     {nil, "byte 0: empty; put an intact copy in its place"},
		"not a tar": {zipped(t, bytes.Repeat([]byte("x"), 2000)), "damaged archive"},
	} {
		if err := os.WriteFile(path, c.contents, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := data.ReadCIFARArchive(context.Background(), path)
		var format *data.FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v, want a FormatError with %q", name, err, c.reason)
		}
	}
}

func zipped(t *testing.T, contents []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(contents); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// cifarFolder makes a folder of six batch files of zeros, each starting with its own label.
func cifarFolder(t *testing.T) (root, folder string) {
	t.Helper()
	root = t.TempDir()
	folder = filepath.Join(root, "cifar-10-batches-bin")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
		"data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte{byte(i)}, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, data.CIFARBytes); err != nil { // sparse
			t.Fatal(err)
		}
	}
	return root, folder
}

func TestCIFARFolder(t *testing.T) {
	root, folder := cifarFolder(t)
	for _, dir := range []string{root, folder} {
		train, test, err := data.Load(context.Background(), "cifar10", data.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if train.Len() != 50_000 || test.Len() != 10_000 || train.Generated ||
			train.Labels[30_000] != 3 || test.Labels[0] != 5 || train.Source != folder {
			t.Errorf("%s: %d + %d samples from %s, generated %v, labels %d, %d", dir, train.Len(),
				test.Len(), train.Source, train.Generated, train.Labels[30_000], test.Labels[0])
		}
	}
	path := filepath.Join(folder, "data_batch_3.bin")
	if err := os.Truncate(path, 1_000_000); err != nil {
		t.Fatal(err)
	}
	_, _, err := data.Load(context.Background(), "cifar10", data.Options{Dir: root})
	wantFormatError(t, "truncated", err, "data_batch_3.bin", 1_000_000,
		"truncated: ends in record 325")
}

func TestLoadStopsWhenCancelled(t *testing.T) {
	root, _ := cifarFolder(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, name := range []string{"cifar10", "glyphs"} {
		_, _, err := data.Load(ctx, name, data.Options{Dir: root})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", name, err)
		}
	}
}

func FuzzCIFAR(f *testing.F) {
	f.Add(uint8(1), record(3, 0))
	f.Add(uint8(1), record(10, 0))
	f.Add(uint8(2), append(record(3, 0), record(9, 1)...))
	f.Fuzz(func(t *testing.T, n uint8, file []byte) {
		pixels, labels := make([]byte, int(n)*3072), make([]int32, n)
		err := data.DecodeCIFAR(bytes.NewReader(file), "f", pixels, labels)
		var format *data.FormatError
		if err != nil && (!errors.As(err, &format) || format.Offset > int64(len(file))) {
			t.Fatalf("%d bytes: %v", len(file), err)
		}
		if fits := len(file) == int(n)*data.CIFARRecord; err == nil && !fits {
			t.Fatalf("%d bytes read as %d records", len(file), n)
		}
		for _, label := range labels {
			if label > 9 {
				t.Fatalf("label %d", label)
			}
		}
	})
}

// What an archive held is kept, so that many workers and runs unpack it once: for as long as the archive has
// its size and time, and the file kept is whole. Another archive in its place replaces it.
func TestAnArchiveIsUnpackedOnce(t *testing.T) {
	var members []member
	for i, name := range []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
		"data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"} {
		head := record(byte(i), byte(10*i))
		members = append(members, member{batch(name), tar.TypeReg, data.CIFARBytes, head})
	}
	path := archive(t, members...)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o := data.Options{Dir: filepath.Dir(path), Cache: t.TempDir()}
	read := func(when string) error {
		train, test, err := data.Load(t.Context(), "cifar10", o)
		if err != nil {
			return err
		}
		at := 10_000 * 3072
		if train.Labels[10_000] != 1 || test.Labels[0] != 5 || train.Pixels[at+1] != 11 ||
			test.Pixels[2] != 52 || train.Len() != 50_000 || test.Len() != 10_000 || len(test.Pixels) != at {
			t.Errorf("%s: labels %d, %d, pixels %d, %d", when, train.Labels[10_000], test.Labels[0],
				train.Pixels[at+1], test.Pixels[2])
		}
		return nil
	}
	fetch := func() int64 {
		_, err := data.Catalog{}.Fetch(t.Context(), "cifar10", o)
		kept, listing := filepath.Glob(filepath.Join(o.Cache, "folders", "*.cifar"))
		if err != nil || listing != nil || len(kept) != 1 {
			t.Fatalf("kept %v, %v, %v", kept, err, listing)
		}
		info, err := os.Stat(kept[0])
		if err == nil {
			err = os.Truncate(kept[0], 1000)
		}
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if n, again := fetch(), fetch(); n < 6*data.CIFARBytes || again != n {
		t.Errorf("kept %d bytes and, after it was damaged, %d", n, again)
	}
	then := time.Now().Add(-time.Hour)
	put := func(contents []byte) {
		if err := errors.Join(os.WriteFile(path, contents, 0o600), os.Chtimes(path, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	put(whole)
	t.Chdir(o.Dir)
	o.Dir = "."
	if err := read("another time and spelling"); err != nil {
		t.Fatal(err)
	}
	if kept, _ := filepath.Glob(filepath.Join(o.Cache, "folders", "*.cifar")); len(kept) != 1 {
		t.Errorf("kept %v", kept)
	}
	put(make([]byte, len(whole)))
	if err := read("kept"); err != nil {
		t.Error(err)
	}
	then = then.Add(time.Second)
	put(make([]byte, len(whole)))
	if read("changed") == nil {
		t.Error("an archive that has changed was not read")
	}
}

// Where nothing can be kept, a launcher does not unpack what every worker has to unpack anyway.
func TestAnArchiveThatCannotBeKept(t *testing.T) {
	path := archive(t, member{batch("test_batch.bin"), tar.TypeReg, 1, nil})
	o := data.Options{Dir: filepath.Dir(path), Cache: filepath.Join(path, "cache")}
	if _, err := (data.Catalog{}).Fetch(t.Context(), "cifar10", o); err != nil {
		t.Errorf("it was read: %v", err)
	}
	o.Cache = t.TempDir()
	if _, err := (data.Catalog{}).Fetch(t.Context(), "cifar10", o); err == nil {
		t.Error("it was not read")
	}
}
