package worker

import (
	"fmt"
	"math"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/internal/spelling"
	"lockstep/train"
)

// grow makes the updater of a run whose batch grows.
func (w *Worker) grow(l *train.Loop, u train.Updater) (train.Updater, error) {
	exchange, _ := w.exchange.(train.Replanner) // nil for one worker
	return train.NewAdaptive(l, u, exchange, func(g train.Growth) {
		steps, _ := l.Steps()
		w.Beacon.Lengthen(steps)
		w.noteGrowth(g)
	})
}

// noteGrowth notes the noise scale of an epoch, and what the batch is after it.
func (w *Worker) noteGrowth(g train.Growth) {
	text := growthText(g, w.Config.AdaptiveBatch)
	if g.From == g.To {
		w.Note("%s", text)
	} else {
		w.Announce(text)
	}
	if w.Rank > 0 {
		return
	}
	if math.IsInf(g.Noise, 1) {
		g.Noise = math.NaN() // which JSON has a form for
	}
	found := record.Growth{Step: g.Step, Epochs: g.Epochs, From: g.From, To: g.To, Rate: g.Rate,
		Noise: record.Number(g.Noise), Trace: record.Number(g.Trace), Square: record.Number(g.Square),
		Measured: g.Steps}
	w.growth = append(w.growth, found)
	w.Tell(job.Notice{Growth: &found})
}

// growthText says what the batch is from now on, and why.
func growthText(g train.Growth, most int) string {
	noise := fmt.Sprintf("the gradient noise scale is %.4g samples, by %s", g.Noise,
		spelling.Count(g.Steps, "step"))
	if math.IsInf(g.Noise, 1) {
		noise = fmt.Sprintf("no gradient shows in the noise of %s", spelling.Count(g.Steps, "step"))
	}
	after := fmt.Sprintf("after %s, step %d", spelling.Count(g.Epochs, "epoch"), g.Step)
	switch {
	case g.To > g.From:
		return fmt.Sprintf("%s: the batch grows from %d to %d, with learning rate %.4g: %s", after, g.From,
			g.To, g.Rate, noise)
	case 2*g.From > most:
		return fmt.Sprintf("%s: the batch stays %d, at most %d: %s", after, g.From, most, noise)
	}
	return fmt.Sprintf("%s: the batch stays %d: %s", after, g.From, noise)
}
