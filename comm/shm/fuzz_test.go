//go:build unix

package shm_test

import (
	"context"
	"io"
	"testing"

	"lockstep/comm/shm"
)

// FuzzHeader joins a segment whose header is any bytes.
func FuzzHeader(f *testing.F) {
	const size = 128
	segment, err := shm.Create(1)
	if err != nil {
		f.Skip(err)
	}
	defer segment.Close()
	whole := make([]byte, size)
	if _, err := segment.ReadAt(whole, 0); err != nil && err != io.EOF {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(make([]byte, size))
	f.Fuzz(func(t *testing.T, header []byte) {
		segment, err := shm.Create(1)
		if err != nil {
			t.Fatal(err)
		}
		defer segment.Close()
		if _, err := segment.WriteAt(header[:min(len(header), size)], 0); err != nil {
			t.Fatal(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if mesh, err := shm.Connect(ended, segment, 0); err == nil {
			mesh.Close()
		}
	})
}
