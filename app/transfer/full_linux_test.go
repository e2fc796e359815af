package transfer_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"lockstep/app/transfer"
)

// smallDisk mounts a file system of some bytes.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("this user cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(folder, 0) })
	return folder
}

// other is a connection beside which something else fills the disk when the first MiB has been sent.
type other struct {
	io.ReadWriteCloser
	path    string
	content []byte
	sent    int
}

func (o *other) Write(b []byte) (int, error) {
	if o.sent < 1<<20 && o.sent+len(b) >= 1<<20 {
		os.WriteFile(o.path, o.content, 0o666) // as much as fits
	}
	o.sent += len(b)
	return o.ReadWriteCloser.Write(b)
}

// A disk that is too small is found out before anything is sent; one that others fill meanwhile, when it is
// full.
func TestAFullDisk(t *testing.T) {
	cargo := load(t, map[string][]byte{"a": noise(8 << 20), "b": noise(8 << 20)})
	for _, test := range []struct {
		size string
		fill bool
		need int64
	}{{"20m", false, 16 << 20}, {"40m", true, 16 << 20}} {
		h := &host{t: t, folder: filepath.Join(smallDisk(t, test.size), "data")}
		dial := h.dial
		if test.fill {
			other := &other{path: filepath.Join(filepath.Dir(h.folder), "other"), content: noise(39 << 20)}
			dial = func(ctx context.Context) (conn io.ReadWriteCloser, err error) {
				other.ReadWriteCloser, err = h.dial(ctx)
				return other, err
			}
		}
		_, err := cargo.Deliver(t.Context(), transfer.Destination{Host: "b", Dial: dial})
		full := (*transfer.FullError)(nil)
		if !errors.As(err, &full) {
			t.Fatalf("%s: %v", test.size, err)
		}
		if full.Host != "b" || full.Folder != h.folder || full.Need > test.need || full.Need < 8<<20 ||
			full.Free > 20<<20 {
			t.Errorf("%s: %+v", test.size, full)
		}
		entries, _ := os.ReadDir(h.folder)
		for _, e := range entries {
			if info, err := e.Info(); e.Name() != "a" && e.Name() != "b" || err != nil ||
				info.Size() != 8<<20 {
				t.Errorf("%s: %s is left", test.size, e.Name())
			}
		}
	}
}
