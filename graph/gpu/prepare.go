//go:build cuda && linux && amd64

package gpu

import (
	"errors"
	"fmt"

	"lockstep/graph"
)

// errOther is what the functions below return for ops that are not theirs.
var errOther = errors.New("another kind of op")

// Prepare implements graph.Executor.
func (e *Executor) Prepare(a graph.Application) (graph.Kernel, error) {
	if isAside(a) {
		return e.timed(e.prepareAside(a))
	}
	k, err := e.prepare(a)
	if err != nil {
		return k, err
	}
	return e.timed(e.inOrder(a, k), nil)
}

// prepare prepares an op for the present queue. The functions below have a line for each.
func (e *Executor) prepare(a graph.Application) (graph.Kernel, error) {
	for _, kind := range []func(graph.Application) (graph.Kernel, error){
		e.ofElements, e.ofRows, e.ofMaps, e.ofProducts,
	} {
		if k, err := kind(a); err != errOther {
			return k, err
		}
	}
	return graph.Kernel{}, fmt.Errorf("gpu: %s: no kernel for %T", a.Name, a.Op)
}

// ofElements prepares ops that treat each element on its own.
func (e *Executor) ofElements(a graph.Application) (k graph.Kernel, err error) {
	switch o := a.Op.(type) {
	case graph.AddOp:
		k = e.binary(a, "add")
	case graph.ReLUOp:
		k = e.unary(a, "relu")
	case graph.ReLUBackwardOp:
		k = e.binary(a, "relu_backward")
	case graph.TanhOp:
		k = e.unary(a, "tanh")
	case graph.TanhBackwardOp:
		k = e.binary(a, "tanh_backward")
	case graph.GELUOp:
		k = e.unary(a, "gelu")
	case graph.GELUBackwardOp:
		k = e.binary(a, "gelu_backward")
	case graph.ScaleOp:
		k = e.unary(a, "scale", o.Factor)
	case graph.ScaleRowsOp:
		k = e.scaleRows(a)
	case graph.FillOp:
		k = e.fill(a, o)
	case graph.DuplicateOp:
		k = e.duplicate(a)
	case graph.ConvertOp:
		k = e.convert(a)
	case graph.DropoutOp:
		k = e.dropout(a, o)
	default:
		err = errOther
	}
	return k, err
}

// ofRows prepares ops on rows: of tokens, of samples.
func (e *Executor) ofRows(a graph.Application) (k graph.Kernel, err error) {
	switch o := a.Op.(type) {
	case graph.LayerNormOp:
		k = e.layerNorm(a, o)
	case graph.LayerNormBackwardOp:
		k = e.layerNormBackward(a, o)
	case graph.EmbeddingOp:
		k = e.embedding(a)
	case graph.EmbeddingBackwardOp:
		k = e.embeddingBackward(a)
	case graph.FirstTokenOp:
		k = e.firstToken(a)
	case graph.FirstTokenBackwardOp:
		k = e.firstTokenBackward(a)
	case graph.SoftmaxCrossEntropyOp:
		k = e.softmaxCrossEntropy(a, o)
	case graph.SquaredErrorOp:
		k = e.squaredError(a)
	case graph.AttentionOp:
		k, err = e.attention(a, o)
	case graph.AttentionBackwardOp:
		k, err = e.attentionBackward(a, o)
	default:
		err = errOther
	}
	return k, err
}

// ofMaps prepares ops on maps.
func (e *Executor) ofMaps(a graph.Application) (k graph.Kernel, err error) {
	switch o := a.Op.(type) {
	case graph.BatchStatisticsOp:
		k = e.batchStatistics(a)
	case graph.NormalizeOp:
		k = e.normalize(a, o)
	case graph.BatchNormBackwardOp:
		k = e.batchNormBackward(a, o)
	case graph.ResidualBackwardOp:
		k = e.residualBackward(a, o)
	case graph.NormPoolOp:
		k = e.normPool(a, o)
	case graph.NormPoolBackwardOp:
		k = e.normPoolBackward(a, o)
	case graph.MaxPoolOp:
		k = e.maxPool(a, o)
	case graph.MaxPoolBackwardOp:
		k, err = e.maxPoolBackward(a, o)
	case graph.GlobalAvgPoolOp:
		k = e.globalAvgPool(a)
	case graph.GlobalAvgPoolBackwardOp:
		k = e.globalAvgPoolBackward(a)
	case graph.SubsampleOp:
		k = e.subsample(a, o)
	case graph.SubsampleBackwardOp:
		k = e.subsampleBackward(a, o)
	case graph.ColumnSumsOp:
		k = e.columnSums(a)
	default:
		err = errOther
	}
	return k, err
}

// ofProducts prepares convolutions, linear layers and their gradients.
func (e *Executor) ofProducts(a graph.Application) (k graph.Kernel, err error) {
	switch o := a.Op.(type) {
	case graph.ConvOp:
		k, err = e.conv(a, o)
	case graph.ConvStatisticsOp:
		k, err = e.convStatistics(a, o)
	case graph.ConvBackwardDataOp:
		k, err = e.convBackwardData(a, o.Shape, false)
	case graph.ConvBackwardDataAddOp:
		k, err = e.convBackwardData(a, o.Shape, true)
	case graph.ConvBackwardDataSumsOp:
		k, err = e.convBackwardDataSums(a, o, false)
	case graph.ConvBackwardDataAddSumsOp:
		k, err = e.convBackwardDataSums(a, o.ConvBackwardDataSumsOp, true)
	case graph.ConvBackwardWeightsOp:
		k, err = e.convBackwardWeights(a, o.Shape)
	case graph.LinearOp:
		k, err = e.linear(a, o)
	default:
		err = errOther
	}
	return k, err
}
