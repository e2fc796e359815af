package data_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/data"
)

// Transparency, palettes, depths, inks and orientations become the pixels that Pillow makes of them, see
// testdata/images/make.py.
func TestImagesArePillows(t *testing.T) {
	const folder = "testdata/images"
	list, err := os.ReadFile(filepath.Join(folder, "all.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		var name, pixels string
		side := 0
		if _, err := fmt.Sscan(line, &name, &side, &pixels); err != nil {
			t.Fatal(err)
		}
		want, err := hex.DecodeString(pixels)
		if err != nil {
			t.Fatal(err)
		}
		root := t.TempDir()
		image, err := os.ReadFile(filepath.Join(folder, name))
		for _, class := range []string{"a", "b"} {
			path := filepath.Join(root, class, name)
			if err == nil {
				err = os.Mkdir(filepath.Dir(path), 0o755)
			}
			if err == nil {
				err = os.WriteFile(path, image, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		train, _, err := data.Load(context.Background(), root, data.Options{Side: side})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		allowed := 0
		if filepath.Ext(name) == ".jpg" {
			allowed = 2 // decoders round differently
		}
		for i, p := range train.Pixels[:len(want)] {
			if d := int(p) - int(want[i]); d > allowed || d < -allowed {
				t.Errorf("%s: byte %d is %d, want %d", name, i, p, want[i])
				break
			}
		}
	}
}
