package data

import (
	"cmp"
	"fmt"
	"lockstep/internal/spelling"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Sets are the parts of a loaded data set. Train is not nil; of parts that do not exist there is nil.
type Sets struct {
	// Train is what is trained on.
	Train *Set
	// Validation is scored during training, so that choices can be made by it.
	Validation *Set
	// Test is scored when everything is chosen, and during training if there is no Validation.
	Test *Set
	// IsHeldOut says that Test was given as a part of the training samples, which no longer have it: a tenth
	// of each class.
	IsHeldOut bool
	// Understood says how the columns of a table are understood, or what a vocabulary was made of; "": there
	// is nothing to say.
	Understood string
	// LeftOut says what was found beside the samples and not read; "": nothing.
	LeftOut string
}

// All lists the parts that there are.
func (s Sets) All() []*Set {
	return slices.DeleteFunc([]*Set{s.Train, s.Validation, s.Test}, func(p *Set) bool { return p == nil })
}

// Scored returns what the figures at the end are of: Test or, if there is none, Validation; nil if there is
// neither.
func (s Sets) Scored() *Set { return cmp.Or(s.Test, s.Validation) }

// Limit returns the first samples of each part, as [Set.Limit] does; a part of which none are left is nil.
func (s Sets) Limit(train, test int) Sets {
	s.Train = s.Train.Limit(train)
	for _, part := range []**Set{&s.Validation, &s.Test} {
		if *part != nil {
			*part = (*part).Limit(test)
		}
		if *part != nil && (*part).Len() == 0 {
			*part = nil
		}
	}
	return s
}

// Bytes returns the size of the samples.
func (s Sets) Bytes() int64 {
	bytes := s.Train.Bytes()
	for _, part := range []*Set{s.Validation, s.Test} {
		if part != nil && part != s.Train {
			bytes += part.Bytes()
		}
	}
	return bytes
}

// part is a part of Sets with its name.
type part struct {
	name   string
	set    *Set
	counts []int // samples by class
}

// parts lists those that there are.
func (s Sets) parts() []part {
	test := "test"
	if s.IsHeldOut {
		test = "held out for the test"
	}
	all := []part{{name: "training", set: s.Train}, {name: "validation", set: s.Validation},
		{name: test, set: s.Test}}
	if s.Test == s.Train {
		all = []part{{name: "all scored", set: s.Test}}
	}
	all = slices.DeleteFunc(all, func(p part) bool { return p.set == nil })
	for i, p := range all {
		all[i].counts = p.set.Counts()
	}
	return all
}

// Counts returns the number of samples of each class; none if they have none.
func (s *Set) Counts() []int {
	counts := make([]int, len(s.Classes))
	for _, label := range s.Labels {
		counts[label]++
	}
	return counts
}

// maxListed is how many classes String lists.
const maxListed = 20

// String says in one line how many samples there are of each class in each part, in the order of classes, and
// what was left out.
func (s Sets) String() string {
	all := s.parts()
	join := func(text func(part) string) string {
		var each []string
		for _, p := range all {
			each = append(each, text(p))
		}
		return strings.Join(each, " + ")
	}
	var b strings.Builder
	legend := join(func(p part) string { return p.name })
	fmt.Fprintf(&b, "%s (%s): ", plainName(s.Train.Name), legend)
	if s.Train.HasLabels() {
		fmt.Fprintf(&b, "%s, ", spelling.Count(len(s.Train.Classes), "class"))
		for i, class := range s.Train.Classes[:min(maxListed, len(s.Train.Classes))] {
			fmt.Fprintf(&b, "%s: %s, ", plainName(class), join(func(p part) string {
				return strconv.Itoa(p.counts[i])
			}))
		}
		b.WriteString(s.unlisted(all[0].counts))
	}
	b.WriteString(s.Train.predicted())
	fmt.Fprintf(&b, "together %s", join(func(p part) string { return strconv.Itoa(p.set.Len()) }))
	if s.Understood != "" {
		fmt.Fprintf(&b, "; %s", s.Understood)
	}
	if s.LeftOut != "" {
		fmt.Fprintf(&b, "; left out: %s", s.LeftOut)
	}
	return b.String()
}

// unlisted says how many training samples the classes have that String does not list; "" if it lists all.
func (s Sets) unlisted(counts []int) string {
	if len(counts) <= maxListed {
		return ""
	}
	rest := counts[maxListed:]
	return fmt.Sprintf("%d more with %d to %d each, ", len(rest), slices.Min(rest), slices.Max(rest))
}

// plainName returns a name that a user gave, quoted if it would not be read as one, and shortened.
func plainName(name string) string {
	const most = 60
	if len(name) > most {
		cut := most
		for !utf8.RuneStart(name[cut]) {
			cut--
		}
		name = name[:cut] + "..."
	}
	quoted := strconv.Quote(name)
	if quoted != `"`+name+`"` || name == "" || strings.ContainsAny(name, " ,+:") {
		return quoted
	}
	return name
}
