package asm_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A core with four pipes for multiply-adds of 128 bits, three for loads, and room for eight instructions in
// a cycle: the largest that the kernels for arm64 are meant for. What the innermost loops could reach there
// is counted in the generated text; nothing is timed.
const (
	pipes = 4
	loads = 3
	width = 8
)

// loop is what one turn of an innermost loop takes, in instructions.
type loop struct{ multiplyAdds, loads, all int }

// share returns the share of the multiply-adds that such a core could start, were nothing to wait for memory
// or for another instruction.
func (l loop) share() float64 {
	cycles := max(float64(l.multiplyAdds)/pipes, float64(l.loads)/loads, float64(l.all)/width)
	return float64(l.multiplyAdds) / pipes / cycles
}

// The innermost loops of products, convolutions and their gradients keep the multiply-add pipes of such a
// core busy: no more instructions or loads for each multiply-add than are written here.
func TestInnerLoopsOfNEON(t *testing.T) {
	loops := innerLoops(t)
	for _, want := range []struct {
		name         string
		multiplyAdds int     // of one turn
		most         float64 // instructions for each
		mostLoads    float64
		share        float64
	}{
		{"tileNEON_6x16/channels", 4 * 24, 1.6, 0.55, 1},
		{"tileNEON_4x16/channels", 4 * 16, 1.75, 0.65, 1},
		{"outerNEON_6x16/pixel", 24, 1.8, 0.6, 1},
		{"laneNEON_2x6/channel", 24, 1.6, 0.45, 1},
		{"laneOuterNEON_2x6/pixel", 24, 1.5, 0.7, 1},
	} {
		got, found := loops[want.name]
		if !found || got.multiplyAdds != want.multiplyAdds {
			t.Errorf("%s: %+v, want %d multiply-adds", want.name, got, want.multiplyAdds)
			continue
		}
		n := float64(got.multiplyAdds)
		each, loads := float64(got.all)/n, float64(got.loads)/n
		t.Logf("%s: %.2f instructions and %.2f loads for each multiply-add, at most %.0f %% of four pipes",
			want.name, each, loads, 100*got.share())
		if each > want.most || loads > want.mostLoads || got.share() < want.share {
			t.Errorf("%s: %.2f instructions and %.2f loads for each multiply-add, want %.2f and %.2f",
				want.name, each, loads, want.most, want.mostLoads)
		}
	}
}

var (
	neonText   = regexp.MustCompile(`^TEXT ·(\w+)\(SB\)`)
	neonLabel  = regexp.MustCompile(`^(\w+):$`)
	neonBranch = regexp.MustCompile(`^\tB\w*\s+(\w+)$`)
	neonLoad   = regexp.MustCompile(`^\t(FLDPQ|FMOV[SDQ]|MOV\w+|VLD1|PRFM)\s+\S*\(.*, `)
	multiply   = regexp.MustCompile(`^\tVFML[AS] |// FML[AS] `)
)

// innerLoops returns the innermost loops of all generated functions for arm64, by function and label: from
// a label to the branch back to it, if none between goes back too.
func innerLoops(t *testing.T) map[string]loop {
	t.Helper()
	files, err := filepath.Glob("z*_arm64.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly: %v", err)
	}
	loops := map[string]loop{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		function, sum, open := "", loop{}, map[string]loop{} // so far, and up to each label
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\n")
			if m := neonText.FindStringSubmatch(line); m != nil {
				function, open = m[1], map[string]loop{}
			} else if m := neonLabel.FindStringSubmatch(line); m != nil {
				open[m[1]] = sum
			} else if strings.HasPrefix(line, "\t") {
				sum = sum.with(line)
				if b := neonBranch.FindStringSubmatch(line); b != nil {
					if before, isBack := open[b[1]]; isBack {
						loops[function+"/"+b[1]] = loop{sum.multiplyAdds - before.multiplyAdds,
							sum.loads - before.loads, sum.all - before.all}
						open = map[string]loop{}
					}
				}
			}
		}
	}
	return loops
}

// with returns l and an instruction more. A load of two registers counts as two, and a prefetch as one.
func (l loop) with(line string) loop {
	l.all++
	if multiply.MatchString(line) {
		l.multiplyAdds++
	}
	if m := neonLoad.FindStringSubmatch(line); m != nil {
		l.loads++
		if m[1] == "FLDPQ" {
			l.loads++
		}
	}
	return l
}
