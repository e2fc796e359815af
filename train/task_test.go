package train_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/data"
	"lockstep/graph"
	"lockstep/graph/check"
	"lockstep/train"
)

// measured returns a copy of a labelled set with targets in place of labels: for each sample its class out of
// 10, and how bright it is.
func measured(s *data.Set) *data.Set {
	m := *s
	m.Labels, m.Classes, m.NumTargets = nil, nil, 2
	elems := s.Shape.Elems()
	for i, class := range s.Labels {
		sum := 0
		for _, b := range s.Pixels[i*elems : (i+1)*elems] {
			sum += int(b)
		}
		m.Targets = append(m.Targets, float32(class)/10, float32(sum)/float32(255*elems))
	}
	return &m
}

// regression is a run that learns measured samples.
func regression(t *testing.T) train.Config {
	c := example(t, "lenet", 60, 37)
	c.Train, c.Test = measured(c.Train), measured(c.Test)
	c.Network.Classes = 2
	build := c.Network.Build
	c.Network.Build = func(x *graph.Node) *graph.Node {
		y := build(x)
		w := x.Graph().Parameter(graph.Param{Name: "values.weight", Shape: []int{y.Shape()[1], 2},
			Init: graph.Uniform{Bound: 0.1}, Role: graph.RoleHead})
		return graph.Linear(y, w, nil)
	}
	c.Task = train.Regression()
	return c
}

// A regression learns, its figures are those of the formulas, and neither depends on the number of workers.
func TestRegression(t *testing.T) {
	c := regression(t)
	c.Batch, c.Steps, c.Optimizer.LR = 20, 30, 0.02
	want := run(t, c, 1, 1, compute.Best())[0]
	if want.LastLoss > 0.5*want.FirstLoss {
		t.Errorf("loss from %v to %v", want.FirstLoss, want.LastLoss)
	}
	squares, absolutes := errorsOf(t, c)
	e := want.Test
	if len(e.Metrics) != 3 || e.Metrics[0].Name != "RMSE" ||
		e.Metrics[1].Name != "MAE" || math.Abs(math.Sqrt(e.Loss)-e.Metrics[0].Value) > 1e-12 ||
		e.Correct != 0 {
		t.Fatalf("evaluation %+v", e)
	}
	if near := 1e-9; math.Abs(e.Loss-squares) > near || math.Abs(e.Metrics[1].Value-absolutes) > near {
		t.Errorf("errors %v, want %v and %v", e.Metrics, squares, absolutes)
	}
	for rank, o := range run(t, c, 2, 2, compute.Best()) {
		compareOutcomes(t, fmt.Sprintf("rank %d of 2", rank), o, want)
		if !reflect.DeepEqual(o.Test.Metrics, e.Metrics) {
			t.Errorf("rank %d of 2: %v, want %v", rank, o.Test.Metrics, e.Metrics)
		}
	}
}

// errorsOf trains c alone and returns the mean squared and the mean absolute error over all test samples.
func errorsOf(t *testing.T, c train.Config) (squares, absolutes float64) {
	l := alone(t, c)
	if _, err := l.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	cpu, err := compute.Open(compute.Config{ISA: compute.Best()})
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	for lo := 0; lo < c.Test.Len(); lo++ {
		g := graph.New()
		logits := c.Network.Build(c.Network.Samples(g, 1))
		p, err := graph.Compile(g, graph.NewHost(cpu), graph.Options{Logits: logits})
		if err == nil {
			err = p.Attach(l.Variables())
		}
		if err != nil {
			t.Fatal(err)
		}
		var sh data.Shard
		c.Test.Take(&sh, lo, lo+1)
		p.Input("images").SetFloats(sh.Images)
		p.Forward()
		for i, x := range p.Logits() {
			d := float64(x) - float64(sh.Targets[i])
			squares, absolutes = squares+d*d/2, absolutes+math.Abs(d)/2
		}
		p.Close()
	}
	n := float64(c.Test.Len())
	return squares / n, absolutes / n
}

// What a task needs and the samples do not have is said before the run.
func TestTaskErrors(t *testing.T) {
	for want, change := range map[string]func(c *train.Config){
		"classification of data set glyphs by lenet: the samples have no labels": func(c *train.Config) {
			c.Task = train.Task{}
		},
		"regression of data set glyphs by lenet: 2 targets for 3 outputs": func(c *train.Config) {
			c.Network.Classes = 3
		},
		"accuracy of 0.5 to reach, but regression has none": func(c *train.Config) { c.Target = 0.5 },
		"nothing sets the input offsets": func(c *train.Config) {
			c.Task.Loss = func(y *graph.Node, targets train.Targets) *graph.Node {
				offsets := y.Graph().Input("offsets", y.Shape())
				return graph.SquaredError(graph.Add(y, offsets), targets.Values)
			}
		},
	} {
		c := regression(t)
		change(&c)
		cpu, err := compute.Open(compute.Config{})
		if err != nil {
			t.Fatal(err)
		}
		c.CPU = cpu
		if _, err := train.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
		cpu.Close()
	}
}

// A run on an executor with memory of its own, which checks every op, has no fault and ends with the bits of
// the host.
func TestRunUnderChecksEndsWithOneHash(t *testing.T) {
	c := example(t, "resnet20", 40, 10)
	c.Batch, c.Steps, c.Plan = 8, 2, cut(t, 2, 1)
	want := run(t, c, 1, 1, compute.Best())[0]
	cpu, err := compute.Open(compute.Config{ISA: compute.Best()})
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	checked := check.New(graph.NewHost(cpu))
	c.Executor = checked
	done, err := alone(t, c).Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := checked.Err(); err != nil {
		t.Error(err)
	}
	if done.ParameterSHA256 != want.ParameterSHA256 || done.Test.Loss != want.Test.Loss {
		t.Errorf("ends with %.8s, test loss %v; want %.8s, %v", done.ParameterSHA256, done.Test.Loss,
			want.ParameterSHA256, want.Test.Loss)
	}
}
