package analysis

import (
	"fmt"

	"lockstep/app/record"
)

// worthTelling is the least share of the cores' time taken by others that is reported.
const worthTelling = 0.05

// takenSum is the share of core time taken by others.
func takenSum(t *record.Taken) float64 { return t.Stolen + t.Others }

// TakenText describes the core time taken by others; "" if it is unknown or negligible.
func TakenText(t *record.Taken) string {
	if t == nil || takenSum(t) < worthTelling {
		return ""
	}
	return fmt.Sprintf("%s of the cores' time went to other virtual machines, %s to other processes",
		percent(t.Stolen), percent(t.Others))
}
