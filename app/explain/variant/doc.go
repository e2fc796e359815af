// Package variant plans the runs by which an explanation is confirmed, for app/bench to execute.
//
// An [Experiment] runs both sides again beside variants of them: only those that a large term needs, and one
// for each setting in which the sides differ if that is a cause by itself. All rows are of one plan, so that
// they take turns and every raw sample is kept. [Experiment.Explain] turns its results into an explanation.
//
// Planning is a pure function of its arguments and does not fail. A term that no run can do without has no
// variant.
package variant
