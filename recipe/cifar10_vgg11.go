package recipe

import "lockstep/app/setting"

// cifar10VGG11 trains vgg11 with batch norm, SGD and a rate that climbs and falls in straight lines. With
// crops by up to 4 pixels, hard labels and one view of each test image it reached 89.83 %.
func cifar10VGG11() Recipe {
	c := oneCycle("vgg11", 15)
	c.Augment, c.TTA, c.Smoothing, c.EvalEvery = "shift-alternate", "flip", 0.1, 5
	return Recipe{Name: "vgg11-cifar10", Config: c, Goal: 0.91,
		About:     "vgg11 with batch norm on CIFAR-10, in 15 epochs, with two views of each test image",
		Reference: "our own; the usual 92 % take 100 epochs and more",
		Figures:   []Figure{{1, 0.9146, 2347, zenAmongBuilds, ""}}}
}

// oneCycle returns what the recipes for larger networks on CIFAR-10 have in common: two shards of 64
// images, Nesterov's momentum, crops and flips, and one triangle of the rate (Smith and Topin 2017,
// arXiv 1708.07120).
func oneCycle(model string, epochs int) setting.Config {
	c := setting.Default()
	c.Model, c.Data, c.Augment = model, "cifar10", "crop-flip"
	c.Batch, c.Shards, c.Epochs = 128, 2, epochs
	c.Optimizer, c.Schedule = nesterov(0.1), triangle(0.1, 0.2, 0)
	return c
}
