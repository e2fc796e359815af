package transfer_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
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
		var once sync.Once
		_, err := cargo.Deliver(t.Context(), transfer.Destination{Host: "b", Dial: h.dial,
			Progress: func(transfer.Progress) {
				if test.fill {
					once.Do(func() {
						os.WriteFile(filepath.Join(filepath.Dir(h.folder), "other"),
							noise(39<<20), 0o666)
					})
				}
			}})
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
