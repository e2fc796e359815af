package optim_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/internal/alloctest"
	"lockstep/optim"
	"lockstep/random"
)

// network is a small one of every kind of parameter, with gaps: a convolution 3x3 of 3 to 8 channels and
// its bias, a linear layer that is wider than deep, an embedding, and the last layer.
func network() (params []optim.Param, n int) {
	return []optim.Param{
		{Name: "conv.weight", Offset: 0, Len: 216, Rows: 27, Cols: 8, Kind: optim.Matrix},
		{Name: "conv.bias", Offset: 224, Len: 8, Rows: 1, Cols: 8},
		{Name: "wide.weight", Offset: 240, Len: 480, Rows: 12, Cols: 40, Kind: optim.Matrix},
		{Name: "words.weight", Offset: 848, Len: 30, Rows: 5, Cols: 6, Kind: optim.Table},
		{Name: "fc.weight", Offset: 720, Len: 120, Rows: 40, Cols: 3, Kind: optim.Head},
	}, 880
}

// values draws n numbers in [-1, 1), none of them in a gap.
func values(stream int) []float32 {
	params, n := network()
	x := make([]float32, n)
	for _, p := range params {
		for i := p.Offset; i < p.Offset+p.Len; i++ {
			x[i] = random.Stream(stream).Symmetric(uint64(i), 1)
		}
	}
	return x
}

// layer is one parameter in float64, with two moments.
type layer struct {
	optim.Param
	w, g, m, v []float64
}

// rule steps a layer by g, the mean gradient, as a paper says. t counts from 1.
type rule func(c optim.Config, l *layer, t int)

func length(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}

func lars(c optim.Config, l *layer, _ int) {
	trust := 0.001 * length(l.w) / (length(l.g) + c.WeightDecay*length(l.w))
	if l.Kind == optim.Bias {
		trust = 1
	}
	for i, g := range l.g {
		d := c.LR * trust * (g + c.WeightDecay*l.w[i])
		l.m[i] = c.Momentum*l.m[i] + d
		if c.Nesterov {
			l.w[i] -= d + c.Momentum*l.m[i]
		} else {
			l.w[i] -= l.m[i]
		}
	}
}

// adam moves the moments and returns the direction.
func adam(l *layer, t int, eps float64) []float64 {
	u := make([]float64, l.Len)
	for i, g := range l.g {
		l.m[i] = 0.9*l.m[i] + 0.1*g
		l.v[i] = 0.999*l.v[i] + 0.001*g*g
		u[i] = l.m[i] / (1 - math.Pow(0.9, float64(t))) /
			(math.Sqrt(l.v[i]/(1-math.Pow(0.999, float64(t)))) + eps)
	}
	return u
}

func lamb(c optim.Config, l *layer, t int) {
	u := adam(l, t, 1e-6)
	for i := range u {
		u[i] += c.WeightDecay * l.w[i]
	}
	ratio := length(l.w) / length(u)
	if l.Kind == optim.Bias {
		ratio = 1
	}
	for i := range u {
		l.w[i] -= c.LR * ratio * u[i]
	}
}

func muon(c optim.Config, l *layer, t int) {
	if l.Kind != optim.Matrix {
		for i, u := range adam(l, t, 1e-8) {
			l.w[i] = l.w[i]*(1-c.LR*c.WeightDecay) - c.LR*u
		}
		return
	}
	u := make([]float64, l.Len)
	for i, g := range l.g {
		l.m[i] += (g - l.m[i]) * (1 - c.Momentum)
		if u[i] = l.m[i]; c.Nesterov {
			u[i] = g + (l.m[i]-g)*c.Momentum
		}
	}
	u = schulz(u, l.Rows, l.Cols)
	for i := range u {
		l.w[i] = l.w[i]*(1-c.LR*c.WeightDecay) - c.LR*0.2*math.Sqrt(float64(max(l.Rows, l.Cols)))*u[i]
	}
}

func unitMuon(c optim.Config, l *layer, _ int) {
	momentum := 0.6
	if l.Kind != optim.Matrix {
		momentum = c.Momentum
	}
	u := make([]float64, l.Len)
	for i, g := range l.g {
		if l.Kind != optim.Matrix {
			g += c.WeightDecay * l.w[i]
		}
		l.m[i] = momentum*l.m[i] + g
		if u[i] = l.m[i]; c.Nesterov || l.Kind == optim.Matrix {
			u[i] = g + momentum*l.m[i]
		}
	}
	keep := 1.0
	if l.Kind == optim.Matrix {
		u, keep = schulz(u, l.Rows, l.Cols), math.Sqrt(float64(l.Cols))/length(l.w)
	}
	for i := range u {
		l.w[i] = keep*l.w[i] - c.LR*u[i]
	}
}

