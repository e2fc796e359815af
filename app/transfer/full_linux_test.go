package transfer_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
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
	}{{"20m", false}, {"40m", true}} {
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
		full := (*transfer.HostError)(nil)
		if !errors.As(err, &full) || full.Host != "b" || !strings.HasPrefix(full.Text, "no room for the "+
			"files in "+h.folder+": ") {
			t.Fatalf("%s: %v", test.size, err)
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
