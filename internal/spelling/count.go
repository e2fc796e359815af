package spelling

import (
	"fmt"
	"strings"
)

// Count returns a number with its noun, which is regular: "1 worker", "2 workers", "3 classes".
func Count(n int, noun string) string {
	if n != 1 && strings.HasSuffix(noun, "s") {
		noun += "es"
	} else if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
