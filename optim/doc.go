// Package optim updates weights from gradients at a rate that follows a schedule.
//
// [New] makes an [Optimizer] over one flat vector of weights: [SGD] and [AdamW] are PyTorch's; [LARS],
// [LAMB], [Muon] and [UnitMuon] treat each parameter as a whole, so they need the [Param] list. A [Group]
// gives parameters a rate and a weight decay of their own, or freezes them. [Clip] bounds the gradient's
// norm; [EMA] and [Lookahead] follow the weights. A [ScheduleConfig] plus the length of a run gives a
// [Schedule], the learning rate of each step, and a [ScaleRule] adapts the rate to the batch.
//
// Every result is a function of the arguments alone: updates are elementwise, norms are summed in
// an order that depends only on the length, and rates are computed with explicit rounding and a
// cosine of this package. So the number of threads changes no bit. All processors agree as well,
// except for the matrix products of both Muons, which are those of internal/kernel. Invalid
// settings are errors of Validate, New and Build; a wrong slice length is a panic.
package optim
