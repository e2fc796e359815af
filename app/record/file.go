package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"lockstep/internal/regular"
)

// A seal is the SHA-256 of a file of JSON without the blanks between its tokens and with zeros in the seal's
// place. It tells that a file was changed; who changes one may seal it anew.

// unsealed stands in a file in place of its seal until that is known.
var unsealed = strings.Repeat("0", 2*sha256.Size)

var sealMember = regexp.MustCompile(`"file_sha256":\s*"([0-9a-f]{64})"`)

// sealOf returns the seal that a text should have and the one that it has; "" without a place for one.
func sealOf(text []byte) (want, got string) {
	at := sealMember.FindSubmatchIndex(text)
	if at == nil {
		return "", ""
	}
	var compact bytes.Buffer
	if json.Compact(&compact, slices.Concat(text[:at[2]], []byte(unsealed), text[at[3]:])) != nil {
		return "", ""
	}
	sum := sha256.Sum256(compact.Bytes())
	return hex.EncodeToString(sum[:]), string(text[at[2]:at[3]])
}

// sealed returns a text with its seal, which has its place.
func sealed(text []byte) []byte {
	want, _ := sealOf(text)
	return bytes.Replace(text, []byte(unsealed), []byte(want), 1)
}

// isChanged reports whether a text has another seal than it should have. One without any, as older versions
// wrote them, is not changed.
func isChanged(text []byte) bool {
	want, got := sealOf(text)
	return want != got
}

// Bounds of a file of JSON. Runs and ranks hold lists of numbers, so that an object in a record has some
// hundred bytes, and as many in memory.
const (
	maxJSON        = 256 << 20 // bytes
	freeObjects    = 1 << 16
	bytesPerObject = 64 // on average, of those beyond
)

// ReadJSON reads a file that is one JSON value. Text after its end is an error. The memory that it takes is
// in proportion to the text.
func ReadJSON(r io.Reader, into any) error {
	_, err := readJSON(r, into)
	return err
}

func readJSON(r io.Reader, into any) (text []byte, err error) {
	if text, err = regular.ReadAll(r, maxJSON); err != nil {
		return nil, err
	}
	if most, n := freeObjects+len(text)/bytesPerObject, bytes.Count(text, []byte("{")); n > most {
		return nil, fmt.Errorf("more than %d objects in %d bytes; records are not so empty", most, len(text))
	}
	return text, json.Unmarshal(text, into)
}
