package command

import (
	"strconv"
	"testing"
	"time"

	"lockstep/app/job/worker"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/data"
	"lockstep/train"
)

// plantedShare names the variable with the share by which the steps of a run with --slow-worker are longer.
// The factor there is 1, so that nothing else slows them: a factor of 1.05 stretches the calls of a CPU,
// which are not all of a step, and by a sleep that lasts as long as the system pleases.
const plantedShare = "LOCKSTEP_TEST_PLANT"

// planting returns what lengthens the steps of such runs, or nil.
func planting(e cluster.Environment) worker.Between {
	share, err := strconv.ParseFloat(e[plantedShare], 64)
	if err != nil {
		return nil // mostly not set
	}
	return func(c setting.Config, _ int, u train.Updater) train.Updater {
		if len(c.SlowWorkers) == 0 {
			return u
		}
		return &planted{Updater: u, share: share}
	}
}

// planted is an updater whose steps are longer by a share of themselves.
type planted struct {
	train.Updater
	share float64
	last  time.Time // when the last Wait ended; zero: none has
}

// Wait spins after the updater's own.
func (p *planted) Wait() (lo, hi int, err error) {
	lo, hi, err = p.Updater.Wait()
	if !p.last.IsZero() {
		step := time.Since(p.last)
		for end := p.last.Add(time.Duration((1 + p.share) * float64(step))); time.Now().Before(end); {
		}
	}
	p.last = time.Now()
	return lo, hi, err
}

// slowly is an updater that waits for as long as it says.
type slowly struct {
	train.Updater
	step time.Duration
}

func (s slowly) Wait() (lo, hi int, err error) {
	time.Sleep(s.step)
	return 1, 2, nil
}

// TestPlant runs a step with a planted share: it is as much longer, and no other row's is.
func TestPlant(t *testing.T) {
	const step = 20 * time.Millisecond
	between := planting(cluster.Environment{plantedShare: "0.5"})
	c := setting.Config{SlowWorkers: setting.SlowWorkers{{Rank: 0, Pace: data.Pace{Factor: 1}}}}
	u := between(c, 0, slowly{step: step})
	u.Wait() // the first has no step before it
	begin := time.Now()
	if lo, hi, err := u.Wait(); lo != 1 || hi != 2 || err != nil {
		t.Errorf("Wait returned %d, %d and %v, want the updater's 1, 2 and nil", lo, hi, err)
	}
	if took := time.Since(begin); took < 3*step/2 {
		t.Errorf("a step of %v took %v, want half as long again", step, took)
	}
	if _, isPlanted := between(setting.Config{}, 0, slowly{}).(*planted); isPlanted {
		t.Error("the step of a row without --slow-worker is longer")
	}
	if planting(cluster.Environment{}) != nil {
		t.Error("something is planted without the variable")
	}
}
