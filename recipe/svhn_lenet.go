package recipe

import "lockstep/app/setting"

// svhnLeNet is three workers of 16 images each.
func svhnLeNet() Recipe {
	c := setting.Default()
	c.Model, c.Data = "lenet", "svhn"
	c.Workers, c.Shards, c.Batch, c.Epochs = 3, 3, 48, 10
	c.Optimizer, c.Schedule = nesterov(0.04), triangle(0.2, 0.2, 0)
	return Recipe{Name: "lenet-svhn", Config: c, Substitute: "glyphs", Goal: 0.9,
		About:     "lenet on SVHN with three workers of 16 images",
		Label:     "On glyphs, which are drawn by a program, the result says nothing about SVHN",
		Reference: "our own, for both data sets",
		Figures: []Figure{
			{1, 0.9725, 4.9, xeon + ", 3 workers of one thread", "glyphs"},
			{2, 0.973, 4.9, xeon + ", 3 workers of one thread", "glyphs"},
			{3, 0.97, 4.9, xeon + ", 3 workers of one thread", "glyphs"},
		}}
}
