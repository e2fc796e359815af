package recipe

import (
	"lockstep/app/setting"
	"lockstep/optim"
)

// cifar10Airbench is airbench94 (Jordan 2024, arXiv 2404.00498) in float32. Its rates are for sums over
// a batch of 1024; here they are for means, so 11.5 / (1024 (1 + 1/(1-0.85))) becomes 1.5, and the
// decay coefficient 0.0153 * 1024/k / rate with k = 1024 (1 + 1/(1-0.85)) becomes 0.001330435. Biases
// of norms have 64 times the rate and a 64th of the decay; gains of norms and the whitening filters stay
// as they are, and the whitening bias does after three epochs. The lookahead's part is 1 - 0.95^5.
//
// Nothing is dropped at the end of an epoch, so that one has 49 steps, not 48; 478 steps train on as many
// samples as 9.75 epochs, as airbench's 9.9 epochs of 48 steps do. Two shards, so that batch norms see
// 512 images and two workers end with the bits of one.
func cifar10Airbench() Recipe {
	c := setting.Default()
	c.Model, c.Data = "airbench", "cifar10"
	c.Augment, c.TTA = "shift-alternate", "flip-shift"
	c.Batch, c.Shards, c.Steps, c.EvalEvery = 1024, 2, 478, 0
	c.Optimizer = optim.Config{Name: "sgd", LR: 1.5, Momentum: 0.85, Nesterov: true, WeightDecay: 0.001330435,
		Groups: optim.Groups{
			{Match: "whiten.weight"},
			{Match: "whiten.bias", Rate: 1, WeightDecay: 0.001330435, Steps: 147},
			{Match: "*.norm*.weight"},
			{Match: "*.norm*.bias", Rate: 64, WeightDecay: 0.0000207880},
		}}
	c.Schedule = triangle(0.2, 0.23, 0.07)
	c.Lookahead = optim.LookaheadConfig{Every: 5, Alpha: 0.2262190625, Power: 3}
	c.Smoothing = 0.2
	return Recipe{Name: "cifar10-94", Config: c, Goal: 0.94,
		About:     "airbench on CIFAR-10, in under ten epochs, with six views of each test image",
		Reference: "Jordan 2024, arXiv 2404.00498: 94.01 % in the mean",
		Figures: []Figure{
			{1, 0.9420, 4675, xeonAmongBuilds, ""},
			{2, 0.9420, 3123, xeonAmongBuilds, ""},
			{3, 0.9391, 2261, xeonAmongBuilds, ""},
			{4, 0.9382, 1407, xeonAmongBuilds, ""},
			{5, 0.9410, 2831, xeonAmongBuilds, ""},
		}}
}
