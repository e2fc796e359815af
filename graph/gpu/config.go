package gpu

import "fmt"

// Math says in what precision products are computed. Sums are float32, and so is everything but products and
// the maps between ops.
type Math string

const (
	// Float32 computes products of float32 values in float32.
	Float32 Math = "fp32"
	// TF32 rounds the factors of products to 10 bits behind the point.
	TF32 Math = "tf32"
	// BF16 keeps maps and the rows of tokens as bfloat16, and multiplies those. Parameters, gradients of
	// parameters, statistics and losses are float32.
	BF16 Math = "bf16"
)

// maths lists the precisions.
func maths() []string { return []string{string(Float32), string(TF32), string(BF16)} }

// Config says which GPU to use, and how.
type Config struct {
	// Device is the GPU's number.
	Device int
	// Math is the precision; "" means Float32.
	Math Math
	// Plain computes products and convolutions with kernels of this package and needs no library besides the
	// driver. They compute in float32, and with Math BF16 read maps that are bfloat16.
	Plain bool
	// Profile prepares ops so that Timed says how long each takes.
	Profile bool
}

// validate returns an error for the first invalid setting, and fills in the default.
func (c *Config) validate() error {
	switch c.Math {
	case "":
		c.Math = Float32
	case Float32, TF32, BF16:
	default:
		return fmt.Errorf("gpu: math %q, want one of %v", c.Math, maths())
	}
	return nil
}
