package setting

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// unit is a unit of sizes.
type unit struct {
	name string
	size int
}

// units lists the units in which sizes are read and written, from large to small; bytes may go without. Of
// two with the same size the first is written.
func units() []unit {
	return []unit{{"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"kB", 1e3},
		{"KB", 1e3}, {"B", 1}, {"", 1}}
}

// ParseBytes reads a size such as 65536, 256KiB or 4MiB. KB or kB, MB and GB are powers of 1000.
func ParseBytes(text string) (int, error) {
	for _, u := range units() {
		digits, ok := strings.CutSuffix(text, u.name)
		if n, err := strconv.Atoi(digits); ok && err == nil && n <= math.MaxInt/u.size {
			return n * u.size, nil
		}
	}
	return 0, fmt.Errorf("%.80q is no size such as 65536, 256KiB, 4MiB or 25MB", text)
}

// formatBytes writes n in the largest unit that divides it, as ParseBytes reads it.
func formatBytes(n int) string {
	for _, u := range units() {
		if n%u.size == 0 && n > 0 {
			return strconv.Itoa(n/u.size) + u.name
		}
	}
	return strconv.Itoa(n)
}
