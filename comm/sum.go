package comm

import "unsafe"

// Add adds src to dst element by element. It is the default of Config.Add, and defines what
// Config.Add must compute.
func Add(dst, src []float32) {
	n := len(dst) &^ 7
	for i := 0; i < n; i += 8 {
		d, s := dst[i:i+8:i+8], src[i:i+8:i+8]
		d[0] += s[0]
		d[1] += s[1]
		d[2] += s[2]
		d[3] += s[3]
		d[4] += s[4]
		d[5] += s[5]
		d[6] += s[6]
		d[7] += s[7]
	}
	for i := n; i < len(dst); i++ {
		dst[i] += src[i]
	}
}

// Number is the constraint of Bytes: fixed-size values in the machine's byte order.
type Number interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// Bytes returns the memory of s as bytes, without copying. The collectives that only move data take
// bytes; all ranks must have the same byte order, which the transport's handshake checks.
func Bytes[T Number](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// floats is the inverse of Bytes, for memory that Bytes returned.
func floats(b []byte) []float32 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4)
}
