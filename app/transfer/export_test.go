package transfer

import (
	"bufio"
	"bytes"
	"time"
)

// WithSilence returns a cargo whose deliveries wait for less time.
func (c *Cargo) WithSilence(silence time.Duration) *Cargo {
	own := *c
	own.silence = silence
	return &own
}

// CheckEntry reads a line of the sender's list.
func CheckEntry(line []byte) (name string, err error) {
	var e entry
	if err := readLine(bufio.NewReader(bytes.NewReader(line)), &e); err != nil {
		return "", err
	}
	return e.Name, e.check()
}
