package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"lockstep/app/analysis"
	"lockstep/app/record"
)

// page is everything the HTML template shows.
type page struct {
	Version, Title, Lede, Policy, Command string
	Style                                 template.CSS
	Groups                                []section
	Notes                                 []noteList
	Machine, Shared                       []pair
}

// section is one group of comparable lines.
type section struct {
	ID, Title, Work string
	Findings        []string
	Table, Ranks    table
	RanksCaption    string
	Cost            table
	CostCaption     string
	Figures         []figure

	lines []*lineView
}

// figure is a plot with its legend and the same values as a table.
type figure struct {
	Title, Caption string
	Plot           template.HTML
	Legend         []legend
	Table          table
}

type legend struct {
	Swatch    template.HTML
	Key, Name string
}

type noteList struct {
	ID, Kind, Count, Meaning string
	Notes                    []analysis.Note
}

type pair struct{ Name, Value string }

func newPage(r *record.Results) page {
	c := analysis.Compare(r)
	p := page{
		Version: r.Version,
		Title:   title(r, c),
		Lede:    lede(r),
		Command: shell(r.Command),
		Notes:   noteLists(c.Notes),
		Machine: machine(r),
		Shared:  shared(r),
	}
	for i := range c.Groups {
		p.Groups = append(p.Groups, newSection(i, c))
	}
	return p
}

// title names the models and what they were trained with.
func title(r *record.Results, c *analysis.Comparison) string {
	var models, strategies []string
	workers := 0
	for _, row := range r.Rows {
		if s := row.Setting; !slices.Contains(models, s.Model) {
			models = append(models, s.Model)
		}
		if s := row.Setting.Strategy; !slices.Contains(strategies, s) {
			strategies = append(strategies, s)
		}
		workers = max(workers, row.Setting.Workers)
	}
	if len(models) == 0 {
		return "No rows"
	}
	names := strings.Join(models, ", ")
	if n := len(models); n > 1 {
		names = strings.Join(models[:n-1], ", ") + " and " + models[n-1]
	}
	ways := fmt.Sprintf("%d strategies", len(strategies))
	if len(strategies) == 1 {
		ways = strategies[0]
	}
	upTo := "one worker"
	if workers > 1 {
		upTo = fmt.Sprintf("up to %d workers", workers)
	}
	return fmt.Sprintf("%s: %s, %s", names, ways, upTo)
}

func lede(r *record.Results) string {
	runs := 0
	for _, row := range r.Rows {
		runs += len(row.Runs)
	}
	parts := []string{r.Started.UTC().Format("2 January 2006, 15:04 UTC")}
	if r.Host.CPU != "" {
		parts = append(parts, r.Host.CPU)
	}
	return strings.Join(append(parts, count(r.Host.Cores, "core"),
		fmt.Sprintf("%s in %s", count(runs, "run"), count(r.Rounds, "round")),
		duration(r.Seconds)), " · ")
}

func newSection(i int, c *analysis.Comparison) section {
	g := &c.Groups[i]
	s := section{ID: fmt.Sprintf("g%d", i+1), Title: c.Title(g), Work: work(g),
		Findings: g.Findings()}
	for i, l := range g.Lines {
		s.lines = append(s.lines, &lineView{Line: l, group: g, key: key(i), style: style(l, i)})
	}
	s.Table = mainTable(s.Title, s.lines)
	s.Figures = s.figures()
	s.Ranks, s.RanksCaption = s.rankTable()
	s.Cost, s.CostCaption = s.costTable(analysis.Prices()[0])
	return s
}

// work says in one line what every row of the group did.
func work(g *analysis.Group) string {
	s := g.Lines[0].Setting
	data := s.Data
	if s.Generated {
		data += " (generated)"
	}
	length := count(s.Steps, "step")
	if s.Steps == 0 {
		length = count(s.Epochs, "epoch")
	}
	seeds := 1
	for _, l := range g.Lines {
		seeds = max(seeds, l.Seeds)
	}
	text := fmt.Sprintf("%s · global batch %d in %s · %s · learning rate %g · seed %d",
		data, s.Batch, count(s.Shards, "shard"), length, s.LR, s.Seed)
	if seeds > 1 {
		text += fmt.Sprintf(" and %s more", count(seeds-1, "seed"))
	}
	if g.Condition != "" {
		text += " · " + g.Condition
	}
	return text
}

// key returns A to Z, then A1 to Z1 and so on.
func key(i int) string {
	letter := string(rune('A' + i%26))
	if i < 26 {
		return letter
	}
	return fmt.Sprintf("%s%d", letter, i/26)
}

// style gives every strategy a colour and every line of a group its own dashes (six patterns).
func style(l *analysis.Line, i int) string {
	order := []string{"single", "gather-scatter", "all-reduce", "ddp", "none"}
	colour := slices.Index(order, l.Setting.Strategy)
	if colour < 0 {
		colour = map[string]int{"ps": 1, "local-sgd": 4}[l.Setting.Strategy]
	}
	if colour == 0 && l.Setting.Strategy != "single" {
		colour = len(order)
	}
	return fmt.Sprintf("k%d d%d", colour, i%6)
}

func noteLists(notes []analysis.Note) []noteList {
	meanings := []struct {
		kind            analysis.Kind
		noun, are, text string
	}{
		{analysis.Refused, "refusal", "refusals", "A row failed, or a number would be wrong."},
		{analysis.Caution, "caution", "cautions", "A number is right and could be misread."},
		{analysis.Fact, "fact", "facts", "How the numbers came about."},
	}
	var out []noteList
	for _, m := range meanings {
		list := noteList{ID: "notes-" + m.kind.String(), Kind: m.kind.String(), Meaning: m.text}
		for _, n := range notes {
			if n.Kind == m.kind {
				list.Notes = append(list.Notes, n)
			}
		}
		if len(list.Notes) == 0 {
			continue
		}
		list.Count = fmt.Sprintf("%d %s", len(list.Notes), m.are)
		if len(list.Notes) == 1 {
			list.Count = "1 " + m.noun
		}
		out = append(out, list)
	}
	return out
}
