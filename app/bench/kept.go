package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/internal/regular"
)

// CheckKept compares the steps that runs have left in the folder of a benchmark with those of its results.
// It says in which file and step the first difference is; "" if there is none. Runs whose files are not
// there are not compared.
func CheckKept(folder string, r *record.Results) (string, error) {
	for i := range r.Rows {
		row := &r.Rows[i]
		for _, run := range slices.Concat(row.Runs, row.Replaced) {
			where := filepath.FromSlash(run.Directory)
			if run.Error != "" || !filepath.IsLocal(where) {
				continue
			}
			path := filepath.Join(where, rundir.StepsFile)
			f, err := regular.Open(filepath.Join(folder, path))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return "", fmt.Errorf("bench: raw samples: %w", err)
			}
			kept, err := readSteps(f, row.Setting.Workers, row.Setting.Strategy == "ps-async")
			f.Close()
			text := ""
			if err != nil {
				text = fmt.Sprintf("it cannot be read (%v), and the results have its steps", err)
			} else {
				text = otherSteps(kept, run.Ranks)
			}
			if text != "" {
				return fmt.Sprintf("Row %d, round %d: %s: %s.", i+1, run.Round+1, filepath.ToSlash(path),
					text), nil
			}
		}
	}
	return "", nil
}

// otherSteps names the first step of which files tell another time or number of samples than results. Those
// of workers that exchange nothing in a step have the samples of each, and results the sum.
func otherSteps(kept, told []record.Rank) string {
	if len(kept) != len(told) {
		return fmt.Sprintf("it is of %d ranks, the results of %d", len(kept), len(told))
	}
	own := make([][]int, len(kept))
	for i, rank := range kept {
		if a, b := len(rank.Steps.Seconds), len(told[i].Steps.Seconds); a != b {
			return fmt.Sprintf("it has %d steps of rank %d, the results %d", a, i, b)
		}
		own[i] = slices.Clone(rank.Steps.Samples)
	}
	isEven := !slices.ContainsFunc(own, func(s []int) bool { return len(s) != len(own[0]) })
	if isEven {
		addShares(kept)
	}
	for i, rank := range kept {
		for step, v := range rank.Steps.Seconds {
			is, was := told[i].Steps.Seconds[step], told[i].Steps.Samples[step]
			switch {
			case v != is && !(math.IsNaN(v) && math.IsNaN(is)):
				return fmt.Sprintf("step %d of rank %d took %g s, and %g s by the results", step+1, i, v, is)
			case was != own[i][step] && was != rank.Steps.Samples[step]:
				return fmt.Sprintf("step %d of rank %d trained on %d samples, and on %d by the results",
					step+1, i, own[i][step], was)
			}
		}
	}
	return ""
}
