package bench

import (
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"time"
)

// QuickLimit is the time in which `lockstep bench --quick` ends, with the runs that it has: a slow or busy
// machine has fewer rounds, not a longer wait.
const QuickLimit = 2 * time.Minute

// Quick returns the parts of `lockstep bench --quick`: two epochs of lenet and a few steps of
// vgg11 on generated images, in all four strategies and without exchange, with one worker and
// with two. base gives what is not chosen here (seed, threads, kernel path).
//
// Six rounds of the parts take about a minute on two cores with vector kernels, see QuickLimit. With isPlain,
// for processors without vector kernels, they are cut down to the same time (plain kernels take 20 to 35
// times as long).
func Quick(base setting.Config, isPlain bool) []Part {
	base.Data, base.Augment, base.Schedule.Name = "glyphs", "none", "constant"
	base.Epochs, base.Steps, base.EvalEvery = 0, 0, 0
	lenet := Part{Base: base, Models: []string{"lenet"}, Batches: []int{64}, Workers: []int{1, 2},
		Strategies: strategy.Compared()}
	vgg := lenet
	vgg.Models, vgg.Batches = []string{"vgg11"}, []int{16}

	lenet.Base.Optimizer.LR, lenet.Base.Epochs = 0.03, 2
	lenet.Base.LimitTrain, lenet.Base.LimitTest = 6400, 1000
	vgg.Base.Optimizer.LR, vgg.Base.Steps = 0.002, 8
	vgg.Base.LimitTrain, vgg.Base.LimitTest = 128, 0
	if isPlain {
		lenet.Base.Epochs, lenet.Base.LimitTrain, lenet.Base.LimitTest = 1, 640, 100
		vgg.Batches, vgg.Base.Steps = []int{4}, 3
	}
	return []Part{lenet, vgg}
}
