package asm_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAssemblyIsCurrent regenerates the assembly and compares. Where the generator cannot be built
// (no Go command, its modules not in the cache) the sums it left behind are compared instead.
func TestAssemblyIsCurrent(t *testing.T) {
	const advice = "run: cd internal/kernel/asmgen && go run ."
	checkSums(t, advice)
	if testing.Short() {
		t.Skip("compared sums only: -short")
	}
	out := t.TempDir()
	generate := exec.Command("go", "run", ".", "-out", out)
	generate.Dir = "../asmgen"
	generate.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS=", "GOOS=", "GOARCH=")
	if message, err := generate.CombinedOutput(); err != nil {
		t.Skipf("compared sums only, as the generator does not run offline here: %v: %.200s", err, message)
	}
	num := 0
	err := fs.WalkDir(os.DirFS(out), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		num++
		want, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return err
		}
		if got, err := os.ReadFile(filepath.Join(module, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale (%v); %s", name, err, advice)
		}
		return nil
	})
	if err != nil || num < 5 {
		t.Fatalf("generated %d files, err %v", num, err)
	}
}

// module is the root of the module.
const module = "../../.."

// checkSums compares the generator's sources and outputs with the sums it left behind.
func checkSums(t *testing.T, advice string) {
	sums, err := os.ReadFile("asmgen.sum")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(sums)) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		text, err := os.ReadFile(filepath.Join(module, filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
		} else if got := fmt.Sprintf("%x", sha256.Sum256(text)); got != want {
			t.Errorf("%s does not have the sum in asmgen.sum; %s", name, advice)
		}
	}
}
