package setting_test

import (
	"strings"
	"testing"

	"lockstep/app/setting"
)

func TestWith(t *testing.T) {
	c := setting.Default()
	c.Epochs, c.Workers, c.Threads = 3, 1, 2
	got, err := c.With([]setting.Value{{Name: "steps", Text: "5"}, {Name: "workers", Text: "4"},
		{Name: "overlap-forward"}})
	if err != nil || got.Steps != 5 || got.Epochs != 0 || got.Workers != 4 || got.Threads != 0 ||
		!got.OverlapForward {
		t.Errorf("%+v, %v: want 5 steps and no epochs, 4 workers with open threads, a switch that is on",
			got, err)
	}
	if c.Epochs != 3 {
		t.Error("the receiver has changed")
	}
	for text, v := range map[string]setting.Value{
		`row 2: unknown key "bukcet"; did you mean "bucket"?`:   {Name: "bukcet", Text: "1", Where: "row 2"},
		`--batch: "x" is no whole number, want 1 to 1073741824`: {Name: "batch", Text: "x"},
	} {
		if _, err := c.With([]setting.Value{v}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: error %v, want %q", v, err, text)
		}
	}
}

// What ends with other bits says why; what promises the bits of one worker says nothing.
func TestInexact(t *testing.T) {
	for _, test := range []struct{ workers, strategy, algorithm, wire, want string }{
		{"2", "ddp", "auto", "fp32", ""},
		{"2", "ddp", "ring", "fp32", "the ring"},
		{"2", "gather-scatter", "ring", "fp32", ""},
		{"2", "ddp", "auto", "zstd", ""},
		{"2", "ddp", "auto", "int8", "the wire int8"},
		{"2", "none", "auto", "fp32", "never exchange"},
		{"1", "single", "ring", "int8", ""},
	} {
		c, err := setting.Default().With([]setting.Value{{Name: "workers", Text: test.workers},
			{Name: "strategy", Text: test.strategy}, {Name: "algorithm", Text: test.algorithm},
			{Name: "wire", Text: test.wire}})
		if err != nil {
			t.Fatal(err)
		}
		got := c.Inexact()
		if !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%+v: %q, want %q", test, got, test.want)
		}
	}
}
