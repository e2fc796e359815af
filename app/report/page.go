package report

import (
	"fmt"
	"html/template"
	"slices"

	"lockstep/app/evidence/finding"
	"lockstep/internal/spelling"
)

// page is everything a report shows, in the order in which it is shown: of a benchmark, a training run,
// several of them, collectives, or kernels. The template of the page, Markdown and the terminal are three
// ways of writing it.
type page struct {
	Version, Kind, Title, Lede, Policy string
	Style                              template.CSS
	Answer                             answer
	Asked                              []asked // questions of the plan with their answers, before all else
	Legend                             string  // what their signs mean
	Overview                           *block  // the answers of parts that a report compares apart
	Picture                            *figure // the first one, beside the answer
	Cautions                           []caution
	Facts                              []pair // what else a reader wants to know first
	Sections                           []section
	Notes                              []noteList
	Raw                                []block
	Parts                              []part
	Command                            string // repeats it
	Source                             string // the files that the page is rendered from
}

// caution is a note that changes how the picture is read, cut to its first sentence, with a link to the
// whole.
type caution struct{ Kind, Topic, Text, Link string }

// section is one group of comparable lines, or a part of another report.
type section struct {
	ID, Title, Work string
	Answer          *answer // nil: it is the page's
	Picture         *figure // nil: it is the page's
	Findings        []string
	Tables          []block // those that are open stand before the figures, the others behind
	Figures         []figure
	Terminal        []table // what a terminal shows instead of the tables; nil: the tables

	lines []*lineView
}

type noteList struct {
	ID, Kind, Count, Meaning string
	Notes                    []namedNote
}

// namedNote is a note with a place on the page.
type namedNote struct {
	ID string
	note
}

// part is a named list of facts at the end of a page, such as the machine or the hosts of a run. What a
// package has to say about a run becomes one more part.
type part struct {
	ID, Title string
	Pairs     []pair
	Text      string // shown as it is, as a configuration; "": none
}

type pair struct{ Name, Value string }

// present leaves out parts without content.
func present(all ...part) []part {
	return slices.DeleteFunc(all, func(p part) bool { return len(p.Pairs) == 0 && p.Text == "" })
}

// told leaves out pairs without a value.
func told(all []pair) []pair {
	return slices.DeleteFunc(all, func(p pair) bool {
		return p.Value == "" || p.Value == "0" || p.Value == "0 B"
	})
}

// lead makes the first of figures the picture of the page, and returns the others.
func (p *page) lead(figures []figure) []figure {
	if len(figures) == 0 {
		return nil
	}
	figures[0].IsLead = true
	p.Picture = &figures[0]
	return figures[1:]
}

// note puts notes on the page: all of them by their kind, and those that change how the answer is read at its
// top.
func (p *page) note(notes []note) {
	for _, m := range []struct {
		kind      finding.Severity
		noun, are string
	}{
		{finding.Refused, "refusal", "A row failed, or a number would be wrong."},
		{finding.Caution, "caution", "A number is right and could be misread."},
		{finding.Fact, "fact", "How the numbers came about."},
	} {
		list := noteList{ID: "notes-" + m.kind.String(), Kind: m.kind.String(), Meaning: m.are}
		for _, n := range notes {
			if n.Kind == m.kind {
				list.Notes = append(list.Notes, namedNote{fmt.Sprintf("%s-%d", m.kind, len(list.Notes)+1), n})
			}
		}
		if list.Count = spelling.Count(len(list.Notes), m.noun); len(list.Notes) > 0 {
			p.Notes = append(p.Notes, list)
		}
	}
	p.Cautions = pressing(p.Notes)
}

// unsorted is the topic of what a training run says of itself.
const unsorted = "caution"

// pressing returns the cautions for the top of the page: the three gravest, one of a topic.
func pressing(lists []noteList) (out []caution) {
	const most = 3
	for _, list := range lists {
		for _, n := range list.Notes {
			isSaid := n.Topic != unsorted && slices.ContainsFunc(out,
				func(c caution) bool { return c.Topic == n.Topic })
			if n.Kind != finding.Fact && !isSaid && len(out) < most {
				out = append(out, caution{list.Kind, n.Topic, n.Brief, n.ID})
			}
		}
	}
	return out
}
