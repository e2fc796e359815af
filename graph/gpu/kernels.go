package gpu

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"slices"
)

// sources are the files of folder kernel that are compiled to PTX, without their extension.
var sources = []string{"elementwise", "norm", "pool", "product", "filter", "attention", "rows",
	"embedding", "loss", "update", "profile", "columns"}

// Sources lists the files of folder kernel that are compiled, without their extension.
func Sources() []string { return slices.Clone(sources) }

// Stamp returns the first line of the PTX of a source: the hash of that and of what it includes.
func Stamp(folder fs.FS, name string) (string, error) {
	headers, err := fs.Glob(folder, "*.cuh")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, file := range append([]string{name + ".cu"}, headers...) {
		text, err := fs.ReadFile(folder, file)
		if err != nil {
			return "", fmt.Errorf("gpu: %w", err)
		}
		h.Write(text)
	}
	return fmt.Sprintf("// Code generated from %s.cu by generate; DO NOT EDIT. Sources: sha256 %x\n", name,
		h.Sum(nil)), nil
}
