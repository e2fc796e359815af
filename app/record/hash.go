package record

import "fmt"

// DataHash holds what data.Set.SHA256 says about the samples of a run, and the hash of its network's file.
type DataHash struct {
	Train      string `json:"train"`                // of the training samples
	Validation string `json:"validation,omitempty"` // "": there are none
	Test       string `json:"test"`                 // "": there are none
	Model      string `json:"model,omitempty"`      // of the network's ONNX file; "": it has none
}

// String shows the heads of all hashes.
func (h DataHash) String() string {
	text := fmt.Sprintf("sha256 %.16s", h.Train)
	for _, other := range []string{h.Validation, h.Test} {
		if other != "" {
			text += fmt.Sprintf(" and %.16s", other)
		}
	}
	return text
}
