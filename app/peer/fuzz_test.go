package peer

import (
	"bytes"
	"testing"
)

// FuzzAnswers reads what a Python prints.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"hello":{"torch":"2.1","python":"3.12"}}` + "\n" + `{"steps":3}` + "\n{}\n"))
	f.Add([]byte("warning\n" + `{"missing":null,"steps":1e9}` + "\n[]"))
	f.Fuzz(func(t *testing.T, said []byte) {
		s := &server{answers: make(chan answer)}
		go s.read(bytes.NewReader(said))
		count := 0
		for range s.answers {
			count++
		}
		if lines := bytes.Count(said, []byte("\n")) + 1; count > lines {
			t.Errorf("%d answers in %d lines", count, lines)
		}
	})
}
