package recipe

// cifar10ResNet20 trains the resnet20 of He et al. in a sixth of their epochs. So few need less augmentation:
// images move by up to 2 pixels and are flipped in every other epoch. A test image is seen as it is and
// flipped; the measured weights reach 90.94 % with one view.
func cifar10ResNet20() Recipe {
	c := oneCycle("resnet20", 26)
	c.Optimizer.LR, c.Augment, c.TTA, c.EvalEvery = 0.2, "shift-alternate", "flip", 5
	return Recipe{Name: "resnet20-cifar10", Config: c, Goal: 0.91,
		About:     "the resnet20 of He et al. on CIFAR-10, in 26 epochs, with two views of each test image",
		Reference: "He et al. 2015, arXiv 1512.03385: 91.25 % after 164 epochs, with one view",
		Figures: []Figure{
			{1, 0.9183, 3014, xeonAmongBuilds, ""},
			{2, 0.9161, 2928, zenAmongBuilds, ""},
			{3, 0.9193, 1358, zenAmongBuilds, ""},
		}}
}
