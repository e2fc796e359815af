package codec

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/comm"
)

// codecs is the selection table.
func codecs() []comm.Codec {
	return []comm.Codec{nil, bf16{}, int8Blocks{}, sparse{}, &deflate{}, &zstandard{}}
}

// Names returns the names of the codecs.
func Names() []string {
	var names []string
	for _, c := range codecs() {
		names = append(names, nameOf(c))
	}
	return names
}

// New returns a codec of that name, for use by one group. It is nil for "fp32", which is not
// encoded.
func New(name string) (comm.Codec, error) {
	all := codecs()
	i := slices.IndexFunc(all, func(c comm.Codec) bool { return nameOf(c) == name })
	if i < 0 {
		return nil, fmt.Errorf("codec: %q, want one of %s", name, strings.Join(Names(), ", "))
	}
	return all[i], nil
}

func nameOf(c comm.Codec) string {
	if c == nil {
		return "fp32"
	}
	return c.Name()
}

// errLength returns the error for a body of the wrong length.
func errLength(name string, elems, got, want int) error {
	return fmt.Errorf("codec: %s: %d bytes for %d elements, want %d", name, got, elems, want)
}
