package recipe

// cifar10ResNet20 trains the resnet20 of He et al. in a third of their epochs.
func cifar10ResNet20() Recipe {
	c := oneCycle("resnet20", 60)
	c.LR = 0.2
	return Recipe{Name: "resnet20-cifar10", Config: c, Goal: 0.91,
		About:     "the resnet20 of He et al. on CIFAR-10, in 60 epochs",
		Reference: "He et al. 2015, arXiv 1512.03385: 91.25 % after 164 epochs"}
}
