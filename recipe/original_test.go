package recipe_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/recipe"
)

// originals are the reports whose experiments r0 to r4 repeat. They are no part of this repository, so what
// rests on them is tested only beside them.
const originals = "../../shared/originals"

// reference returns the reference of a plan.
func reference(t *testing.T, c recipe.Comparison) (ref record.Reference) {
	t.Helper()
	lines, err := setting.ReadSheet(c.Name, []byte(c.Plan))
	for _, l := range lines {
		if l.Name == "reference" && err == nil {
			err = l.Decode(&ref)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// numbers returns the numbers of a text.
func numbers(text string) (all []float64) {
	for _, word := range regexp.MustCompile(`\d[\d,]*(\.\d+)?`).FindAllString(text, -1) {
		if v, err := strconv.ParseFloat(strings.ReplaceAll(word, ",", ""), 64); err == nil {
			all = append(all, v)
		}
	}
	return all
}

// isRounded reports whether a figure is one of the values, rounded to the decimals that the figure has.
func isRounded(figure float64, of []float64) bool {
	_, decimals, _ := strings.Cut(strconv.FormatFloat(figure, 'f', -1, 64), ".")
	scale := math.Pow(10, float64(len(decimals)))
	for _, v := range of {
		if math.Abs(v-figure)*scale <= 0.5+1e-9 {
			return true
		}
	}
	return false
}

// calculated returns the value of products and quotients, from left to right, and the numbers in them.
func calculated(t *testing.T, arithmetic string) (value float64, of []float64) {
	t.Helper()
	words := strings.Fields(arithmetic)
	for i := 0; i < len(words); i += 2 {
		v, err := strconv.ParseFloat(words[i], 64)
		switch {
		case err != nil:
			t.Fatalf("%q: %v", arithmetic, err)
		case i == 0:
			value = v
		case words[i-1] == "*":
			value *= v
		case words[i-1] == "/":
			value /= v
		default:
			t.Fatalf("%q: %q", arithmetic, words[i-1])
		}
		of = append(of, v)
	}
	return value, of
}

// A reference figure that is derived is what its arithmetic gives.
func TestDerivedFigures(t *testing.T) {
	for _, c := range recipe.Comparisons() {
		for _, row := range reference(t, c).Rows {
			for name, arithmetic := range row.Derived {
				value, _ := calculated(t, arithmetic)
				if !isRounded(row.Figures[name], []float64{value}) {
					t.Errorf("%s, %s: %s %v, want %s = %v", c.Name, row.Name, name, row.Figures[name],
						arithmetic, value)
				}
			}
		}
	}
}

// A reference figure that is not derived stands in the original, and so does what others are derived from.
func TestReferenceFiguresAreWritten(t *testing.T) {
	for name, file := range map[string]string{"r0": "r0.txt", "r1": "r1.md", "r2": "r2.md", "r3": "r3.md",
		"r4": "r4.md"} {
		text, err := os.ReadFile(filepath.Join(originals, file))
		if err != nil {
			t.Skip(err)
		}
		// 100 makes percent, 1000 another unit.
		written := append(numbers(string(text)), 100, 1000)
		c, _ := recipe.ComparisonNamed(name)
		for _, row := range reference(t, c).Rows {
			for quantity, figure := range row.Figures {
				of := []float64{figure}
				if arithmetic := row.Derived[quantity]; arithmetic != "" {
					_, of = calculated(t, arithmetic)
				}
				for _, v := range of {
					if !isRounded(v, written) {
						t.Errorf("%s, %s: %s %v is not written", name, row.Name, quantity, v)
					}
				}
			}
		}
	}
}
