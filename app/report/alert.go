package report

import (
	"slices"
	"strings"

	"lockstep/app/record"
)

// insecure is how cautions name the setting that leaves links between hosts in the clear.
const insecure = "--insecure"

// alertsOf returns the cautions of a run that say it was unsafe, rather than that a figure may mislead.
func alertsOf(cautions []string) []string {
	return slices.DeleteFunc(slices.Clone(cautions), func(text string) bool {
		return !strings.Contains(text, insecure)
	})
}

// benchAlerts says if links between the hosts of a benchmark were in the clear.
func benchAlerts(r *record.Results) []string {
	isClear := func(row record.Row) bool {
		return row.Setting.Hosts > 1 && slices.ContainsFunc(row.Runs, func(run record.Run) bool {
			return slices.Contains(pairs(run.Config), pair{"insecure", "true"})
		})
	}
	if !slices.ContainsFunc(r.Rows, isClear) {
		return nil
	}
	return []string{"Links between hosts were not encrypted (" + insecure + ")."}
}
