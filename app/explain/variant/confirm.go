package variant

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"lockstep/app/bench"
	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/question"
	"lockstep/app/record"
)

// Confirm makes the runs that confirm what the plan of a benchmark asks why for, into the new folder out in
// that of the benchmark, as [bench.Options] has it. Pairs of rows that the time does not suffice for are not
// tried, the fastest of the slower rows first. It returns nil if there is nothing to confirm. Runs that fail
// end nothing; the errors are those of [bench.RunPlan] otherwise.
func Confirm(ctx context.Context, p bench.Plan, r *record.Results, out string, left time.Duration,
	o bench.Options) (*record.Causes, error) {
	all := question.Pairs(r, compare.Compare(r))
	if len(all) == 0 {
		return nil, nil
	}
	x, tried := choose(p, r, all, left)
	causes := &record.Causes{}
	if len(x.Pairs) > 0 {
		x.fit(left)
		began := time.Now()
		made, err := x.Run(ctx, out, left, o)
		if failed := (*bench.FailedError)(nil); err != nil && !errors.As(err, &failed) {
			return nil, err
		}
		causes.Seconds, causes.Rounds, causes.Rows = time.Since(began).Seconds(), made.Rounds, made.Rows
		for i := range causes.Rows {
			for j := range causes.Rows[i].Runs {
				run := &causes.Rows[i].Runs[j]
				run.Directory = filepath.Join(filepath.Base(out), run.Directory)
			}
		}
	}
	for i, pair := range all {
		one := record.CausePair{Rows: pair.Rows}
		if tried[i] != nil {
			one = tried[i].recorded(pair.Rows)
		}
		causes.Pairs = append(causes.Pairs, one)
	}
	return causes, nil
}

// choose plans the runs of as many pairs as a time suffices for; 0: of all. tried has, by pair, what is
// planned of it; nil: nothing.
func choose(p bench.Plan, r *record.Results, all []question.Pair, left time.Duration) (x *Experiment,
	tried []*Pair) {
	x = start()
	for _, pair := range all {
		var sides [2]bench.Subject
		for i, at := range pair.Rows {
			sides[i] = bench.Subject{Row: p.Rows[at], Record: r.Rows[at], Name: pair.Names[i]}
		}
		longer := *x
		longer.Plan.Rows, longer.times = slices.Clone(x.Plan.Rows), slices.Clone(x.times)
		longer.Pairs = slices.Clone(x.Pairs)
		longer.ask(sides[0], sides[1], pair.First, pair.Names)
		if left > 0 && longer.round() > reserve*left.Seconds() || len(longer.Plan.Rows) > record.MaxRows {
			tried = append(tried, nil)
			continue
		}
		*x = longer
		tried = append(tried, x.Pairs[len(x.Pairs)-1])
	}
	return x, tried
}

// reserve is the part of the time that a round may be planned to take: runs may take longer.
const reserve = 0.85

// recorded describes the pair, which is of two rows of a benchmark.
func (p *Pair) recorded(rows [2]int) record.CausePair {
	one := record.CausePair{Rows: rows, Again: &p.Again}
	for i, v := range p.Variants {
		one.Variants = append(one.Variants, record.Intervention{Row: p.Rows[i], Action: string(v.Action),
			OfB: v.OfB, IsAll: v.IsAll, Cost: v.Cost.String(), Text: v.Text})
	}
	return one
}
