package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
)

const (
	source = "results/pytorch/steps-xeon.jsonl"
	target = "docs/steps.svg"
)

// pair is a step of both programs, measured one after the other.
type pair struct {
	Data    string  `json:"data"` // "": random inputs of one length
	Model   string  `json:"model"`
	Batch   int     `json:"batch"`
	Threads int     `json:"threads"`
	Math    string  `json:"math"`
	Ratio   float64 `json:"torch_over_lockstep"`
}

// row is a line of the figure: one model and batch.
type row struct {
	model string
	batch int
	label string
}

var rows = []row{
	{"lenet", 16, "lenet, batch 16"},
	{"lenet", 64, "lenet, batch 64"},
	{"vgg11", 64, "vgg11, batch 64"},
	{"vgg11", 256, "vgg11, batch 256"},
	{"resnet50", 64, "resnet50, CIFAR stem, batch 64"},
	{"resnet50_224", 8, "resnet50, 224 pixels, batch 8"},
	{"bert-mini", 32, "bert-mini, 32 x 128 tokens"},
	{"bert-base", 8, "bert-base, 8 x 128 tokens"},
}

func main() {
	log.SetFlags(0)
	text, err := os.ReadFile(source)
	if err != nil {
		log.Fatal(err)
	}
	drawing, err := draw(text)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(target, drawing, 0o666); err != nil {
		log.Fatal(err)
	}
}

// Places in the figure, in pixels: bars begin at left, a ratio of 1 takes unit.
const (
	left, unit     = 220, 110
	top, rowHeight = 64, 34
	width          = 720
)

// draw returns the figure of the pairs in text, one JSON object a line.
func draw(text []byte) ([]byte, error) {
	var pairs []pair
	for line := range bytes.Lines(text) {
		var p pair
		if err := json.Unmarshal(line, &p); err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		if p.Math == "fast" && p.Data == "" {
			pairs = append(pairs, p)
		}
	}
	height := top + rowHeight*len(rows) + 50
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" `+
		`font-family="sans-serif" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	write(&b, 16, 22, `font-size="15" font-weight="bold"`,
		"PyTorch's training step over Lockstep's, both in float32")
	write(&b, 16, 42, `fill="#555"`, "longer: Lockstep is faster; dark: one thread, light: two threads")
	for n := range 5 {
		color := "#ddd"
		if n == 1 {
			color = "#555"
		}
		fmt.Fprintf(&b, `<path d="M%d %dV%d" stroke="%s"/>`+"\n", left+n*unit, top-8,
			top+rowHeight*len(rows), color)
		write(&b, left+n*unit, top+rowHeight*len(rows)+14, `text-anchor="middle" fill="#555"`, fmt.Sprint(n))
	}
	for i, r := range rows {
		y := top + i*rowHeight
		write(&b, left-8, y+19, `text-anchor="end"`, r.label)
		for threads, color := range []string{1: "#2b5d8a", 2: "#8fb8da"} {
			if threads > 0 {
				bar(&b, y+13*(threads-1), color, r.ratios(pairs, threads))
			}
		}
	}
	write(&b, 16, height-12, `fill="#555"`,
		"Two cores of a shared Xeon (AVX-512), PyTorch 2.15 tuned; "+
			"bar: median of five pairs, line: least to most")
	b.WriteString("</svg>\n")
	return b.Bytes(), nil
}

// ratios returns what the pairs of a row measured, sorted.
func (r row) ratios(pairs []pair, threads int) []float64 {
	var ratios []float64
	for _, p := range pairs {
		if p.Model == r.model && p.Batch == r.batch && p.Threads == threads {
			ratios = append(ratios, p.Ratio)
		}
	}
	slices.Sort(ratios)
	return ratios
}

// bar draws the median of sorted ratios, their range, and the median as a number.
func bar(b *bytes.Buffer, y int, color string, ratios []float64) {
	if len(ratios) == 0 {
		write(b, left+6, y+10, `font-size="10" fill="#555"`, "not measured")
		return
	}
	median := ratios[len(ratios)/2]
	least, most := ratios[0]*unit, ratios[len(ratios)-1]*unit
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%.1f" height="12" fill="%s"/>`, left, y, median*unit, color)
	fmt.Fprintf(b, `<path d="M%.1f %dH%.1f" stroke="#000"/>`+"\n", left+least, y+6, left+most)
	write(b, left+int(most)+6, y+10, `font-size="10"`, fmt.Sprintf("%.2f", median))
}

func write(b *bytes.Buffer, x, y int, style, text string) {
	text = strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(text)
	fmt.Fprintf(b, `<text x="%d" y="%d" %s>%s</text>`+"\n", x, y, style, text)
}
