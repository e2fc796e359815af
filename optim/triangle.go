package optim

import (
	"fmt"
	"strconv"
	"strings"
)

// Triangle is a rate that rises linearly to the base rate and falls linearly again (Smith and Topin
// 2017, arXiv 1708.07120, without its last phase).
type Triangle struct {
	// Start and End are the factors of the base rate at the first step and after the last one.
	Start, End float64
	// Peak is the fraction of the run after which the base rate is reached. All three are in [0,
	// 1].
	Peak float64
}

// ParseTriangle parses "START,PEAK,END" such as "0.2,0.23,0.07"; the empty string is the zero
// Triangle, a linear fall from the base rate to 0.
func ParseTriangle(s string) (Triangle, error) {
	if s == "" {
		return Triangle{}, nil
	}
	var corners [3]float64
	texts := strings.Split(s, ",")
	for i := range corners {
		var err error
		if len(texts) == len(corners) {
			corners[i], err = strconv.ParseFloat(texts[i], 64)
		}
		if err != nil || len(texts) != len(corners) {
			return Triangle{}, fmt.Errorf("optim: triangle %.80q, want START,PEAK,END such as 0.2,0.23,0.07",
				s)
		}
	}
	t := Triangle{Start: corners[0], Peak: corners[1], End: corners[2]}
	return t, t.validate()
}

// String returns the form that ParseTriangle parses.
func (t Triangle) String() string {
	if t == (Triangle{}) {
		return ""
	}
	return fmt.Sprintf("%v,%v,%v", t.Start, t.Peak, t.End)
}

func (t Triangle) validate() error {
	for _, x := range []float64{t.Start, t.Peak, t.End} {
		if !(x >= 0 && x <= 1) {
			return fmt.Errorf("optim: triangle from %v by its peak at %v to %v, want each from 0 to 1",
				t.Start, t.Peak, t.End)
		}
	}
	return nil
}

// rise is the schedule of a Triangle.
type rise struct {
	Triangle
	lr    float64
	steps int
	peak  int // the step of the base rate
}

func (r rise) Rate(step int) float64 {
	i := min(step, max(r.steps-1, 0))
	if i < r.peak {
		return r.lr * (r.Start + float64((1-r.Start)*float64(i))/float64(r.peak))
	}
	return r.lr * (1 - float64((1-r.End)*float64(i-r.peak))/float64(max(r.steps-r.peak, 1)))
}
