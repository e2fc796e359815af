// Package metric tells how good a network's predictions are.
//
// [Predictions] hold what a network said of all samples of an evaluation, and what is true of them.
// [Predictions.Classes] counts a [Confusion], from which precision, recall, F1 and what is made of them
// follow; [Predictions.ROCAUC] and [Predictions.AveragePrecision] rank the samples by the network's
// probabilities; [Predictions.Errors] measures predicted values.
//
// Every figure is a function of all samples in their order, computed in float64 with sums in that order, so
// it has the same bits however many workers have scored the samples. The definitions are those of
// scikit-learn, with 0 for a figure that divides by nothing, such as the precision of a class that was never
// predicted. Functions panic if lengths do not fit or a label is no class; they do not fail otherwise. Costs
// are in N samples and C classes.
package metric
