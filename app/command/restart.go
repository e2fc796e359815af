package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/cluster"
	"lockstep/internal/spelling"
)

// restarts counts how often a run was started again, and what that has cost.
type restarts struct {
	most int // allowed
	done []record.Restart
}

// mayFollow reports whether a run that ended with this status may be started again.
func (r *restarts) mayFollow(status int) bool {
	return isRestarted(status) && len(r.done) < r.most
}

// isRestarted reports whether a run that ended with this status is started again, if it may be.
func isRestarted(status int) bool { return status == job.ExitPeerLost || status == job.ExitInternal }

// errAsked is why a run that was asked to stop between two attempts is not started again.
var errAsked = errors.New("it was asked to stop")

// statusAsked returns the status of a run that is not started again because it was asked to stop, by a
// scheduler or not.
func statusAsked(isPreempted bool, at record.Standing) int {
	if isPreempted && at.Checkpoint != "" {
		return job.ExitPreempted
	}
	return job.ExitInterrupted
}

// note notes a restart from where the run stands, and says so.
func (r *restarts) note(a *app, s record.Standing, cause, directory string) {
	cost := s.Restart(cause, time.Now())
	r.done = append(r.done, cost)
	from := "newest checkpoint in " + directory
	if s.Checkpoint == "" {
		from = "beginning: " + directory + " has no checkpoint (--checkpoint-every leaves some)"
	}
	fmt.Fprintf(a.stderr, "lockstep: restart %d of %d from the %s\n", len(r.done), r.most, from)
	seconds := ""
	if cost.Seconds != 0 {
		seconds = fmt.Sprintf(", %.1f s lost", cost.Seconds)
	}
	fmt.Fprintf(a.stderr, "lockstep: %s; %s to do again%s\n", cause,
		spelling.Count(cost.Redone, "step"), seconds)
}

// environment tells the next attempt of those before it, and whether one may follow it.
func (r *restarts) environment() cluster.Environment {
	e := cluster.Environment{cluster.EnvMayRestart: ""}
	if len(r.done) < r.most {
		e[cluster.EnvMayRestart] = "1"
	}
	if len(r.done) == 0 {
		return e
	}
	if text, err := json.Marshal(r.done); err == nil { // numbers and strings have a form in JSON
		e[cluster.EnvRestarts], e[cluster.EnvGeneration] = string(text), fmt.Sprint(len(r.done))
	}
	return e
}

// without says that no restart is possible.
func (r *restarts) without(a *app, why error) {
	fmt.Fprintf(a.stderr, "lockstep: no restart: %s\n", strings.TrimPrefix(why.Error(), "checkpoint: "))
}

// showWithheld shows where the run of args stands, in directory, if it is not started again after all: its
// attempts, which were started again as done says, have left that to the one that was to follow. Without a
// step there is nothing to show.
func (a *app) showWithheld(args []string, directory string, done []record.Restart) {
	summary, err := job.Unfinished(directory)
	if err != nil {
		return
	}
	a.showWay(summary.Standing)
	if isJSON(args) {
		summary.Restarts = done
		a.printUnfinished(summary)
	}
}

// from returns the arguments that let a run of some first arguments go on where it stands, in its directory.
func from(s record.Standing, first []string, directory string) []string {
	if s.Checkpoint == "" {
		return append(slices.Clone(first), "--out="+directory)
	}
	return append([]string{"train", "--resume=" + directory}, watching(first)...)
}

// watching returns the arguments that say how a run is shown, which hold for a restart too.
func watching(args []string) []string {
	var kept []string
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if slices.Contains([]string{"--quiet", "-q", "--json"}, name) {
			kept = append(kept, arg)
		}
	}
	return kept
}

// isJSON reports whether arguments ask for a summary for programs.
func isJSON(args []string) (asked bool) {
	for _, arg := range args {
		if name, value, hasValue := strings.Cut(arg, "="); name == "--json" {
			is, err := strconv.ParseBool(value)
			asked = !hasValue || err == nil && is
		}
	}
	return asked
}
