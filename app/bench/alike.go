package bench

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/record"
)

// tellApart gives rows of several parts that have one label, and differ in settings that no label has, these
// settings as their own, so that a report names each by what it is.
func tellApart(rows []Row) error {
	alike := map[record.Setting][]int{}
	for i, r := range rows {
		if r.Peer == "" { // whose options are the program's
			alike[r.setting()] = append(alike[r.setting()], i)
		}
	}
	for _, group := range alike {
		if len(group) < 2 {
			continue
		}
		configs := make([]map[string]any, len(group))
		for i, at := range group {
			text, err := json.Marshal(rows[at].Config)
			if err == nil {
				err = json.Unmarshal(text, &configs[i])
			}
			if err != nil {
				return fmt.Errorf("row %d (%s): configuration: %w", at+1, rows[at].Name(), err)
			}
		}
		for i, at := range group {
			rows[at].Options = joined(rows[at].Options, strings.Join(differing(configs, i), "+"))
		}
	}
	return nil
}

// differing returns the settings of a configuration, as options of a way, that others have otherwise. What
// has no value is not named.
func differing(configs []map[string]any, of int) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(configs[of])) {
		text := inOption(name, configs[of][name])
		isOther := func(c map[string]any) bool { return inOption(name, c[name]) != text }
		if text != "" && slices.ContainsFunc(configs, isOther) {
			out = append(out, name+"="+text)
		}
	}
	return out
}

// inOption returns the value of a setting as the setting takes it; "": it has none.
func inOption(name string, value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		if v == -1 && strings.HasPrefix(name, "limit-") {
			return "all"
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}
