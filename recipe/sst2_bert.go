package recipe

import (
	"lockstep/app/setting"
	"lockstep/optim"
)

// sst2BERT trains bert-mini on SST-2, from random weights unless a pre-trained file is given.
func sst2BERT() Recipe {
	c := setting.Default()
	c.Model, c.Data, c.Sequence = "bert-mini", "sst2", 64
	c.Batch, c.Shards, c.Epochs = 64, 2, 2 // with more it fits the training texts: 79.9 % after four
	c.Optimizer = optim.Config{Name: "adamw", LR: 3e-4, WeightDecay: 0.01, DecayMatrices: true}
	c.Schedule = optim.ScheduleConfig{Name: "linear", Warmup: 0.3}
	c.Clip = 1
	c.Smoothing, c.EMA = 0.1, 0.999
	return Recipe{Name: "bert-sst2", Config: c, Goal: 0.8,
		About: "bert-mini on SST-2",
		Label: "From random weights; with --weights FOLDER --fresh-head it fine-tunes, and --lr 1e-4 " +
			"suits it better",
		Reference: "our own; fine-tuned, the model's authors report 85.9 %",
		Figures: []Figure{
			{1, 0.8188, 340.6, xeon + ", 2 threads", ""},
			{2, 0.8039, 391.2, xeonAmongBuilds, ""},
			{3, 0.8096, 567.1, xeonAmongBuilds, ""},
		}}
}
