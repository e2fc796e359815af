//go:build cuda && linux && amd64

package gpu

import (
	"lockstep/graph"
	"lockstep/internal/cuda"
)

// lossThreads returns the size of a block that computes the loss of one sample from so many values.
func lossThreads(values int) cuda.Size { return linear(32 * min(max(ceil(values, 128), 1), 16)) }

func (e *Executor) softmaxCrossEntropy(a graph.Application, o graph.SoftmaxCrossEntropyOp) graph.Kernel {
	classes := a.In[0].Shape[1]
	l := e.launch("cross_entropy", 4, linear(a.In[0].Shape[0]), lossThreads(classes), classes,
		float32(o.Smoothing))
	return graph.Kernel{Run: func(a *graph.Args) {
		l.run(at(a.Out[0]), at(a.Out[1]), at(a.In[0]), at(a.In[1]))
	}}
}

func (e *Executor) squaredError(a graph.Application) graph.Kernel {
	cols := a.In[0].Shape[1]
	l := e.launch("squared_error", 4, linear(a.In[0].Shape[0]), lossThreads(cols), cols)
	return graph.Kernel{Run: func(a *graph.Args) {
		l.run(at(a.Out[0]), at(a.Out[1]), at(a.In[0]), at(a.In[1]))
	}}
}
