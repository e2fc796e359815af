package transfer_test

import (
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
	for size, isFilled := range map[string]bool{"12m": false, "40m": true} {
		folder := filepath.Join(smallDisk(t, size), "data")
		conn := (&host{t: t, folders: []string{folder}}).dial()
		if isFilled {
			conn = &other{ReadWriteCloser: conn, path: filepath.Join(filepath.Dir(folder), "other"),
				content: noise(39 << 20)}
		}
		_, err := cargo.Deliver(t.Context(), "b", conn, nil)
		full := (*transfer.HostError)(nil)
		if !errors.As(err, &full) || full.IsCut || !strings.HasPrefix(err.Error(),
			"host b: no room for the files in "+folder+": ") {
			t.Fatalf("%s: %v", size, err)
		}
		entries, _ := os.ReadDir(folder)
		for _, e := range entries {
			if info, err := e.Info(); e.Name() != "a" && e.Name() != "b" || err != nil ||
				info.Size() != 8<<20 {
				t.Errorf("%s: %s is left", size, e.Name())
			}
		}
	}
}
