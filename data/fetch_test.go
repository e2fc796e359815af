package data_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/data"
)

// payload is what the test servers hand out.
func payload() []byte {
	b := make([]byte, 300_000)
	for i := range b {
		b[i] = byte(i * i >> 3)
	}
	return b
}

// server is a web server with one file and a list of misdeeds.
type server struct {
	*httptest.Server
	contents []byte
	noRanges bool
	cuts     atomic.Int32 // answers still to break off half-way
	stalls   bool
	status   int

	mu     sync.Mutex
	ranges []string // Range headers seen
}

func newServer(t *testing.T) *server {
	s := &server{contents: payload()}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.ranges = append(s.ranges, r.Header.Get("Range"))
	s.mu.Unlock()
	if s.status != 0 {
		http.Error(w, "no", s.status)
		return
	}
	if s.noRanges {
		r.Header.Del("Range")
	}
	if s.cuts.Add(-1) >= 0 || s.stalls {
		rest := s.contents
		if from := r.Header.Get("Range"); from != "" {
			at := 0
			fmt.Sscanf(from, "bytes=%d-", &at)
			rest = rest[at:]
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d",
				at, len(s.contents)-1, len(s.contents)))
			w.Header().Set("Content-Length", fmt.Sprint(len(rest)))
			w.WriteHeader(http.StatusPartialContent)
		} else {
			w.Header().Set("Content-Length", fmt.Sprint(len(rest)))
		}
		w.Write(rest[:len(rest)/2])
		w.(http.Flusher).Flush()
		if s.stalls {
			<-r.Context().Done()
		}
		panic(http.ErrAbortHandler)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.contents))
}

func (s *server) file() data.File {
	sum := sha256.Sum256(payload())
	return data.File{Path: "sub/file.gz", URL: s.URL + "/file.gz",
		SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(payload()))}
}

// fetch downloads into a folder and checks that the file is whole exactly if there is no error.
func (s *server) fetch(t *testing.T, folder string) error {
	t.Helper()
	err := data.FetchFile(context.Background(), folder, s.file(), time.Second, nil)
	got, readErr := os.ReadFile(filepath.Join(folder, "sub", "file.gz"))
	if err == nil && !bytes.Equal(got, payload()) {
		t.Errorf("no error, but the file has %d bytes: %v", len(got), readErr)
	}
	if err != nil && readErr == nil {
		t.Errorf("a file of %d bytes in spite of %v", len(got), err)
	}
	return err
}

