package variant

import (
	"context"
	"errors"
	"path/filepath"
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
	causes := &record.Causes{}
	var pairs []*Pair
	for _, pair := range all {
		var sides [2]bench.Subject
		for i, at := range pair.Rows {
			sides[i] = bench.Subject{Row: p.Rows[at], Record: r.Rows[at], Name: pair.Names[i]}
		}
		pairs = append(pairs, pairOf(sides[0], sides[1], pair.First))
	}
	x := choose(pairs, left)
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
	for i, pair := range pairs {
		pair.Rows = all[i].Rows
		pair.IsCut = len(pair.wanted) > 0
		causes.Pairs = append(causes.Pairs, pair.CausePair)
	}
	return causes, nil
}

// choose plans runs of pairs as far as a time suffices for a round of them; 0: all. First each pair has its
// sides and the variant that tells most, in their order, then each another variant. A pair that has no time
// is not run again.
func choose(pairs []*Pair, left time.Duration) *Experiment {
	x := &Experiment{}
	for range maxVariants + 1 {
		for _, pair := range pairs {
			was, before := *x, *pair
			x.add(pair)
			if left > 0 && x.round(leastSeconds) > reserve*left.Seconds() ||
				len(x.Plan.Rows) > record.MaxRows {
				*x, *pair = was, before
			}
		}
	}
	return x
}

// reserve is the part of the time that a round may be planned to take: runs may take longer.
const reserve = 0.85
