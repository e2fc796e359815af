package compare

// Parameters returns how many parameters the built-in networks have for ten classes, by name.
func Parameters() map[string]int64 {
	return map[string]int64{
		"lenet":       53_762,
		"vgg11":       9_231_114,
		"resnet20":    269_722,
		"resnet56":    853_018,
		"resnet50":    23_520_842,
		"airbench":    1_972_792,
		"bert-tiny":   4_387_210,
		"bert-mini":   11_173_130,
		"bert-small":  28_768_778,
		"bert-medium": 41_378_314,
		"bert-base":   109_489_930,
	}
}
