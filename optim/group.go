package optim

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// Group gives some parameters settings of their own.
type Group struct {
	// Match chooses the parameters by name, with the pattern language of package path: * stands for
	// any characters.
	Match string
	// Rate multiplies the learning rate, from 0, which leaves the parameters as they are.
	Rate float64
	// WeightDecay stands in place of Config's, with the same meaning.
	WeightDecay float64
	// Steps is how many steps the parameters take part in before they stay as they are; 0 means all.
	Steps int
}

// ParseGroups reads "MATCH=RATE,DECAY" or "MATCH=RATE,DECAY,STEPS" for each group, with a semicolon
// between two, such as "*.bias=2,0;stem.*=0,0"; the empty string means none.
func ParseGroups(s string) ([]Group, error) {
	if s == "" {
		return nil, nil
	}
	var groups []Group
	for _, text := range strings.Split(s, ";") {
		match, values, _ := strings.Cut(text, "=")
		numbers := strings.Split(values, ",")
		if match == "" || len(numbers) != 2 && len(numbers) != 3 {
			return nil, fmt.Errorf("optim: group %q, want MATCH=RATE,DECAY[,STEPS] such as *.bias=2,0", text)
		}
		g := Group{Match: match}
		var errs [3]error
		g.Rate, errs[0] = strconv.ParseFloat(numbers[0], 64)
		g.WeightDecay, errs[1] = strconv.ParseFloat(numbers[1], 64)
		if len(numbers) == 3 {
			g.Steps, errs[2] = strconv.Atoi(numbers[2])
		}
		if errs != [3]error{} {
			return nil, fmt.Errorf("optim: group %q, want MATCH=RATE,DECAY[,STEPS] such as *.bias=2,0", text)
		}
		if err := g.validate(); err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	return groups, nil
}

func (g Group) validate() error {
	if _, err := path.Match(g.Match, ""); err != nil {
		return fmt.Errorf("optim: group %q: %w", g.Match, err)
	}
	if !(g.Rate >= 0 && g.Rate <= maxRate && g.WeightDecay >= 0 && g.WeightDecay <= maxRate) {
		return fmt.Errorf("optim: group %q: rate %v and weight decay %v, want each 0 to %v",
			g.Match, g.Rate, g.WeightDecay, float64(maxRate))
	}
	if g.Steps < 0 {
		return fmt.Errorf("optim: group %q: %d steps, want 0 or more", g.Match, g.Steps)
	}
	return nil
}

// has reports whether p belongs to the group.
func (g Group) has(p Param) bool {
	is, _ := path.Match(g.Match, p.Name) // validate has read the pattern
	return is
}