// leave puts the beginning of a file where a broken download would have left it.
func leave(t *testing.T, folder string, contents []byte) (path string) {
	t.Helper()
	path = filepath.Join(folder, "sub", "file.gz.part")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, contents, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFetchResumes(t *testing.T) {
	bad := payload()
	bad[5]++
	for _, c := range []struct {
		name     string
		left     []byte // of an earlier run
		cuts     int32
		noRanges bool
		ranges   []string
	}{
		{name: "plain", ranges: []string{""}},
		{name: "cut twice", cuts: 2, ranges: []string{"", "bytes=150000-", "bytes=225000-"}},
		{name: "earlier run", left: payload()[:1000], ranges: []string{"bytes=1000-"}},
		{name: "earlier run complete", left: payload()},
		{name: "earlier run too long", left: append(payload(), 1), ranges: []string{""}},
		{name: "earlier run wrong", left: bad[:1000], ranges: []string{"bytes=1000-", ""}},
		{name: "earlier run complete but wrong", left: bad, ranges: []string{""}},
		{name: "no ranges", left: payload()[:1000], noRanges: true, ranges: []string{"bytes=1000-"}},
		{name: "no ranges, cut", noRanges: true, cuts: 1, ranges: []string{"", "bytes=150000-"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, folder := newServer(t), t.TempDir()
			s.noRanges = c.noRanges
			s.cuts.Store(c.cuts)
			if c.left != nil {
				leave(t, folder, c.left)
			}
			if err := s.fetch(t, folder); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(s.ranges, c.ranges) {
				t.Errorf("requests for %q, want %q", s.ranges, c.ranges)
			}
			if err := s.fetch(t, folder); err != nil || len(s.ranges) != len(c.ranges) {
				t.Errorf("second fetch asked the server again or failed: %v", err)
			}
			if left, _ := os.ReadDir(filepath.Join(folder, "sub")); len(left) != 1 {
				t.Errorf("files left: %v", left)
			}
		})
	}
}

func TestFetchFails(t *testing.T) {
	for _, c := range []struct {
		name   string
		setup  func(s *server)
		reason string
		kept   int // bytes of the .part file afterwards
	}{
		{"not there", func(s *server) { s.status = 404 }, "404 Not Found", 0},
		{"server broken", func(s *server) { s.status = 500 }, "500 Internal Server Error", 0},
		{"checksum", func(s *server) { s.contents[7]++ }, ": sha256 ", 0},
		{"longer", func(s *server) { s.contents = append(s.contents, 1) }, "more than 300000 bytes", -1},
		{"always cut", func(s *server) { s.cuts.Store(99) }, "connection broke", 281250},
		{"stalls", func(s *server) { s.stalls = true }, "no data for 100ms", -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, folder := newServer(t), t.TempDir()
			c.setup(s)
			err := data.FetchFile(context.Background(), folder, s.file(), 100*time.Millisecond, nil)
			if err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("%v, want %q", err, c.reason)
			}
			if isThere(filepath.Join(folder, "sub", "file.gz")) {
				t.Error("a file in spite of the error")
			}
			part, err := os.ReadFile(filepath.Join(folder, "sub", "file.gz.part"))
			if err != nil || c.kept >= 0 && len(part) != c.kept {
				t.Errorf("%d bytes kept, want %d (%v)", len(part), c.kept, err)
			}
		})
	}
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestFetchAfterFailureSucceeds(t *testing.T) {
	s, folder := newServer(t), t.TempDir()
	s.cuts.Store(99)
	if s.fetch(t, folder) == nil {
		t.Fatal("no error from a server that always cuts")
	}
	s.cuts.Store(0)
	if err := s.fetch(t, folder); err != nil {
		t.Error(err)
	}
}

