package train

import (
	"fmt"

	"lockstep/data"
	"lockstep/graph"
	"lockstep/metric"
)

// Task says what a network learns: the loss of a sample, given the network's output and the sample's
// targets, and the metrics of an evaluation. [Classification] and [Regression] return tasks; a caller may
// write others.
//
// The sums of Score are taken over one evaluation batch in float64 and added up in the order of batches, and
// metrics see all samples in their order, so both have the same bits for any number of workers, as long as a
// function's result depends on its arguments alone.
type Task struct {
	// Name is what errors call the task.
	Name string
	// Check reports why a network of so many outputs cannot learn the task from set; nil means that any can.
	Check func(set *data.Set, outputs int) error
	// Loss adds to a graph the loss of each sample, [N], of output, [N, outputs]: what the network says.
	Loss func(output *graph.Node, t Targets) *graph.Node
	// Score returns the sum of the losses that an evaluation reports, for samples and the network's output,
	// [N, outputs]. An evaluation whose sum is not finite ends the run.
	Score func(output []float32, s *data.Shard) float64
	// Correct counts the samples whose output is right; nil if that has no meaning for the task.
	Correct func(output []float32, s *data.Shard) int
	// Metrics are further figures of an evaluation. One of more than 2^23 outputs has none.
	Metrics []Metric
}

// Targets are the inputs of a graph that hold what the data set says of the samples.
type Targets struct {
	// Labels are the classes, int32 [N]; nil if the set has none.
	Labels *graph.Node
	// Others are further classes, int32 [N], and Shares the part of Labels, float32 [N], 1/2 to 1, if the
	// augmentation mixes samples ([data.Shard.Others]); else nil.
	Others, Shares *graph.Node
	// Values are the set's Targets, float32 [N, NumTargets]; nil if it has none.
	Values *graph.Node
}

// Metric is a figure of an evaluation.
type Metric struct {
	Name string
	// Of computes it from the network's outputs for all samples; see package metric for those that are known.
	Of func(p *metric.Predictions) float64
}

// Classification is the task to give each sample, an image, a text or a pair of texts, one of the set's
// classes: the outputs are logits, the loss their cross entropy with label smoothing from 0 to 1. Evaluations
// report it without smoothing.
func Classification(smoothing float64) Task {
	return Task{
		Name: "classification",
		Check: func(set *data.Set, outputs int) error {
			switch {
			case !(smoothing >= 0 && smoothing <= 1):
				return fmt.Errorf("label smoothing of %v, want 0 to 1", smoothing)
			case !set.HasLabels():
				return fmt.Errorf("the samples have no labels")
			case len(set.Classes) != outputs:
				return fmt.Errorf("%d classes for %d outputs", len(set.Classes), outputs)
			}
			return nil
		},
		Loss: func(output *graph.Node, t Targets) *graph.Node {
			if t.Others != nil {
				return graph.MixedCrossEntropy(output, t.Labels, t.Others, t.Shares, smoothing)
			}
			return graph.SmoothedCrossEntropy(output, t.Labels, smoothing)
		},
		Score: func(output []float32, s *data.Shard) float64 { return graph.CrossEntropy(output, s.Labels) },
		Correct: func(output []float32, s *data.Shard) int {
			return graph.CountCorrect(output, s.Labels)
		},
	}
}

// Regression is the task to predict each sample's targets: the loss is the mean squared error over them, as
// [data.Shard] has them. Evaluations also report figures of [metric.Errors], in the unit of the targets.
func Regression() Task {
	return Task{
		Name: "regression",
		Check: func(set *data.Set, outputs int) error {
			if set.NumTargets != outputs {
				return fmt.Errorf("%d targets for %d outputs", set.NumTargets, outputs)
			}
			return nil
		},
		Loss: func(output *graph.Node, t Targets) *graph.Node {
			return graph.SquaredError(output, t.Values)
		},
		Score: sumOfSquares,
		Metrics: []Metric{
			{"RMSE", func(p *metric.Predictions) float64 { return p.Errors().RMSE }},
			{"MAE", func(p *metric.Predictions) float64 { return p.Errors().MAE }},
			{"R2", func(p *metric.Predictions) float64 { return p.Errors().R2 }},
		},
	}
}

// sumOfSquares adds up, sample by sample, the mean squared error of the outputs.
func sumOfSquares(output []float32, s *data.Shard) float64 {
	sum := 0.0
	for i, target := range s.Targets {
		d := float64(output[i]) - float64(target)
		sum += float64(d * d)
	}
	return sum * float64(s.Samples) / float64(len(s.Targets))
}

// task returns the task of a configuration.
func (c Config) task() Task {
	if c.Task.Loss == nil {
		return Classification(0)
	}
	return c.Task
}

// checkTask reports why the network cannot learn the task from the samples.
func (c Config) checkTask() error {
	t := c.task()
	switch {
	case t.Score == nil:
		return fmt.Errorf("train: task %s has no Score", t.Name)
	case c.Target > 0 && !t.HasCorrect():
		return fmt.Errorf("train: accuracy of %v to reach, but %s has none", c.Target, t.Name)
	}
	for _, set := range []*data.Set{c.Train, c.Validation, c.Test} {
		if set == nil {
			continue
		}
		if set.NumTargets != c.Train.NumTargets || set.HasLabels() != c.Train.HasLabels() {
			return fmt.Errorf("train: the samples of %s and of %s have other targets", c.Train.Name, set.Name)
		}
		if t.Check == nil {
			continue
		}
		if err := t.Check(set, c.Network.Classes); err != nil {
			return fmt.Errorf("train: %s of data set %s by %s: %w", t.Name, set.Name, c.Network.Name, err)
		}
	}
	return nil
}

// HasCorrect reports whether an output is right or wrong, so that there is an accuracy.
func (t Task) HasCorrect() bool { return t.Loss == nil || t.Correct != nil }

// numCorrect counts the samples whose output is right; 0 if that has no meaning.
func (t Task) numCorrect(output []float32, s *data.Shard) int {
	if t.Correct == nil {
		return 0
	}
	return t.Correct(output, s)
}
