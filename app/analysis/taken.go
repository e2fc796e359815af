package analysis

import (
	"fmt"

	"lockstep/app/record"
)

// worthTelling is the part of the cores' time from which on it is worth telling that others took it.
const worthTelling = 0.05

// takenSum is all that others took.
func takenSum(t *record.Taken) float64 { return t.Stolen + t.Others }

// TakenText says how much others took of the cores; "" if that is unknown or not worth telling.
func TakenText(t *record.Taken) string {
	if t == nil || takenSum(t) < worthTelling {
		return ""
	}
	return fmt.Sprintf("%s of the cores' time went to other virtual machines, %s to other processes",
		percent(t.Stolen), percent(t.Others))
}
