package predict

import (
	"encoding/json"

	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/setting"
	"lockstep/forecast"
)

// StepOf is the step of a run by which predictions are verified.
var StepOf = stepOf

// Replay fits the costs of links to the rows of two workers that a prediction was made from, and predicts its
// rows anew, those of four workers by the algorithm that they chose then.
func Replay(p *forecast.Prediction, algorithm string) ([]forecast.Row, error) {
	var all []setting.Config
	for _, text := range p.Settings {
		var of setting.Config
		if err := json.Unmarshal(text, &of); err != nil {
			return nil, err
		}
		all = append(all, of)
	}
	c := Config{Base: all[0], Inputs: p.Inputs}
	k := &p.MadeFrom
	isOutside := p.Inputs.Network != ""
	if c.Inputs.Widening = 1; isOutside {
		c.Base.Shards = 0
	}
	*k.Link(isOutside) = k.Tuned
	var rows []forecast.Measured
	for _, f := range k.Fits {
		run, err := c.run(k, c.resolved(f.Way, 2), f.Way)
		if err != nil {
			return nil, err
		}
		rows = append(rows, forecast.Measured{Run: run, Seconds: f.Measured / 1e3})
	}
	k.Fits = nil
	if err := k.FitLink(isOutside, c.Inputs, rows); err != nil {
		return nil, err
	}
	var again []forecast.Row
	for i, of := range all {
		if c.Base.Algorithm = "auto"; of.Workers == 4 {
			c.Base.Algorithm = algorithm
		}
		row, _, err := c.row(k, p.Rows[i].Way, of.Workers)
		if err != nil {
			return nil, err
		}
		again = append(again, row)
	}
	return again, nil
}

// Calibrate reads a calibration from rows that are changed first.
func Calibrate(c Config, change func(*record.Row)) (k forecast.Calibration, err error) {
	r, err := report.Read(c.From)
	if err != nil {
		return k, err
	}
	for i := range r.Rows {
		change(&r.Rows[i])
	}
	return c.calibrationOf(c.From, r)
}

// PlanOf is the benchmark of one and two workers, for a step and a start of two.
var PlanOf = Config.plan
