package bench

import "lockstep/internal/job"

// Quick returns the parts of `lockstep bench --quick`: a whole epoch of lenet and a few steps of
// vgg11 on generated images, in all four strategies and without exchange, with one worker and
// with two. base gives what is not varied or shortened here (seed, threads, kernel path).
func Quick(base job.Config) []Part {
	base.Data, base.Augment, base.EvalEvery = "glyphs", "none", 0
	base.Epochs, base.Steps = 0, 0
	part := Part{Strategies: []string{"single", "gather-scatter", "all-reduce", "ddp", "none"},
		Workers: []int{1, 2}}

	lenet := part
	lenet.Models, lenet.Batches, lenet.Base = []string{"lenet"}, []int{64}, base
	lenet.Base.Epochs, lenet.Base.LimitTrain, lenet.Base.LimitTest = 1, 6400, 1000

	vgg := part
	vgg.Models, vgg.Batches, vgg.Base = []string{"vgg11"}, []int{16}, base
	vgg.Base.Steps, vgg.Base.LimitTrain, vgg.Base.LimitTest = 8, 128, 0
	return []Part{lenet, vgg}
}
