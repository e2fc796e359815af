package photo

// Adjust makes the change of a kind by a factor of torchvision's adjust functions.
func Adjust(pixels []byte, name string, factor float64) {
	if name == "hue" {
		Jitter{Hue: 0.5}.change(pixels, 3, factor+0.5)
		return
	}
	which := map[string]int{"brightness": 0, "contrast": 1, "saturation": 2}[name]
	adjust(pixels, which, float32(factor))
}
