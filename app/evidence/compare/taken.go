package compare

import (
	"fmt"

	"lockstep/app/record"
)

// TakenText describes the core time taken by others; "" if it is unknown or negligible.
func TakenText(t *record.Taken) string {
	if !t.IsDisturbed() {
		return ""
	}
	others := percent(t.Others)
	if percent(t.Stolen) == percent(0) {
		return others + " of the cores' time went to other processes"
	}
	return fmt.Sprintf("%s of the cores' time went to other virtual machines, %s to other processes",
		percent(t.Stolen), others)
}
