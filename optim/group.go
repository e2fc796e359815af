package optim

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Group gives some parameters their own settings.
type Group struct {
	// Match selects parameters by name, with the patterns of package path: * stands for any
	// characters.
	Match string
	// Rate multiplies the learning rate; 0 freezes the parameters.
	Rate float64
	// WeightDecay replaces Config's, with the same meaning.
	WeightDecay float64
	// Steps is the number of steps after which the parameters are frozen; 0 means never.
	Steps int
}

// Groups are the groups of a run; the first that matches a parameter applies.
type Groups []Group

// String returns the form that ParseGroups parses.
func (g Groups) String() string {
	texts := make([]string, len(g))
	for i, one := range g {
		texts[i] = fmt.Sprintf("%s=%v,%v", one.Match, one.Rate, one.WeightDecay)
		if one.Steps > 0 {
			texts[i] += fmt.Sprintf(",%d", one.Steps)
		}
	}
	return strings.Join(texts, ";")
}

// ParseGroups parses "MATCH=RATE,DECAY" or "MATCH=RATE,DECAY,STEPS" for each group, separated by
// semicolons, such as "*.bias=2,0;stem.*=0,0"; the empty string means none.
func ParseGroups(s string) (Groups, error) {
	if s == "" {
		return nil, nil
	}
	var groups Groups
	for _, text := range strings.Split(s, ";") {
		match, values, _ := strings.Cut(text, "=")
		numbers := strings.Split(values, ",")
		if match == "" || len(numbers) != 2 && len(numbers) != 3 {
			return nil, fmt.Errorf("optim: group %.80q, want MATCH=RATE,DECAY[,STEPS] such as *.bias=2,0",
				text)
		}
		g := Group{Match: match}
		var errs [3]error
		g.Rate, errs[0] = strconv.ParseFloat(numbers[0], 64)
		g.WeightDecay, errs[1] = strconv.ParseFloat(numbers[1], 64)
		if len(numbers) == 3 {
			g.Steps, errs[2] = strconv.Atoi(numbers[2])
		}
		if errs != [3]error{} {
			return nil, fmt.Errorf("optim: group %.80q, want MATCH=RATE,DECAY[,STEPS] such as *.bias=2,0",
				text)
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
		return fmt.Errorf("optim: group %.80q: %w", g.Match, err)
	}
	if !(g.Rate >= 0 && g.Rate <= MaxRate && g.WeightDecay >= 0 && g.WeightDecay <= MaxRate) {
		return fmt.Errorf("optim: group %.80q: rate %v and weight decay %v, want each 0 to %v",
			g.Match, g.Rate, g.WeightDecay, float64(MaxRate))
	}
	if g.Steps < 0 {
		return fmt.Errorf("optim: group %.80q: %d steps, want 0 or more", g.Match, g.Steps)
	}
	return nil
}

// has reports whether the parameter called name belongs to the group.
func (g Group) has(name string) bool {
	is, _ := path.Match(g.Match, name) // validate has checked the pattern
	return is
}

// Check returns an error for the first group that matches none of names, the names of a network's
// parameters.
func (g Groups) Check(names []string) error {
	for _, one := range g {
		if !slices.ContainsFunc(names, one.has) {
			return fmt.Errorf("optim: group %.80q matches no parameter", one.Match)
		}
	}
	return nil
}