func TestFetchToImpossiblePlaces(t *testing.T) {
	s := newServer(t)
	folder := t.TempDir()
	blocked := filepath.Join(folder, "blocked")
	if err := os.WriteFile(blocked, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	occupied := t.TempDir()
	if err := os.MkdirAll(filepath.Join(occupied, "sub", "file.gz.part"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{blocked, filepath.Join(blocked, "below"), occupied} {
		var path *os.PathError
		if err := s.fetch(t, place); !errors.As(err, &path) {
			t.Errorf("%s: %v, want a PathError", place, err)
		}
	}
	if len(s.ranges) != 0 {
		t.Error("asked the server for what cannot be stored")
	}
}

func TestFetchReportsProgress(t *testing.T) {
	s, folder := newServer(t), t.TempDir()
	var got []data.Progress
	err := data.FetchFile(context.Background(), folder, s.file(), time.Second,
		func(p data.Progress) { got = append(got, p) })
	if err != nil || len(got) < 2 {
		t.Fatalf("%d reports, %v", len(got), err)
	}
	first, last := got[0], got[len(got)-1]
	if first.Done != 0 || last.Done != 300_000 || last.Total != 300_000 || last.File != "file.gz" {
		t.Errorf("first %+v, last %+v", first, last)
	}
}

func TestFetchStopsWhenCancelled(t *testing.T) {
	s, folder := newServer(t), t.TempDir()
	s.stalls = true
	ctx, cancel := context.WithCancel(context.Background())
	err := data.FetchFile(ctx, folder, s.file(), time.Minute,
		func(p data.Progress) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

func TestTwoProcessesFetchOnce(t *testing.T) {
	s, folder := newServer(t), t.TempDir()
	results := make(chan error)
	const numFetchers = 3
	for range numFetchers {
		go func() {
			results <- data.FetchFile(context.Background(), folder, s.file(), time.Second, nil)
		}()
	}
	for range numFetchers {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(folder, "sub")); len(left) != 1 {
		t.Errorf("files left: %v", left)
	}
}

func TestMissingNamesTheCause(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	half, mnist := filepath.Join(folder, "half"), filepath.Join(folder, "digits")
	for _, name := range []string{file, filepath.Join(half, "cifar-10-batches-bin/test_batch.bin"),
		filepath.Join(mnist, "mnist/t10k-labels-idx1-ubyte.gz")} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loop := filepath.Join(half, "cifar-10-batches-bin", "data_batch_1.bin")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ set, dir, want string }{
		{"cifar10", filepath.Join(folder, "none"),
			"data: cifar10: folder " + filepath.Join(folder, "none") + " does not exist; create it"},
		{"cifar10", file, "data: cifar10: open " + file + ": not a directory; name a folder"},
		{"cifar10", half, "cifar-10-batches-bin has no file data_batch_1.bin, data_batch_2.bin"},
		{"mnist", mnist, "has no file train-images-idx3-ubyte, train-labels-idx1-ubyte, "},
	} {
		_, err := (data.Catalog{}).Fetch(context.Background(), c.set, data.Options{Dir: c.dir, Offline: true})
		var missing *data.MissingError
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in %s: %v, want a MissingError with %q", c.set, c.dir, err, c.want)
		}
	}
}

func TestUnreadableFileIsAReadError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cifar-10-batches-bin", "data_batch_1.bin")
	if err := os.MkdirAll(dir, 0o700); err != nil { // a folder opens, but cannot be read
		t.Fatal(err)
	}
	_, _, err := data.ReadCIFARArchive(context.Background(), filepath.Dir(dir))
	var read *data.ReadError
	if !errors.As(err, &read) || !strings.HasPrefix(err.Error(), "data: cannot read "+dir+": ") {
		t.Errorf("%v, want a ReadError", err)
	}
}

func TestMissingSaysWhatToPutWhere(t *testing.T) {
	empty := t.TempDir()
	for _, c := range []struct {
		options data.Options
		folder  string
	}{
		{data.Options{Dir: empty, Shared: "../../shared/data", Offline: true}, empty},
		{data.Options{Dir: filepath.Join(empty, "none")}, filepath.Join(empty, "none")},
		{data.Options{Shared: "/nowhere", Cache: filepath.Join(empty, "cache"), Offline: true},
			filepath.Join(empty, "cache")},
		{data.Options{}, ""},
	} {
		for name, file := range map[string]string{
			"cifar10": "cifar-10-binary.tar.gz", "mnist": "mnist/t10k-labels-idx1-ubyte.gz",
		} {
			_, _, err := data.Load(context.Background(), name, c.options)
			var missing *data.MissingError
			if !errors.As(err, &missing) {
				t.Fatalf("%s: %v, want a MissingError", name, err)
			}
			text, command := err.Error(), "lockstep data download "+name
			if missing.Folder != c.folder || !strings.Contains(text, file) ||
				!strings.Contains(text, c.folder) || !strings.Contains(text, command) ||
				strings.Contains(text, "\n") {
				t.Errorf("%s, %+v: %s", name, c.options, text)
			}
		}
	}
	if left, _ := os.ReadDir(empty); len(left) != 0 {
		t.Errorf("failed loads left %v", left)
	}
}

func TestSearchOrder(t *testing.T) {
	shared, cache, dir := t.TempDir(), t.TempDir(), t.TempDir()
	all := data.Options{Dir: dir, Shared: shared, Cache: cache, Offline: true}
	locate := func(o data.Options) string {
		t.Helper()
		path, err := (data.Catalog{}).Locate("mnist", o)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	mnistFolder(t, cache, 1)
	if got := locate(all); got != "" {
		t.Errorf("a folder named by the user is not the only one: found %s", got)
	}
	withoutDir := all
	withoutDir.Dir = ""
	if got := locate(withoutDir); got != cache {
		t.Errorf("found %q, want the cache", got)
	}
	mnistFolder(t, shared, 1)
	if got := locate(withoutDir); got != shared {
		t.Errorf("found %q, want the shared folder", got)
	}
	mnistFolder(t, dir, 1)
	if got := locate(all); got != dir {
		t.Errorf("found %q, want the user's folder", got)
	}
	if path, err := (data.Catalog{}).Fetch(context.Background(), "glyphs", all); path != "" || err != nil {
		t.Errorf("fetch of a generated set: %q, %v", path, err)
	}
}
