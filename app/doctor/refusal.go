package doctor

import (
	"slices"
	"strings"

	"lockstep/app/record"
)

// Refusal is the error of hosts on which a job cannot run.
type Refusal struct {
	Findings []record.Finding // of level error, at least one
}

// Error has a line for each finding.
func (e *Refusal) Error() string {
	var lines []string
	for _, f := range e.Findings {
		lines = append(lines, f.Topic+": "+Line(f))
	}
	return strings.Join(lines, "\n")
}

// IsFull reports whether full disks are all that is wrong.
func (e *Refusal) IsFull() bool {
	return !slices.ContainsFunc(e.Findings, func(f record.Finding) bool { return f.Topic != TopicDisk })
}

// Refuse returns a *Refusal with the findings that hinder a job, nil if there are none.
func Refuse(found []record.Finding) error {
	errors := slices.DeleteFunc(slices.Clone(found), func(f record.Finding) bool {
		return f.Level != record.LevelError
	})
	if len(errors) == 0 {
		return nil
	}
	return &Refusal{errors}
}
