package bundle_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lockstep/app/bundle"
)

// A disk that is full is no fault of the bundle.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("this user cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, 0) })
	large := file("large", strings.Repeat("x", 1<<20))
	_, err := bundle.Extract(bytes.NewReader(archive(t, listed(large), large)), filepath.Join(disk, "out"))
	var bad *bundle.FormatError
	if !errors.Is(err, syscall.ENOSPC) || errors.As(err, &bad) {
		t.Errorf("error %v, want one of the disk", err)
	}
}
