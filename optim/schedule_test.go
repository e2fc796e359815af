package optim_test

import (
	"fmt"
	"math"
	"testing"

	"lockstep/optim"
)

func ExampleScheduleConfig_Build() {
	// Ten steps of two per epoch, the first epoch and a half warming up.
	s, _ := optim.ScheduleConfig{Name: "linear", Warmup: 1.5}.Build(0.7, 10, 2)
	for step := range 10 {
		fmt.Printf("%.3f ", s.Rate(step))
	}
	// Output: 0.233 0.467 0.700 0.700 0.600 0.500 0.400 0.300 0.200 0.100
}

func TestSchedules(t *testing.T) {
	const steps, perEpoch = 40, 4
	for _, c := range []struct {
		name   string
		config optim.ScheduleConfig
		want   map[int]float64 // of a base rate of 2
	}{
		{"default is constant", optim.ScheduleConfig{}, map[int]float64{0: 2, 39: 2, 1000: 2}},
		{"constant with warm-up", optim.ScheduleConfig{Name: "constant", Warmup: 2},
			map[int]float64{0: 0.25, 3: 1, 6: 1.75, 7: 2, 8: 2}},
		{"fractional warm-up", optim.ScheduleConfig{Warmup: 0.625},
			map[int]float64{0: 0.8, 1: 1.6, 2: 2}},
		{"step", optim.ScheduleConfig{Name: "step", Every: 3, Factor: 0.5},
			map[int]float64{0: 2, 11: 2, 12: 1, 23: 1, 24: 0.5, 36: 0.25, 99: 0.25}},
		{"step at milestones",
			optim.ScheduleConfig{Name: "step", Milestones: optim.Milestones{1.5, 3, 8}, Factor: 0.5},
			map[int]float64{0: 2, 5: 2, 6: 1, 11: 1, 12: 0.5, 31: 0.5, 32: 0.25, 99: 0.25}},
		{"step by default never drops within 30 epochs", optim.ScheduleConfig{Name: "step"},
			map[int]float64{39: 2}},
		{"cosine", optim.ScheduleConfig{Name: "cosine"}, map[int]float64{
			0: 2, 10: 1 + math.Sqrt2/2, 20: 1, 30: 1 - math.Sqrt2/2,
			39: 1 + math.Cos(math.Pi*39/40), 50: 1 + math.Cos(math.Pi*39/40)}},
		{"cosine after warm-up", optim.ScheduleConfig{Name: "cosine", Warmup: 2},
			map[int]float64{0: 0.25, 7: 2, 8: 2, 24: 1, 32: 1 - math.Sqrt2/2}},
		{"linear", optim.ScheduleConfig{Name: "linear"}, map[int]float64{0: 2, 10: 1.5, 39: 0.05}},
		{"triangle", optim.ScheduleConfig{Name: "triangle", // u = 9
			Triangle: optim.Triangle{Start: 0.2, Peak: 0.24, End: 0.07}},
			map[int]float64{0: 0.4, 3: 0.4 + 1.6/3, 9: 2, 20: 2 - 1.86*11/31, 39: 2 - 1.86*30/31,
				99: 2 - 1.86*30/31}},
		{"triangle without a rise", optim.ScheduleConfig{Name: "triangle"},
			map[int]float64{0: 2, 10: 1.5, 39: 0.05}},
		{"triangle that only rises",
			optim.ScheduleConfig{Name: "triangle", Triangle: optim.Triangle{Peak: 1}},
			map[int]float64{0: 0, 10: 0.5, 39: 1.95}},
		{"warm-up longer than the run", optim.ScheduleConfig{Name: "linear", Warmup: 20},
			map[int]float64{0: 0.025, 39: 1}},
	} {
		s, err := c.config.Build(2, steps, perEpoch)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for step, want := range c.want {
			if got := s.Rate(step); math.Abs(got-want) > 1e-15*4 {
				t.Errorf("%s: rate of step %d is %v, want %v", c.name, step, got, want)
			}
		}
	}
}

