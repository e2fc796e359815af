package record

import (
	"cmp"
	"math"
	"slices"

	"lockstep/metric"
)

// Scores are what the trained network's predictions of the scored samples are worth, class by class and by
// the means over classes; see package metric for the definitions. A figure that has no meaning is null.
type Scores struct {
	BalancedAccuracy Number       `json:"balanced_accuracy"`         // mean recall of the classes
	MacroF1          Number       `json:"macro_f1"`                  // plain mean over classes
	WeightedF1       Number       `json:"weighted_f1"`               // mean by samples
	TopFive          Number       `json:"top5_accuracy"`             // null: there are no more classes
	ROCAUC           Number       `json:"roc_auc"`                   // mean of the classes against the rest
	AveragePrecision Number       `json:"average_precision"`         // the same
	CalibrationError Number       `json:"calibration_error"`         // in 15 bins
	Kappa            Number       `json:"kappa"`                     // Cohen's
	Matthews         Number       `json:"matthews"`                  // correlation
	Classes          []ClassScore `json:"classes"`                   // in their order
	Confusion        [][]int64    `json:"confusion,omitempty"`       // of each class; null: they are too many
	Worst            []Mistake    `json:"worst_confusions,omitzero"` // most frequent first
}

// ClassScore is how well one class is told from the others.
type ClassScore struct {
	Class            string `json:"class"`             // its name
	Samples          int64  `json:"samples"`           // of it
	Predicted        int64  `json:"predicted"`         // to be of it
	Precision        Number `json:"precision"`         // part of those predicted that are of it
	Recall           Number `json:"recall"`            // part of its samples that are found
	F1               Number `json:"f1"`                // harmonic mean of both
	ROCAUC           Number `json:"roc_auc"`           // against the rest
	AveragePrecision Number `json:"average_precision"` // against the rest
}

// Mistake is a class that is taken for another.
type Mistake struct {
	Class     string `json:"class"`     // of the samples
	Predicted string `json:"predicted"` // what they are taken for
	Count     int64  `json:"count"`     // of samples
	Examples  []int  `json:"examples"`  // the first, by their number from 0 in their file, header apart
}

// Bounds of what Scores lists.
const (
	maxConfusion = 64 // classes of a matrix
	maxMistakes  = 10
	maxExamples  = 5
	probableBins = 15
)

// ScoresOf returns the scores of predictions of these classes; nil if they have none. row is data.Set.Row.
func ScoresOf(p *metric.Predictions, classes []string, row func(sample int) int) *Scores {
	if p == nil || len(p.Labels) == 0 || len(classes) != p.NumOutputs {
		return nil
	}
	c := p.Confusion()
	auc, precision := p.ROCAUC(), p.AveragePrecision()
	s := &Scores{BalancedAccuracy: Number(c.BalancedAccuracy()), MacroF1: Number(c.Macro().F1),
		WeightedF1: Number(c.Weighted().F1), TopFive: Number(math.NaN()), ROCAUC: meanKnown(auc),
		AveragePrecision: meanKnown(precision), CalibrationError: Number(p.CalibrationError(probableBins)),
		Kappa: Number(c.Kappa()), Matthews: Number(c.Matthews())}
	if len(classes) > 5 {
		s.TopFive = Number(p.TopK(5))
	}
	for k, one := range c.Classes() {
		s.Classes = append(s.Classes, ClassScore{classes[k], one.Support, one.Predicted,
			Number(one.Precision), Number(one.Recall), Number(one.F1), Number(auc[k]), Number(precision[k])})
		if row := c.Counts[k*c.NumClasses:][:c.NumClasses]; c.NumClasses <= maxConfusion {
			s.Confusion = append(s.Confusion, row)
		}
	}
	s.Worst = mistakes(p, c, classes, row)
	return s
}

// meanKnown returns the mean of the values that are numbers; NaN of none.
func meanKnown(values []float64) Number {
	sum, n := 0.0, 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return Number(sum / n)
}

// mistakes lists the most frequent mistakes, of equally frequent ones the first.
func mistakes(p *metric.Predictions, c metric.Confusion, classes []string, row func(int) int) []Mistake {
	var cells []int
	for i, n := range c.Counts {
		if n > 0 && i%(c.NumClasses+1) != 0 {
			cells = append(cells, i)
		}
	}
	slices.SortStableFunc(cells, func(a, b int) int { return cmp.Compare(c.Counts[b], c.Counts[a]) })
	var list []Mistake
	for _, cell := range cells[:min(len(cells), maxMistakes)] {
		is, said := cell/c.NumClasses, cell%c.NumClasses
		m := Mistake{Class: classes[is], Predicted: classes[said], Count: c.Counts[cell]}
		for i, label := range p.Labels {
			if len(m.Examples) < maxExamples && int(label) == is && p.Largest(i) == said {
				m.Examples = append(m.Examples, row(i))
			}
		}
		list = append(list, m)
	}
	return list
}
