package compare

import (
	"encoding/json"

	"lockstep/app/record"
)

// configured is what a run's configuration says, by the names of the settings.
type configured map[string]any

// configOf returns the configuration of a run; nil if there is none, or it is another program's.
func configOf(run *record.Run) configured {
	var c configured
	if json.Unmarshal(run.Config, &c) != nil {
		return nil
	}
	return c
}
