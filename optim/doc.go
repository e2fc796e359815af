// Package optim updates weights from gradients at a rate that follows a schedule.
//
// [New] makes an [Optimizer] over one flat vector of weights; [SGD] is PyTorch's SGD. A
// [ScheduleConfig] plus the length of a run gives a [Schedule], the learning rate of each step,
// and a [ScaleRule] adapts the rate to the batch.
//
// Every number here is a function of its arguments alone: updates are elementwise, rates are
// computed with explicit roundings and an own cosine, so all processors agree on the bits.
// Invalid settings are errors of Validate, New and Build; a wrong slice length is a panic.
package optim
