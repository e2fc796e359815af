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

// EncodeSummary returns s as JSON with its seal.
func EncodeSummary(s *Summary) ([]byte, error) {
	outer := *s
	outer.Seal = unsealed
	text, err := json.MarshalIndent(outer, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode summary: %w", err)
	}
	return sealed(append(text, '\n')), nil
}

// DecodeSummary reads what [EncodeSummary] wrote, or what an older version did.
func DecodeSummary(r io.Reader) (*Summary, error) {
	s := &Summary{}
	text, err := readJSON(r, s)
	s.IsChanged = isChanged(text)
	return s, err
}

// Contradicts says which files of the ended run were changed after its end: the summary by its seal, and
// steps.jsonl by its SHA-256 now. That is "" if it is not known or not there: steps that were removed
// altogether, as to make room, tell nothing that is not so.
func (s *Summary) Contradicts(stepsSHA256 string) (out []string) {
	if s.IsChanged {
		out = append(out, "summary.json has a seal that is not that of what it holds: some of it was "+
			"changed, added or removed.")
	}
	if s.StepsSHA256 != "" && stepsSHA256 != "" && stepsSHA256 != s.StepsSHA256 {
		out = append(out, fmt.Sprintf("steps.jsonl has the SHA-256 %.12s…, and had %.12s… at the end of "+
			"the run: some of its lines were changed, added or removed.", stepsSHA256, s.StepsSHA256))
	}
	return out
}
