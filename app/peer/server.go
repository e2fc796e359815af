package peer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"lockstep/cluster"
)

// errHung is the error of a server that has made no progress for the patience of its owner.
var errHung = errors.New("no progress")

// server is a Python that runs the embedded script.
type server struct {
	command *exec.Cmd
	input   io.WriteCloser
	answers chan answer // closed when the output has ended
	said    tail        // of its error stream; may be read once it has ended
}

// answer is a line of the script's output; a field is nil if the line does not have it.
type answer struct {
	Hello   *Versions `json:"hello"`
	Missing *string   `json:"missing"`
	Steps   *int64    `json:"steps"`
	Done    *done     `json:"done"`
}

// done is the last answer to a run.
type done struct {
	Error        string  `json:"error"`
	PeakRSSBytes int64   `json:"peak_rss_bytes"`
	CPUSeconds   float64 `json:"cpu_seconds"`
}

// startServer starts the script by the Python at path.
func startServer(path string, e cluster.Environment) (*server, error) {
	s := &server{command: exec.Command(path, "-u", "-c", script), answers: make(chan answer)}
	s.command.Env, s.command.Stderr = e.Pairs(), &s.said
	s.command.WaitDelay = 5 * time.Second
	separate(s.command)
	output, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if s.input, err = s.command.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	go s.read(output)
	return s, nil
}

// read passes answers on until the output ends. Lines that are none are left out.
func (s *server) read(output io.Reader) {
	defer close(s.answers)
	for lines := bufio.NewScanner(output); lines.Scan(); {
		var a answer
		if json.Unmarshal(lines.Bytes(), &a) == nil {
			s.answers <- a
		}
	}
}

// wait returns the next answer that is more than a number of steps. If there is none the error is that of the
// context, errHung if neither an answer nor a further step has come for so long, or io.EOF if the script has
// ended.
func (s *server) wait(ctx context.Context, patience time.Duration) (answer, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for steps := int64(0); ; {
		select {
		case <-ctx.Done():
			return answer{}, ctx.Err()
		case <-timer.C:
			return answer{}, fmt.Errorf("%w for %v, after %d steps of all workers", errHung, patience, steps)
		case a, ok := <-s.answers:
			switch {
			case !ok:
				return answer{}, io.EOF
			case a.Steps == nil:
				return a, nil
			case *a.Steps > steps:
				steps = *a.Steps
				timer.Reset(patience)
			}
		}
	}
}

// end kills the script and its workers, and returns how it had ended, if it had, and what it said last.
func (s *server) end() string {
	kill(s.command)
	for range s.answers { // until the output has ended
	}
	s.input.Close()
	err := s.command.Wait()
	last := s.said.lastLine()
	if last == "" && err != nil {
		return err.Error()
	}
	return last
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

// tailBytes is more than the last line of a traceback.
const tailBytes = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if over := len(t.text) - tailBytes; over > 0 {
		t.text = slices.Delete(t.text, 0, over)
	}
	return len(p), nil
}

// lastLine returns the last line that says something, as printable characters.
func (t *tail) lastLine() string {
	lines := slices.DeleteFunc(strings.Split(string(t.text), "\n"), func(l string) bool {
		return strings.TrimSpace(l) == ""
	})
	if len(lines) == 0 {
		return ""
	}
	return printable(lines[len(lines)-1])
}

// printable returns a line without control characters, of at most 300 characters.
func printable(line string) string {
	runes := []rune(strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, line)))
	if len(runes) > 300 {
		return string(runes[:300]) + "..."
	}
	return string(runes)
}
