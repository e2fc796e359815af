package recipe

import "lockstep/app/setting"

// mnistLeNet reaches 99 % in a few epochs.
func mnistLeNet() Recipe {
	c := setting.Default()
	c.Model, c.Data = "lenet", "mnist"
	c.Batch, c.Shards, c.Epochs = 64, 2, 5
	c.Optimizer, c.Schedule = nesterov(0.05), triangle(0.2, 0.2, 0)
	return Recipe{Name: "lenet-mnist", Config: c, Goal: 0.99,
		About:     "lenet on MNIST",
		Reference: "LeCun et al. 1998, Gradient-based learning: 99.05 % with LeNet-5",
		Figures: []Figure{
			{1, 0.9929, 11.7, xeon + ", 2 threads", ""},
			{2, 0.9924, 14.7, xeon + ", 2 threads", ""},
			{3, 0.9914, 11.6, xeon + ", 2 threads", ""},
		}}
}