// schulz is five Newton-Schulz steps X = a X + (b A + c A A) X with A = X X', whatever the shape.
func schulz(x []float64, rows, cols int) []float64 {
	x = slices.Clone(x)
	norm := length(x)
	for i := range x {
		x[i] /= norm
	}
	times := func(a []float64, n, k int, b []float64, m int) []float64 {
		c := make([]float64, n*m)
		for i := range n {
			for l := range k {
				for j := range m {
					c[i*m+j] += a[i*k+l] * b[l*m+j]
				}
			}
		}
		return c
	}
	for range 5 {
		turned := make([]float64, len(x))
		for i, v := range x {
			turned[i%cols*rows+i/cols] = v
		}
		a := times(x, rows, cols, turned, rows)
		b := times(a, rows, rows, a, rows)
		for i := range b {
			b[i] = -4.7750*a[i] + 2.0315*b[i]
		}
		for i, v := range times(b, rows, rows, x, cols) {
			x[i] = 3.4445*x[i] + v
		}
	}
	return x
}

// Four steps in two ranges on one and two threads, on every ISA, against the formulas in float64.
func TestLayerwiseRulesAgainstFormula(t *testing.T) {
	for _, test := range []struct {
		config optim.Config
		rule   rule
		within float64
	}{
		{optim.Config{Name: "lars", LR: 2, Momentum: 0.9, WeightDecay: 0.1}, lars, 2e-6},
		{optim.Config{Name: "lars", LR: 2, Momentum: 0.9, Nesterov: true}, lars, 2e-6},
		{optim.Config{Name: "lamb", LR: 0.01, WeightDecay: 0.1}, lamb, 2e-6},
		{optim.Config{Name: "muon", LR: 0.02, Momentum: 0.95, Nesterov: true, WeightDecay: 0.1}, muon, 1e-5},
		{optim.Config{Name: "muon", LR: 0.02, Momentum: 0.95}, muon, 1e-5},
		{optim.Config{Name: "unit-muon", LR: 0.2, Momentum: 0.85, Nesterov: true, WeightDecay: 0.01},
			unitMuon, 1e-5},
		{optim.Config{Name: "unit-muon", LR: 0.2, Momentum: 0.85}, unitMuon, 1e-5},
	} {
		want := reference(test.config, test.rule, 4)
		for _, isa := range compute.Supported() {
			one := stepped(t, test.config, open(t, isa, 1), 4)
			if two := stepped(t, test.config, open(t, isa, 2), 4); !slices.Equal(one, two) {
				t.Errorf("%s on %v: two threads give other weights than one", test.config.Name, isa)
			}
			for i, w := range one {
				if math.Abs(float64(w)-want[i]) > test.within {
					t.Fatalf("%+v on %v: weight %d is %v, want %v", test.config, isa, i, w, want[i])
				}
			}
		}
	}
}

// reference steps the network by a rule on every parameter.
func reference(c optim.Config, step rule, steps int) []float64 {
	params, n := network()
	flat := make([]float64, n)
	for i, v := range values(1) {
		flat[i] = float64(v)
	}
	for _, p := range params {
		l := &layer{Param: p, w: flat[p.Offset:][:p.Len], g: make([]float64, p.Len),
			m: make([]float64, p.Len), v: make([]float64, p.Len)}
		for t := 1; t <= steps; t++ {
			for i, v := range values(1 + t)[p.Offset:][:p.Len] {
				l.g[i] = float64(v) * 0.25
			}
			step(c, l, t)
		}
	}
	return flat
}

// stepped does the same with the optimizer of c, on sums of which the mean is a quarter.
func stepped(t *testing.T, c optim.Config, cpu *compute.CPU, steps int) []float32 {
	t.Helper()
	params, n := network()
	w := values(1)
	o, err := optim.New(c, cpu, w, params)
	if err != nil {
		t.Fatal(err)
	}
	for i := range steps {
		g := values(2 + i)
		o.Step(0, 240, g[:240], c.LR, 0.25)
		o.Step(240, n, g[240:], c.LR, 0.25)
	}
	result, g := slices.Clone(w), values(2)
	if a := alloctest.Least(3, func() { o.Step(0, n, g, 0, 0.25) }); a != 0 {
		t.Errorf("%s: %v allocations in a step", c.Name, a)
	}
	return result
}

