package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lockstep/cluster"
)

// The asks that the agent answers itself.
const (
	askPrefix = "launch."
	askClaim  = askPrefix + "claim" // folderAsk: make the job's folder, and keep it
	askBegin  = askPrefix + "begin" // folderAsk: make room for an attempt
	askStart  = askPrefix + "start" // startAsk: start the command; on the first host
	askEnd    = askPrefix + "end"   // kill what the attempt has left
	askClear  = askPrefix + "clear" // folderAsk: remove the job's folder
)

// folderAsk names the folder of a job; "": the current folder of the agent, for an attempt.
type folderAsk struct {
	Folder string `json:"folder"`
}

// startAsk describes a command.
type startAsk struct {
	Arguments   []string            `json:"arguments"`
	Environment cluster.Environment `json:"environment"` // what it has besides the agent's own
}

// own answers an ask about the job.
func (s *service) own(_ context.Context, name string, body json.RawMessage) (json.RawMessage, error) {
	switch name {
	case askClaim:
		return obey(body, s.claim)
	case askBegin:
		return obey(body, s.begin)
	case askStart:
		return obey(body, s.start)
	case askEnd:
		s.endAttempt()
		return nil, nil
	case askClear:
		return obey(body, s.clear)
	}
	return nil, fmt.Errorf("agent: unknown ask %.80q", name)
}

// obey does what an ask without an answer asks for.
func obey[T any](body json.RawMessage, do func(T) error) (json.RawMessage, error) {
	var t T
	if err := json.Unmarshal(body, &t); err != nil {
		return nil, fmt.Errorf("agent: ask: %w", err)
	}
	return nil, do(t)
}

// jobFolder returns the path of a job's folder.
func (s *service) jobFolder(name string) (string, error) {
	if name == "." || !filepath.IsLocal(name) {
		return "", fmt.Errorf("agent: folder %.80q is not below that of jobs", name)
	}
	return filepath.Join(s.Hello.Jobs, name), nil
}

// claim makes the folder of a job and keeps it until the agent ends.
func (s *service) claim(a folderAsk) error {
	folder, err := s.jobFolder(a.Folder)
	if err != nil {
		return err
	}
	f, err := claim(folder)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims = append(s.claims, f) // also while the agent is ending: it waits for answers before it releases
	return nil
}

// clear removes the folder of a job.
func (s *service) clear(a folderAsk) error {
	folder, err := s.jobFolder(a.Folder)
	if err != nil {
		return err
	}
	return os.RemoveAll(folder)
}

// release ends all claims. Folders without results go with them.
func (s *service) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.claims {
		f.Close()
		sweep(filepath.Dir(f.Name()), emptyAge)
	}
}

// isOwn reports whether an ask is about the job.
func isOwn(name string) bool { return strings.HasPrefix(name, askPrefix) }
