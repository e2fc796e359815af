package recipe

// cifar10ResNet50 trains resnet50 with the stem for small images, which does not downsample them.
func cifar10ResNet50() Recipe {
	c := oneCycle("resnet50", 15)
	return Recipe{Name: "resnet50-cifar10", Config: c, Goal: 0.92,
		About:     "resnet50 with the stem for small images on CIFAR-10",
		Reference: "our own"}
}
