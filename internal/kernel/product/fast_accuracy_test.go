package product_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/product"
)

var (
	winogradFile = flag.String("accuracy", "", "file that TestWinogradAccuracy writes its table to")
	strassenFile = flag.String("strassen", "", "file that TestStrassenAccuracy writes its table to")
)

// TestWinogradAccuracy compares direct and Winograd convolutions with float64 on the layers of vgg11 and
// resnet50, and holds their errors to a bound. With -accuracy it writes the table
//
//	go test ./internal/kernel/product -run WinogradAccuracy -accuracy ../../../results/winograd_accuracy.md
func TestWinogradAccuracy(t *testing.T) {
	shapes := []product.ConvShape{conv3x3(2, 16, 16, 64, 128, 1), conv3x3(2, 15, 15, 24, 64, 1),
		conv3x3(16, 2, 2, 64, 64, 1), strided3x3(9, 16, 16, 64, 64)}
	if *winogradFile != "" {
		shapes = append(shapes, conv3x3(2, 32, 32, 64, 64, 1), conv3x3(2, 16, 16, 128, 128, 1),
			conv3x3(4, 8, 8, 128, 256, 1), conv3x3(4, 8, 8, 256, 256, 1), conv3x3(16, 4, 4, 256, 512, 1),
			conv3x3(16, 4, 4, 512, 512, 1), conv3x3(64, 2, 2, 512, 512, 1),
			strided3x3(2, 32, 32, 128, 128), strided3x3(8, 16, 16, 256, 256), strided3x3(64, 8, 8, 512, 512))
	}
	compareErrors(t, "Winograd", shapes, 1.2e-6, *winogradFile, winogradHead)
}

// TestStrassenAccuracy does so for linear layers by Strassen's algorithm.
//
//	go test ./internal/kernel/product -run StrassenAccuracy -strassen ../../../results/strassen_accuracy.md
func TestStrassenAccuracy(t *testing.T) {
	linear := func(n, c, k int) product.ConvShape { return product.ConvShape{n, 1, 1, c, k, 1, 1, 1, 0} }
	shapes := []product.ConvShape{linear(400, 256, 256)}
	if *strassenFile != "" {
		shapes = append(shapes, linear(1024, 768, 768), linear(1024, 768, 3072), linear(1024, 3072, 768),
			linear(4096, 256, 256), linear(4096, 256, 1024), linear(4096, 1024, 256),
			product.ConvShape{16, 16, 16, 512, 1024, 1, 1, 2, 0})
	}
	compareErrors(t, "Strassen", shapes, 2e-6, *strassenFile, strassenHead)
}

// compareErrors compares direct and fast products, by an algorithm, with float64, and holds the errors of
// fast ones, which must differ from those of direct ones, to a bound. If file is not empty, the table is
// written there, after head.
func compareErrors(t *testing.T, algorithm string, shapes []product.ConvShape, bound float64,
	file, head string) {
	t.Helper()
	table := bytes.NewBufferString(head)
	fmt.Fprintf(table, "\n| filter, channels, map, images | direction | direct | %s | ratio |\n", algorithm)
	table.WriteString("|---|---|---:|---:|---:|\n")
	for _, s := range shapes {
		d := newConvData(t, s).define()
		fast := d.errors(d.run(t, kerneltest.Open(t, compute.Best(), 2), false))
		direct := d.errors(d.run(t, openExact(t, compute.Best(), 2), false))
		for i, name := range []string{"forward", "backward data", "backward weights"} {
			fmt.Fprintf(table, "| %s | %s | %.2g | %.2g | %.1f |\n", shapeName(s), name, direct[i], fast[i],
				fast[i]/direct[i])
			if !(fast[i] < bound) || fast[i] == direct[i] {
				t.Errorf("%s, %s: relative error %.2g, direct %.2g", shapeName(s), name, fast[i], direct[i])
			}
		}
	}
	if file != "" {
		if err := os.WriteFile(file, table.Bytes(), 0o644); err != nil {
			t.Error(err)
		}
	}
}

const winogradHead = `# Rounding errors of Winograd convolutions

Root mean square of the error against float64, divided by that of the result; operands uniform in
(-1, 1), the best path of the processor (AVX-512). Written by

    go test ./internal/kernel/product -run WinogradAccuracy -accuracy ../../../results/winograd_accuracy.md
`

const strassenHead = `# Rounding errors of linear layers by Strassen's algorithm

Root mean square of the error against float64, divided by that of the result; operands uniform in
(-1, 1), the best path of the processor (AVX-512). Images are rows. Written by

    go test ./internal/kernel/product -run StrassenAccuracy -strassen ../../../results/strassen_accuracy.md
`

// errors returns the relative root mean square errors of the three directions.
func (d *definedData) errors(r convResult) (list [3]float64) {
	for i, v := range []struct {
		got  []float32
		want []float64
	}{{r.y, d.y}, {r.dx, d.dx}, {r.dw, d.dw}} {
		var sum, size float64
		for j, want := range v.want {
			e := float64(v.got[j]) - want
			sum, size = sum+e*e, size+want*want
		}
		list[i] = math.Sqrt(sum / size)
	}
	return list
}
