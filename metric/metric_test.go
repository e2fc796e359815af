package metric_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"lockstep/metric"
)

// golden is a set of predictions with what scikit-learn says of it; testdata/golden.py wrote it. Outputs and
// targets are in 64ths.
type golden struct {
	Name       string
	Outputs    []int
	NumOutputs int `json:"num_outputs"`
	Labels     []int32
	Targets    []int
	Want       struct {
		Accuracy, Balanced, Kappa, Matthews, Top3, MAE, RMSE, R2, Worst float64
		Macro, Weighted                                                 []float64
		Precision, Recall, F1                                           []float64
		Confusion                                                       []int64
		LogLoss                                                         float64    `json:"log_loss"`
		ROCAUC                                                          []*float64 `json:"roc_auc"`
		AveragePrecision                                                []*float64 `json:"average_precision"`
	}
}

func (g *golden) predictions() metric.Predictions {
	floats := func(numbers []int) (list []float32) {
		for _, n := range numbers {
			list = append(list, float32(n)/64)
		}
		return list
	}
	return metric.Predictions{Outputs: floats(g.Outputs), NumOutputs: g.NumOutputs, Labels: g.Labels,
		Targets: floats(g.Targets)}
}

func goldens(t *testing.T) (list []golden) {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.json")
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// figures compares lists to 1e-12 of 1 or of the value; nil stands for NaN.
func figures(t *testing.T, what string, got []float64, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d figures, want %d", what, len(got), len(want))
		return
	}
	for i, w := range want {
		if math.IsNaN(w) != math.IsNaN(got[i]) || math.Abs(got[i]-w) > 1e-12*max(1, math.Abs(w)) {
			t.Errorf("%s %d: %.15g, want %.15g", what, i, got[i], w)
		}
	}
}

func known(list []*float64) (values []float64) {
	for _, p := range list {
		if p == nil {
			p = new(math.NaN())
		}
		values = append(values, *p)
	}
	return values
}

func list(a metric.Average) []float64 { return []float64{a.Precision, a.Recall, a.F1} }

// Every figure is scikit-learn's.
func TestFiguresAreThoseOfScikitLearn(t *testing.T) {
	for _, g := range goldens(t) {
		t.Run(g.Name, func(t *testing.T) {
			p, w := g.predictions(), g.Want
			if g.Targets != nil {
				e := p.Errors()
				figures(t, "errors", []float64{e.MAE, e.RMSE, e.R2, e.Worst},
					[]float64{w.MAE, w.RMSE, w.R2, w.Worst})
				return
			}
			c := p.Confusion()
			if !slices.Equal(c.Counts, w.Confusion) {
				t.Errorf("confusion %v, want %v", c.Counts, w.Confusion)
			}
			figures(t, "accuracy, balanced, kappa, Matthews, log loss",
				[]float64{c.Accuracy(), c.BalancedAccuracy(), c.Kappa(), c.Matthews(), p.CrossEntropy()},
				[]float64{w.Accuracy, w.Balanced, w.Kappa, w.Matthews, w.LogLoss})
			figures(t, "macro", list(c.Macro()), w.Macro)
			figures(t, "weighted", list(c.Weighted()), w.Weighted)
			for k, one := range c.Classes() {
				figures(t, "class", []float64{one.Precision, one.Recall, one.F1},
					[]float64{w.Precision[k], w.Recall[k], w.F1[k]})
			}
			figures(t, "area under ROC", p.ROCAUC(), known(w.ROCAUC))
			figures(t, "average precision", p.AveragePrecision(), known(w.AveragePrecision))
			if g.NumOutputs > 3 {
				figures(t, "top 3", []float64{p.TopK(3)}, []float64{w.Top3})
			}
			figures(t, "top 1, top all", []float64{p.TopK(1), p.TopK(g.NumOutputs)}, []float64{w.Accuracy, 1})
		})
	}
}

// By hand: two bins with samples, at 0.6 and at 0.8 or above.
func TestCalibrationError(t *testing.T) {
	logit := func(chance float64) float32 { return float32(math.Log(chance / (1 - chance))) }
	var p metric.Predictions
	p.NumOutputs = 2
	for i, chance := range []float64{0.6, 0.6, 0.6, 0.6, 0.9, 0.9} {
		p.Outputs = append(p.Outputs, 0, logit(chance))
		p.Labels = append(p.Labels, []int32{1, 0, 0, 0, 1, 1}[i]) // right: 1 of 4, 2 of 2
	}
	want := (math.Abs(1-4*0.6) + math.Abs(2-2*0.9)) / 6
	if got := p.CalibrationError(15); math.Abs(got-want) > 1e-6 {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestNothingIsWrongWithNoSamples(t *testing.T) {
	p := metric.Predictions{NumOutputs: 3}
	c := p.Confusion()
	for what, got := range map[string]float64{"accuracy": c.Accuracy(), "balanced": c.BalancedAccuracy(),
		"macro": c.Macro().F1, "kappa": c.Kappa(), "Matthews": c.Matthews(), "top": p.TopK(1),
		"calibration": p.CalibrationError(15), "error": p.Errors().RMSE, "loss": p.CrossEntropy()} {
		if got != 0 {
			t.Errorf("%s %v of nothing", what, got)
		}
	}
}

func TestLabelsMustBeClasses(t *testing.T) {
	for _, labels := range [][]int32{{3}, {-1}, {}, {0, 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("labels %v of one sample of three classes are taken", labels)
				}
			}()
			(&metric.Predictions{Outputs: make([]float32, 3), NumOutputs: 3, Labels: labels}).Confusion()
		}()
	}
}
