package recipe

// cifar10ResNet50 trains resnet50 with the stem for small images, which does not downsample them, for as long
// as two cores take in an evening. Batches are small, for so few epochs have few steps, and the rate starts
// at 0: at a tenth of its greatest the first steps throw the loss to several times that of guessing.
func cifar10ResNet50() Recipe {
	c := oneCycle("resnet50", 4)
	c.Batch, c.Schedule = 64, triangle(0, 0.25, 0)
	c.Augment, c.TTA, c.Smoothing, c.EvalEvery = "shift-alternate", "flip", 0.1, 2
	return Recipe{Name: "resnet50-cifar10", Config: c, Goal: 0.83,
		About: "resnet50 with the stem for small images on CIFAR-10, in the four epochs of an evening, " +
			"with two views of each test image",
		Reference: "our own; the usual 95 % take 200 epochs",
		Figures:   []Figure{{1, 0.8364, 5302, zenAmongBuilds + ", --math bf16", ""}}}
}
