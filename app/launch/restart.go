package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/cluster"
	"lockstep/internal/spelling"
)

// Restarts counts how often a run was started again, and what that has cost.
type Restarts struct {
	Most   int // allowed
	Done   []record.Restart
	Stderr io.Writer
}

// MayFollow reports whether a run that ended with this status may be started again.
func (r *Restarts) MayFollow(status int) bool {
	return IsRestarted(status) && len(r.Done) < r.Most
}

// IsRestarted reports whether a run that ended with this status is started again, if it may be.
func IsRestarted(status int) bool { return status == job.ExitPeerLost || status == job.ExitInternal }

// Asked returns an error if a signal has asked the run not to be started again from where it stands, and sets
// the status with which it ends then.
func (r *Restarts) Asked(signals <-chan os.Signal, isPreemption func(os.Signal) bool, at record.Standing,
	status *int) error {
	if len(signals) == 0 {
		return nil
	}
	*status = statusAsked(isPreemption(<-signals), at)
	return errors.New("it was asked to stop")
}

// statusAsked returns the status of a run that is not started again because it was asked to stop, by a
// scheduler or not.
func statusAsked(isPreempted bool, at record.Standing) int {
	if isPreempted && at.Checkpoint != "" {
		return job.ExitPreempted
	}
	return job.ExitInterrupted
}

// Note notes a restart from where the run stands, and says so.
func (r *Restarts) Note(s record.Standing, cause, directory string) {
	cost := s.Restart(cause, time.Now())
	r.Done = append(r.Done, cost)
	from := "newest checkpoint in " + directory
	if s.Checkpoint == "" {
		from = "beginning: " + directory + " has no checkpoint (--checkpoint-every leaves some)"
	}
	fmt.Fprintf(r.Stderr, "lockstep: restart %d of %d from the %s\n", len(r.Done), r.Most, from)
	fmt.Fprintf(r.Stderr, "lockstep: %s; %s to do again\n", cause, spelling.Count(cost.Redone, "step"))
}

// Environment tells the next attempt of those before it, and whether one may follow it.
func (r *Restarts) Environment() cluster.Environment {
	e := cluster.Environment{cluster.EnvMayRestart: ""}
	if len(r.Done) < r.Most {
		e[cluster.EnvMayRestart] = "1"
	}
	if text, err := json.Marshal(r.Done); err == nil && len(r.Done) > 0 {
		e[cluster.EnvRestarts], e[cluster.EnvGeneration] = string(text), fmt.Sprint(len(r.Done))
	}
	return e
}

// Without says that no restart is possible.
func (r *Restarts) Without(why error) {
	fmt.Fprintf(r.Stderr, "lockstep: no restart: %s\n", strings.TrimPrefix(why.Error(), "checkpoint: "))
}

// From returns the arguments that let a run of some first arguments go on where it stands, in its directory.
func From(s record.Standing, first []string, directory string) []string {
	if s.Checkpoint == "" {
		return append(slices.Clone(first), "--out="+directory)
	}
	args := []string{"train", "--resume=" + directory}
	for _, arg := range first { // how the run is shown holds for a restart too
		if name, _, _ := strings.Cut(arg, "="); name == "--quiet" || name == "-q" || name == "--json" {
			args = append(args, arg)
		}
	}
	return args
}
