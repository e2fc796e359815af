package peer

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"lockstep/cluster"
	"lockstep/internal/spelling"
	"lockstep/internal/tail"
)

// server is a Python that runs the embedded script.
type server struct {
	command *exec.Cmd
	input   io.WriteCloser
	answers chan answer // closed when the output has ended
	said    tail.End    // of its error stream
}

// answer is a line of the script's output, which has one of the fields.
type answer struct {
	Hello *Versions `json:"hello"`
	Done  *done     `json:"done"`
	Steps int64     `json:"steps"`
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

// wait returns the next answer that is more than a number of steps. If there is none, the error is that of
// the context, or says that the script has ended, or that neither an answer nor a further step has come for
// so long.
func (s *server) wait(ctx context.Context, patience time.Duration) (answer, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for steps := int64(0); ; {
		select {
		case <-ctx.Done():
			return answer{}, ctx.Err()
		case <-timer.C:
			return answer{}, fmt.Errorf("no progress for %v, after %d steps of all workers", patience, steps)
		case a, ok := <-s.answers:
			switch {
			case !ok:
				return answer{}, errors.New("it ended")
			case a.Hello != nil || a.Done != nil:
				return a, nil
			case a.Steps > steps:
				steps = a.Steps
				timer.Reset(patience)
			}
		}
	}
}

// end kills the script and its workers, and returns what it said last or, without a word, how it ended.
func (s *server) end() string {
	kill(s.command)
	for range s.answers { // until the output has ended
	}
	s.input.Close()
	s.command.Wait()
	return cmp.Or(spelling.Plain(s.said.LastLine()), s.command.ProcessState.String())
}
