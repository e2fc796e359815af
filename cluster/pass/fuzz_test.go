package pass_test

import (
	"strings"
	"testing"
	"time"

	"lockstep/cluster/pass"
)

// FuzzToken reads the text of a token; what is read has that text and no other.
func FuzzToken(f *testing.F) {
	f.Add(newToken(f).Reveal())
	f.Add("00112233445566778899aabbccddeeff")
	f.Add("ls1...")
	f.Fuzz(func(t *testing.T, text string) {
		token, err := pass.Parse(text)
		if err == nil && token.Reveal() != text {
			t.Fatalf("%q was read as %q", text, token.Reveal())
		}
		if last := text[strings.LastIndex(text, ".")+1:]; err != nil && len(last) > 16 &&
			strings.Contains(err.Error(), last) {
			t.Fatalf("the error repeats the secret: %v", err)
		}
	})
}

// FuzzAdmit says arbitrary bytes to a launcher, after the right greeting if isPolite. Nobody joins so.
func FuzzAdmit(f *testing.F) {
	a := newAuthority(f)
	greeting := "lockstep/2 " + string(a.Token().Run()) + "\n"
	f.Add(true, []byte("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00"))
	f.Add(false, []byte(greeting))
	f.Add(false, []byte("lockstep/1 00112233445566778899aabbccddeeff\n"))
	f.Fuzz(func(t *testing.T, isPolite bool, said []byte) {
		text := string(said)
		if isPolite {
			text = greeting + text
		}
		s := &speaker{said: strings.NewReader(text)}
		if _, err := a.Admit(s); err == nil {
			t.Fatal("a stranger was admitted")
		}
		if read := len(text) - s.said.Len(); read > pass.MaxStranger {
			t.Fatalf("%d bytes of a stranger read", read)
		}
	})
}

// FuzzEnter answers a process that joins.
func FuzzEnter(f *testing.F) {
	token := newAuthority(f).Token()
	f.Add([]byte("lockstep/2 y\n\x16\x03\x03\x00\x05\x02\x00\x00\x01\x00"))
	f.Add([]byte("lockstep/3 y\n"))
	f.Add([]byte("no\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		if _, err := token.Enter(&speaker{said: strings.NewReader(string(said))}, time.Now()); err == nil {
			t.Fatal("a stranger was taken for the launcher")
		}
	})
}