// A layer without a gradient, or of zeros, moves at the plain rate, without dividing by zero.
func TestLayerwiseRulesWithoutNorm(t *testing.T) {
	params, n := network()
	for _, name := range []string{"lars", "lamb", "muon"} {
		w, g := make([]float32, n), values(1)
		o, err := optim.New(optim.Config{Name: name, LR: 0.1, Momentum: 0.9}, open(t, compute.Best(), 1), w,
			params)
		if err != nil {
			t.Fatal(err)
		}
		o.Step(0, n, g, 0.1, 1)
		o.Step(0, n, make([]float32, n), 0.1, 1)
		for i, v := range w {
			if v != v || (v == 0) != (g[i] == 0) {
				t.Fatalf("%s: weight %d is %v after the gradient %v", name, i, v, g[i])
			}
		}
	}
}

// Groups change the rate and the decay of what they match, or freeze it, in every rule.
func TestGroups(t *testing.T) {
	params, _ := network()
	for _, name := range optim.Names() {
		plain := optim.Config{Name: name, LR: 0.1, Momentum: 0.9, WeightDecay: 0.2}
		grouped := plain
		grouped.DecayMatrices = true
		grouped.Groups = []optim.Group{
			{Match: "fc.*", Rate: 3, WeightDecay: 0.5},
			{Match: "wide.weight", Rate: 0},
			{Match: "words*", Rate: 1, WeightDecay: 0.2, Steps: 2},
		}
		strong, bare := plain, plain
		strong.LR, strong.WeightDecay, bare.WeightDecay = plain.LR*3, 0.5, 0
		cpu := open(t, compute.Best(), 1)
		got := stepped(t, grouped, cpu, 4)
		for _, p := range params {
			want := stepped(t, plain, cpu, 4)
			switch p.Name {
			case "fc.weight":
				want = stepped(t, strong, cpu, 4)
			case "conv.bias":
				want = stepped(t, bare, cpu, 4)
			case "wide.weight":
				want = values(1)
			case "words.weight":
				want = stepped(t, plain, cpu, 2)
			}
			for i := p.Offset; i < p.Offset+p.Len; i++ {
				if math.Abs(float64(got[i]-want[i])) > 1e-6 {
					t.Fatalf("%s: %s: weight %d is %v, want %v", name, p.Name, i, got[i], want[i])
				}
			}
		}
	}
}

func TestParameterErrors(t *testing.T) {
	good, n := network()
	for _, c := range []struct {
		change func(c *optim.Config, p []optim.Param) []optim.Param
		want   string
	}{
		{func(_ *optim.Config, p []optim.Param) []optim.Param { p[1].Offset = 215; return p },
			"conv.bias at [215,223)"},
		{func(_ *optim.Config, p []optim.Param) []optim.Param { p[3].Offset = 851; return p },
			"words.weight at"},
		{func(_ *optim.Config, p []optim.Param) []optim.Param { p[0].Rows = 26; return p },
			"with shape [26,8]"},
		{func(*optim.Config, []optim.Param) []optim.Param { return nil }, "needs the list of parameters"},
		{func(c *optim.Config, p []optim.Param) []optim.Param {
			c.Groups = []optim.Group{{Match: "conv1.*", Rate: 1}}
			return p
		}, `group "conv1.*" matches no parameter`},
		{func(c *optim.Config, p []optim.Param) []optim.Param {
			c.Groups = []optim.Group{{Match: "[", Rate: 1}}
			return p
		}, `group "["`},
		{func(c *optim.Config, p []optim.Param) []optim.Param {
			c.Groups = []optim.Group{{Match: "*", Rate: -1}}
			return p
		}, "rate -1"},
		{func(c *optim.Config, p []optim.Param) []optim.Param {
			c.Groups = []optim.Group{{Match: "*", Rate: 1, Steps: -1}}
			return p
		}, "-1 steps"},
	} {
		for _, name := range []string{"lars", "lamb", "muon"} {
			config := optim.Config{Name: name, LR: 0.1}
			params := c.change(&config, slices.Clone(good))
			_, err := optim.New(config, open(t, compute.Plain, 1), make([]float32, n), params)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", name, err, c.want)
			}
		}
	}
}

func TestParseGroups(t *testing.T) {
	got, err := optim.ParseGroups("*.bias=64,0.02;stem.weight=0,0;stem.bias=1,1e-3,144")
	want := []optim.Group{{Match: "*.bias", Rate: 64, WeightDecay: 0.02}, {Match: "stem.weight"},
		{Match: "stem.bias", Rate: 1, WeightDecay: 1e-3, Steps: 144}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if got, err := optim.ParseGroups(""); err != nil || got != nil {
		t.Errorf("empty: %+v, %v", got, err)
	}
	for _, bad := range []string{"a", "=1,2", "a=1", "a=1,2,3,4", "a=x,0", "a=1,0,x", "a=1,0,-1", "a=-1,0",
		"[=1,0", "a=1,0;", "a=NaN,0"} {
		if _, err := optim.ParseGroups(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}
