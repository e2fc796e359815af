package tail

import (
	"strings"
	"sync"
)

// End keeps the end of what is written to it, such as the error stream of a process.
type End struct {
	mu   sync.Mutex
	text []byte
}

// endBytes is more than the last line of a traceback.
const endBytes = 8 << 10

// Write keeps the last 8 KiB.
func (e *End) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text = append(e.text, p...)
	e.text = e.text[max(0, len(e.text)-endBytes):]
	return len(p), nil
}

// String returns what was kept.
func (e *End) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return string(e.text)
}

// LastLine returns the last line that says something.
func (e *End) LastLine() string { return LastLine(e.String()) }

// LastLine returns the last line of text that says something, without the spaces around it; "" if none does.
func LastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