func TestCosineAgainstMath(t *testing.T) {
	s, err := optim.ScheduleConfig{Name: "cosine"}.Build(1, 9973, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 9973 {
		want := (1 + math.Cos(math.Pi*float64(i)/9973)) / 2
		if got := s.Rate(i); math.Abs(got-want) > 1e-15 {
			t.Fatalf("step %d: %v, want %v", i, got, want)
		}
	}
}

// TestCosineBits holds the exact bits of a few rates, which every processor must reproduce.
func TestCosineBits(t *testing.T) {
	s, err := optim.ScheduleConfig{Name: "cosine", Warmup: 0.3}.Build(0.1, 97, 10)
	if err != nil {
		t.Fatal(err)
	}
	for step, want := range map[int]uint64{
		1: 0x3fb1111111111111, 17: 0x3fb83967dd5aa6e5, 50: 0x3fa999999999999a,
		75: 0x3f8a746f5ee49b44, 96: 0x3efd47346990c667,
	} {
		if got := math.Float64bits(s.Rate(step)); got != want {
			t.Errorf("step %d: %#x, want %#x", step, got, want)
		}
	}
}

func TestScheduleErrors(t *testing.T) {
	for _, c := range []optim.ScheduleConfig{
		{Name: "cosin"}, {Warmup: -1}, {Warmup: math.NaN()}, {Warmup: math.Inf(1)},
		{Name: "triangle", Warmup: 1}, {Name: "triangle", Triangle: optim.Triangle{Peak: math.NaN()}},
		{Name: "triangle", Triangle: optim.Triangle{Start: -0.1}}, {Triangle: optim.Triangle{End: 1.1}},
		{Name: "step", Every: -1}, {Name: "step", Factor: 1.5}, {Name: "step", Factor: math.NaN()},
		{Name: "step", Every: 3, Milestones: optim.Milestones{1}},
		{Name: "step", Milestones: optim.Milestones{2, 1}},
		{Name: "step", Milestones: optim.Milestones{math.NaN()}},
	} {
		if _, err := c.Build(1, 10, 1); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
	if _, err := (optim.ScheduleConfig{}).Build(1, 10, 0); err == nil {
		t.Error("an epoch of no steps: no error")
	}
}

func TestScaleRule(t *testing.T) {
	r, err := optim.ParseScaleRule("linear,256")
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Apply(0.1, 1024); got != 0.4 {
		t.Errorf("0.1 at batch 1024: %v, want 0.4", got)
	}
	if got := r.String(); got != "linear,256" {
		t.Errorf("String() = %q", got)
	}
	root, err := optim.ParseScaleRule("sqrt,64")
	if err != nil || root.Apply(0.1, 256) != 0.2 || root.String() != "sqrt,64" {
		t.Errorf("sqrt rule: %+v, %v, %v", root, err, root.Apply(0.1, 256))
	}
	none, err := optim.ParseScaleRule("")
	if err != nil || none.Apply(0.1, 7) != 0.1 || none.String() != "" {
		t.Errorf("zero rule: %+v, %v", none, err)
	}
	for _, bad := range []string{"linear", "linear,", "linear,0", "linear,-4",
		"square,2", "sqrt", "linear,2,3"} {
		if _, err := optim.ParseScaleRule(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestParseTriangle(t *testing.T) {
	got, err := optim.ParseTriangle("0.2,0.23,0.07")
	if want := (optim.Triangle{Start: 0.2, Peak: 0.23, End: 0.07}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if got, err := optim.ParseTriangle(""); err != nil || got != (optim.Triangle{}) {
		t.Errorf("empty: %+v, %v", got, err)
	}
	for _, bad := range []string{"0.2", "0.2,0.3", "0.2,x,0.1", "0,0,0,0", "2,0.1,0", "0,NaN,0"} {
		if _, err := optim.ParseTriangle(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}
