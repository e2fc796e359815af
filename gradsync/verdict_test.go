package gradsync

import (
	"math"
	"testing"
)

// At the break-even the time saved on the link is twice that of encoding and decoding. Above it
// nothing is chosen; below it the fastest wire, but never one that rounds more than bf16.
func TestGovernorsChoice(t *testing.T) {
	trials := []WireTrial{
		{Wire: "bf16", Ratio: 2, Encode: 2e9, Decode: 2e9},           // 1 ns per byte: even at 250 MB/s
		{Wire: "int8", Ratio: 4, Encode: 2e9, Decode: 2e9},           // even at 375 MB/s
		{Wire: "deflate", Ratio: 1.25, Encode: 400e6, Decode: 400e6}, // 5 ns: even at 20 MB/s
	}
	for _, test := range []struct {
		link float64
		want string
	}{{1e9, "fp32"}, {255e6, "fp32"}, {245e6, "bf16"}, {12.5e6, "bf16"}} {
		c := &Verdict{Asked: "auto", Link: test.link, Trials: append([]WireTrial(nil), trials...)}
		c.weigh()
		if got := c.choose(); got != test.want {
			t.Errorf("link of %v: %s, want %s", test.link, got, test.want)
		}
		for i, want := range []float64{250e6, 375e6, 20e6} {
			trial := c.Trials[i]
			if d := math.Abs(trial.BreakEven - want); d > 1e3 || trial.IsPaying != (test.link < want) {
				t.Errorf("link of %v: %+v, want break-even at %v", test.link, trial, want)
			}
		}
	}
}

func TestVerdictText(t *testing.T) {
	const measured = " the link carries 2 MB/s; deflate pays below 20 MB/s " +
		"(ratio 1.25, here 1.2x as fast as fp32)"
	for asked, want := range map[string]string{"auto": "wire: deflate, since",
		"deflate": "wire: deflate, as asked;"} {
		v := &Verdict{Asked: asked, Link: 2e6,
			Trials: []WireTrial{{Wire: "deflate", Ratio: 1.25, Encode: 400e6, Decode: 400e6}}}
		v.weigh()
		v.choose()
		if got := v.String(); got != want+measured {
			t.Errorf("got  %s\nwant %s", got, want+measured)
		}
	}
}

// The only lossy wire that auto may choose is bf16, as the README and the help say.
func TestAutoMayRoundToBF16(t *testing.T) {
	for _, w := range Wires() {
		if w.IsLossy() && isChoosable(w.String()) != (w.String() == "bf16") {
			t.Errorf("%s may be chosen: %v", w, isChoosable(w.String()))
		}
	}
}
