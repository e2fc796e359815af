package checkpoint_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"lockstep/checkpoint"
)

// FuzzHeader wants either a fault with a place in the header, or tensors that fill the data.
func FuzzHeader(f *testing.F) {
	for _, d := range damages() {
		if len(d.file) > 8 {
			f.Add(d.file[8:], uint32(16))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, dataBytes uint32) {
		tensors, err := checkpoint.ParseHeader(text, int64(dataBytes))
		var fault *checkpoint.FormatError
		if err != nil {
			if !errors.As(err, &fault) || fault.Offset < 0 ||
				fault.Offset > int64(len(text))+int64(dataBytes) {
				t.Fatalf("%v", err)
			}
			return
		}
		sum := int64(0)
		for _, x := range tensors {
			sum += x.Bytes
		}
		if sum != int64(dataBytes) {
			t.Fatalf("tensors of %d bytes in %d", sum, dataBytes)
		}
	})
}

// FuzzFile wants either a fault or a file that can be read to its end and written again, with the
// same tensors.
func FuzzFile(f *testing.F) {
	for _, d := range damages() {
		f.Add(d.file)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		folder := t.TempDir()
		path := filepath.Join(folder, "w.safetensors")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := checkpoint.Open(path)
		var fault *checkpoint.FormatError
		if err != nil {
			if !errors.As(err, &fault) || fault.Offset > int64(len(text)) {
				t.Fatalf("%v", err)
			}
			return
		}
		defer r.Close()
		for _, x := range r.Tensors {
			err := r.Floats(x, make([]float32, x.Shape.Elems()))
			if err != nil && !errors.As(err, &fault) {
				t.Fatal(err)
			}
		}
		again := filepath.Join(folder, "again.safetensors")
		if _, err := checkpoint.Export(again, r); err != nil {
			t.Fatal(err)
		}
		list, err := checkpoint.Compare(r, open(t, again))
		if err != nil || len(list) != len(r.Tensors) {
			t.Fatalf("%d tensors of %d written, %v", len(list), len(r.Tensors), err)
		}
		for _, d := range list {
			if d.Kind != checkpoint.Equal {
				t.Fatalf("%+v", d)
			}
		}
	})
}

// FuzzIndex wants faults and missing files only, and no file outside the folder.
func FuzzIndex(f *testing.F) {
	f.Add([]byte(`{"metadata":{"total_size":32},"weight_map":{"y":"b.safetensors","x":"a.safetensors"}}`))
	f.Add([]byte(`{"weight_map":{"x":"../a.safetensors"}}`))
	f.Add([]byte(`{"weight_map":{"x":"..\\a.safetensors","":""}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), checkpoint.IndexFile)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := checkpoint.Open(path)
		var fault *checkpoint.FormatError
		var missing *checkpoint.ReadError
		switch {
		case err == nil:
			if len(r.Tensors) > 0 {
				t.Fatalf("tensors %v out of nothing", r.Tensors)
			}
		case !errors.As(err, &fault) && !errors.As(err, &missing):
			t.Fatal(err)
		}
	})
}

// FuzzManifest reads a manifest that carries the hash of its text, if isSealed says so, as an attacker
// would write it.
func FuzzManifest(f *testing.F) {
	f.Add(true, []byte(`{"format":"lockstep checkpoint","version":1,"step":3,"files":[{"name":"a","bytes":1,`+
		`"sha256":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"}],"run":{}}`))
	f.Add(true, []byte(`{"format":"lockstep checkpoint","version":1,"files":[{"name":"../a"}],"run":null}`))
	f.Add(false, []byte(`{"sha256":""}`))
	folder := f.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a"), []byte("a"), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, isSealed bool, text []byte) {
		if m := (checkpoint.Manifest{}); isSealed && json.Unmarshal(text, &m) == nil {
			if sealed, err := checkpoint.EncodeManifest(m); err == nil {
				text = sealed
			}
		}
		if err := os.WriteFile(filepath.Join(folder, checkpoint.ManifestFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := checkpoint.OpenCheckpoint(folder)
		var fault *checkpoint.FormatError
		var missing *checkpoint.ReadError
		if err != nil {
			if !errors.As(err, &fault) && !errors.As(err, &missing) {
				t.Fatal(err)
			}
			return
		}
		for _, part := range c.Files {
			if filepath.Dir(c.File(part.Name)) != folder {
				t.Fatalf("file %q outside of the folder", part.Name)
			}
		}
	})
}
