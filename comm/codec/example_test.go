package codec_test

import (
	"fmt"
	"log"

	"lockstep/comm/codec"
)

// A codec turns a vector into bytes and back. bf16 keeps the upper half of each float32.
func ExampleNew() {
	c, err := codec.New("bf16")
	if err != nil {
		log.Fatal(err)
	}
	vector := []float32{1, 0.1, -1000.5}
	body := make([]byte, c.MaxBytes(len(vector)))
	body = body[:c.Encode(body, vector)]
	decoded := make([]float32, len(vector))
	if err := c.Decode(decoded, body); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(body), "bytes,", decoded)
	// Output: 6 bytes, [1 0.100097656 -1000]
}
