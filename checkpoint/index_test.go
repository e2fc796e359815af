package checkpoint_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/checkpoint"
)

// shards makes a folder of two files, a with tensor x and b with tensor y, and an index.
func shards(t *testing.T, index string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	header := `{"%s":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}`
	for name, text := range map[string][]byte{
		"a.safetensors":      framed(fmt.Sprintf(header, "x"), 16),
		"b.safetensors":      framed(fmt.Sprintf(header, "y"), 16),
		"twice.safetensors":  framed(fmt.Sprintf(header, "x"), 16),
		"cut.safetensors":    framed(fmt.Sprintf(header, "z"), 3),
		checkpoint.IndexFile: []byte(index),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestShardedFiles(t *testing.T) {
	folder := shards(t, `{"metadata":{"total_size":32,"any":[{"thing":null}]},
		"weight_map":{"y":"b.safetensors","x":"a.safetensors"}}`)
	for _, path := range []string{folder, filepath.Join(folder, checkpoint.IndexFile)} {
		r := open(t, path)
		if len(r.Tensors) != 2 || r.Tensors[0].Name != "x" || r.Tensors[1].Name != "y" {
			t.Errorf("%s: tensors %v", path, r.Tensors)
		}
		lines := ""
		for _, name := range []string{"a.safetensors", "b.safetensors"} {
			text, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			lines += fmt.Sprintf("%x  %s\n", sha256.Sum256(text), name)
		}
		want := sha256.Sum256([]byte(lines))
		if sum, err := r.SHA256(); err != nil || sum != hex.EncodeToString(want[:]) {
			t.Errorf("%s: %s, %v, want %x", path, sum, err, want)
		}
		out := filepath.Join(t.TempDir(), "all.safetensors")
		if _, err := checkpoint.Export(out, r); err != nil {
			t.Fatal(err)
		}
		list, err := checkpoint.Compare(r, open(t, out))
		if err != nil || len(list) != 2 || list[0].Kind != checkpoint.Equal ||
			list[1].Kind != checkpoint.Equal {
			t.Errorf("exported: %+v, %v", list, err)
		}
	}
}

func TestDamagedIndices(t *testing.T) {
	for _, c := range []struct {
		name, index, file string
		offset            int64
		want              string
	}{
		{"empty", "", checkpoint.IndexFile, 0, `ends where "{" should be`},
		{"no map", "{}", checkpoint.IndexFile, 2, "no weight_map"},
		{"array", `{"weight_map":["a"]}`, checkpoint.IndexFile, 14, `"[" where "{"`},
		{"not UTF-8", "{\"\xff\"", checkpoint.IndexFile, 0, "not UTF-8"},
		{"unknown key", `{"weight_map":{},"more":1}`, checkpoint.IndexFile, 24, "key more"},
		{"map twice", `{"weight_map":{},"weight_map":{}}`, checkpoint.IndexFile, 30, "key weight_map"},
		{"deep metadata", `{"metadata":` + strings.Repeat("[", 20000), checkpoint.IndexFile, 12, "depth"},
		{"name twice", `{"weight_map":{"x":"a","x":"b"}}`, checkpoint.IndexFile, 27, "second entry"},
		{"elsewhere", `{"weight_map":{"x":"../a.safetensors"}}`, checkpoint.IndexFile, -1,
			"file ../a.safetensors is not in the folder"},
		{"absolute", `{"weight_map":{"x":"/etc/passwd"}}`, checkpoint.IndexFile, -1, "is not in the folder"},
		{"pickle", `{"weight_map":{"x":"a.bin"}}`, "a.bin", -1, "a pickle"},
		{"after the end", `{"weight_map":{}} 1`, checkpoint.IndexFile, 18, `"1" after the end`},
		{"twice", `{"weight_map":{"x":"a.safetensors","y":"twice.safetensors"}}`, "twice.safetensors", -1,
			"tensor x: also in "},
		{"cut", `{"weight_map":{"z":"cut.safetensors"}}`, "cut.safetensors", 13,
			"tensor z: data to byte 16 of 3"},
		{"not there", `{"weight_map":{"x":"a.safetensors","q":"a.safetensors"}}`, checkpoint.IndexFile, -1,
			"tensor q: not in a.safetensors, where the index lists it"},
		{"not said", `{"weight_map":{"q":"a.safetensors"}}`, checkpoint.IndexFile, -1,
			"tensor x: is in a.safetensors, but the index does not list it there"},
		{"huge", `{"weight_map":{"` + strings.Repeat("x", checkpoint.MaxHeader) + `":""}}`,
			checkpoint.IndexFile, 0, "index of more than 4194304 bytes"},
	} {
		folder := shards(t, c.index)
		wantFault(t, c.name, folder, filepath.Join(folder, c.file), c.offset, c.want)
	}
}
