package gpu_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/graph/gpu"
)

// The PTX belongs to the sources as they are: after a change, run go generate -tags cuda.
func TestKernelsAreCompiled(t *testing.T) {
	for _, name := range gpu.Sources() {
		stamp, err := gpu.Stamp(os.DirFS("kernel"), name)
		if err != nil {
			t.Fatal(err)
		}
		ptx, err := os.ReadFile(filepath.Join("kernel", name+".ptx"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(ptx, []byte(stamp)) {
			t.Errorf("kernel/%s.ptx is not that of the source: run go generate -tags cuda in graph/gpu", name)
		}
	}
}

// No file of kernels is left out, and no PTX left over.
func TestAllKernelsAreListed(t *testing.T) {
	want := slices.Sorted(slices.Values(gpu.Sources()))
	for _, extension := range []string{".cu", ".ptx"} {
		var got []string
		files, err := filepath.Glob("kernel/*" + extension)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			got = append(got, strings.TrimSuffix(filepath.Base(file), extension))
		}
		if !slices.Equal(got, want) {
			t.Errorf("folder kernel has %v with %s, want %v", got, extension, want)
		}
	}
}

// onHostAlone are ops that a GPU does not compute: two which only the host's programs have (foldSlope, of
// constants), and two whose runs are refused there by name.
var onHostAlone = []string{"ConvBackwardDataMulOp", "ConvAddOp", "MixedCrossEntropyOp", "PadTextsOp"}

// hostOps returns the exported types of ops that the host computes, except onHostAlone.
func hostOps(t *testing.T) []string {
	kernel := regexp.MustCompile(`(?m)^func \((?:\w+ )?(\w+Op)\) host\(`)
	files, err := filepath.Glob("../op_*.go")
	if err != nil {
		t.Fatal(err)
	}
	var ops []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range kernel.FindAllSubmatch(text, -1) {
			if op := string(m[1]); !slices.Contains(onHostAlone, op) {
				ops = append(ops, op)
			}
		}
	}
	return ops
}

// A GPU computes every op of hostOps.
func TestAllOpsHaveKernels(t *testing.T) {
	prepare, err := os.ReadFile("prepare.go")
	if err != nil {
		t.Fatal(err)
	}
	ops := hostOps(t)
	if len(ops) < 40 {
		t.Errorf("%d ops found, want more", len(ops))
	}
	for _, op := range ops {
		if !bytes.Contains(prepare, []byte("case graph."+op+":")) {
			t.Errorf("prepare.go has no case for graph.%s", op)
		}
	}
}
