package command

import (
	"os"
	"strconv"
	"strings"

	"lockstep/app/job/worker"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/train"
)

// strayAt names the variable RANK:STEP:FILE that lets the worker of a rank issue, in that step, a collective
// that no other worker issues, unless the file is there, which it makes.
const strayAt = "LOCKSTEP_TEST_STRAY"

// straying returns what lets a worker do so, or nil.
func straying(e cluster.Environment) worker.Between {
	fields := strings.SplitN(e[strayAt], ":", 3)
	if len(fields) < 3 {
		return nil
	}
	return func(_ setting.Config, rank int, u train.Updater) train.Updater {
		if fields[0] != strconv.Itoa(rank) {
			return u
		}
		step, _ := strconv.Atoi(fields[1]) // a test's own
		return &stray{Updater: u, step: step, file: fields[2]}
	}
}

// stray is an updater that sums a number with nobody, in one step of a run and of those that resume it.
type stray struct {
	train.Updater
	step  int
	file  string
	isDue bool
}

// Begin notes whether it is the step.
func (s *stray) Begin(step int) {
	s.isDue = step == s.step
	s.Updater.Begin(step)
}

// Wait issues the collective.
func (s *stray) Wait() (lo, hi int, err error) {
	if s.isDue {
		s.isDue = false
		if f, err := os.OpenFile(s.file, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			f.Close() // empty
			if err := s.Sum([]int64{1}); err != nil {
				return 0, 0, err
			}
		}
	}
	return s.Updater.Wait()
}
