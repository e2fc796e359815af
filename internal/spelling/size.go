package spelling

import (
	"fmt"
	"math"
	"strconv"
)

// ByteUnit returns the binary unit in which a number of bytes is written, and its size.
func ByteUnit(bytes float64) (size float64, name string) {
	size = 1
	for _, name = range []string{"B", "KiB", "MiB", "GiB", "TiB"} {
		if bytes < 1024*size || name == "TiB" {
			break
		}
		size *= 1024
	}
	return size, name
}

// Size words bytes in their unit, with three digits or more: "512 B", "1.50 MiB", "1023 KiB".
func Size[N int | int64 | uint64](bytes N) string {
	size, unit := ByteUnit(float64(bytes))
	v := float64(bytes) / size
	decimals := 0
	if size > 1 {
		decimals = max(0, 2-int(math.Log10(v)))
	}
	return fmt.Sprint(strconv.FormatFloat(v, 'f', decimals, 64), " ", unit)
}
