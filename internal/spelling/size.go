package spelling

import (
	"fmt"
	"math"
	"strconv"
)

// DecimalUnit returns the unit in which pages write bytes, and its size: that of rates and of other reports.
func DecimalUnit(bytes float64) (size float64, name string) {
	return unitOf(bytes, 1000, "B", "kB", "MB", "GB", "TB")
}

// unitOf returns the first unit of which there are fewer than times as many, else the last.
func unitOf(bytes, times float64, names ...string) (size float64, name string) {
	size = 1
	for _, name = range names[:len(names)-1] {
		if bytes < times*size {
			return size, name
		}
		size *= times
	}
	return size, names[len(names)-1]
}

// Size words bytes in their binary unit, as memory is counted, with three digits or more: "512 B",
// "1.50 MiB", "1023 KiB".
func Size[N int | int64 | uint64](bytes N) string {
	size, unit := unitOf(float64(bytes), 1024, "B", "KiB", "MiB", "GiB", "TiB")
	v := float64(bytes) / size
	decimals := 0
	if size > 1 {
		decimals = max(0, 2-int(math.Log10(v)))
	}
	return fmt.Sprint(strconv.FormatFloat(v, 'f', decimals, 64), " ", unit)
}
