package metric

import (
	"fmt"
	"math"
)

// Errors are figures of predicted values against their targets, over all samples and outputs alike.
type Errors struct {
	// MAE is the mean absolute error, MSE the mean squared error and RMSE its root, Worst the greatest
	// absolute error.
	MAE, MSE, RMSE, Worst float64
	// R2 is the part of the targets' variance that is explained, the plain mean over outputs of
	//
	//	1 - sum (target - output)^2 / sum (target - mean target)^2
	//
	// 1 is perfect, 0 what their mean gets. An output with equal targets counts 1 if it hits all, else 0.
	R2 float64
}

// Errors compares the outputs with the targets. Cost: N outputs, two passes.
func (p *Predictions) Errors() Errors {
	if len(p.Targets) != len(p.Outputs) {
		panic(fmt.Sprintf("metric: %d targets for %d outputs", len(p.Targets), len(p.Outputs)))
	}
	n, k := p.Len(), p.NumOutputs
	if n == 0 {
		return Errors{}
	}
	var e Errors
	mean, missed, spread := make([]float64, k), make([]float64, k), make([]float64, k)
	for i, target := range p.Targets {
		d := math.Abs(float64(target) - float64(p.Outputs[i]))
		e.MAE += d
		e.Worst = max(e.Worst, d)
		missed[i%k] += float64(d * d)
		mean[i%k] += float64(target)
	}
	for j := range mean {
		mean[j] /= float64(n)
		e.MSE += missed[j]
	}
	for i, target := range p.Targets {
		d := float64(target) - mean[i%k]
		spread[i%k] += float64(d * d)
	}
	for j := range spread {
		e.R2 += explained(missed[j], spread[j]) / float64(k)
	}
	e.MAE /= float64(n * k)
	e.MSE /= float64(n * k)
	e.RMSE = math.Sqrt(e.MSE)
	return e
}

// explained returns 1 - missed/spread; for targets that are all equal 1 if nothing is missed, else 0.
func explained(missed, spread float64) float64 {
	switch {
	case spread > 0:
		return 1 - missed/spread
	case missed == 0:
		return 1
	}
	return 0
}
