package spelling

import "fmt"

// Count returns a number with its noun, which is regular: "1 worker", "2 workers".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
