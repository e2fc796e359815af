package recipe

import "lockstep/optim"

// cifar10Muon is airbench94_muon of the same author, in float32: filters are kept at a fixed length and
// turned by orthogonal steps (optim.UnitMuon), which takes eight epochs instead of ten.
//
// As in cifar10Airbench rates are for means over the batch: 2000 times 0.053 for biases. The last layer's
// 0.67 is for weights of deviation one and logits divided by 256; for weights as they are drawn here and
// logits divided by nine it is 0.67 * 2000 * (9/256)^2 = 1.656. All are given as multiples of the filters'
// 0.24, and a decay coefficient is 2e-6 * 2000 / rate. The whitening bias has 0.61 of its rate, since here
// the rate does not fall to 0 in the three epochs that it is trained for, and orthogonal steps are of five
// rounds, not three. Four shards, so that batch norms see 500 images, not 2000.
func cifar10Muon() Recipe {
	c := cifar10Airbench().Config
	c.Batch, c.Shards, c.Steps = 2000, 4, 200
	c.Optimizer = optim.Config{Name: "unit-muon", LR: 0.24, Momentum: 0.85, Nesterov: true,
		Groups: optim.Groups{
			{Match: "whiten.weight"},
			{Match: "whiten.bias", Rate: 271, WeightDecay: 0.0000377358, Steps: 75},
			{Match: "*.norm*.weight"},
			{Match: "*.norm*.bias", Rate: 441.666667, WeightDecay: 0.0000377358},
			{Match: "head.weight", Rate: 6.9, WeightDecay: 0.00241546},
		}}
	c.Schedule, c.Lookahead = triangle(1, 0, 0), optim.LookaheadConfig{}
	return Recipe{Name: "cifar10-94-muon", Config: c, Goal: 0.94,
		About:     "airbench with Muon on CIFAR-10, in eight epochs, with six views of each test image",
		Reference: "Jordan 2024, github.com/KellerJordan/cifar10-airbench: 94.01 % in the mean",
		Figures: []Figure{
			{1, 0.9428, 971, xeonShared, ""},
			{2, 0.9405, 1132, xeonShared, ""},
		}}
}
