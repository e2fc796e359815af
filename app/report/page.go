package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report/plot"
	"lockstep/app/strategy"
	"lockstep/internal/spelling"
)

// page is everything a report shows, in the order in which it is shown: of a benchmark, a training run,
// several of them, or collectives. The template of the page and Markdown are two ways of writing it.
type page struct {
	Version, Kind, Title, Lede, Policy string
	Style                              template.CSS
	Alerts                             []string // above everything else: what makes the run unsafe
	Answer                             answer
	Picture                            *figure // the first one, beside the answer
	Cautions                           []caution
	More                               []noteList // counts of all notes
	Facts                              []pair     // what else a reader wants to know first
	FactsTitle                         string     // of these
	Others                             []answer   // of the parts that a report compares apart, linked to them
	Sections                           []section
	Notes                              []noteList
	Raw                                []rawLine
	Parts                              []part
	Command                            string // repeats it
	Where                              string // that command is to be given; "": anywhere
	Source                             string // the files that the page is rendered from
}

// answer is a sentence with what makes it certain or uncertain.
type answer struct {
	Title, Text, Why string
	Verdict          string  // certain, in part, not decided, measured once; "": no question of that kind
	Sign             string  // of the verdict, for eyes that see no colour
	Link             string  // id of the section
	Leader           string  // the row with the shortest step, and how many cannot be told from it
	Step             string  // of the leader
	Gain             cell    // its speed-up over the baseline
	Beside           *answer // its ratio to the fastest row of another program; nil: there is none
	TooFew           int     // rounds that did not decide, where more may; 0: no such
	Repeats          int     // that may decide then
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
	Tables          []block
	Figures         []figure
	Blocks          []block // tables behind the figures, to be opened

	lines []*lineView
}

// block is a table with a title. On the page it is open, or opened by the reader.
type block struct {
	ID, Title, Caption string
	Table              table
	IsOpen             bool
}

// figure is a chart with its legend and the same values as a table.
type figure struct {
	ID, Title, Caption string
	Chart              plot.Chart // nil: a table alone
	Legend             []legend
	Table              table
}

// Plot is the chart as it stands on a page.
func (f figure) Plot() template.HTML {
	if f.Chart == nil {
		return ""
	}
	return f.Chart.Markup()
}

// IsFull reports whether the figure takes the width of the page, because its table does.
func (f figure) IsFull() bool {
	const most = 8 // columns in half a page
	return f.Chart != nil && len(f.Table.Head) > most
}

type legend struct {
	plot.Sample
	Key, Name string
}

type noteList struct {
	ID, Kind, Count, Meaning string
	Notes                    []namedNote
}

// namedNote is a note with a place on the page.
type namedNote struct {
	ID string
	compare.Note
}

// part is a named list of facts at the end of a page, such as the machine or the hosts of a run. What a
// package has to say about a run becomes one more part in [parts] or [trainingParts].
type part struct {
	ID, Title string
	Pairs     []pair
	Text      string // shown as it is, as a configuration; "": none
}

type pair struct{ Name, Value string }

// newPage lays out the report of a benchmark, which c compares.
func newPage(r *record.Results, c *compare.Comparison) page {
	p := page{Kind: "benchmark report", Version: r.Version, Title: title(r, c), Lede: lede(r),
		Alerts: benchAlerts(r), Command: onHosts(r.Command, r.Hosts), Notes: noteLists(c.Notes),
		Parts:  parts(r),
		Source: "results.json, which holds every raw sample and every resolved setting of every run"}
	if p.More = p.Notes; isOfPlan(r.Command) && r.Hosts == nil {
		p.Command, p.Where = byPlan, ", in the folder of this report"
	}
	for i := range c.Groups {
		p.Sections = append(p.Sections, newSection(i, c))
	}
	p.answerFirst(c)
	runs := 0
	for _, row := range r.Rows {
		runs += len(row.Runs)
	}
	for i := range p.Sections {
		p.Raw = append(p.Raw, rawLines(&p.Sections[i], stepsShown(runs))...)
	}
	if s := batchSection(c); s != nil {
		p.Sections = append(p.Sections, *s)
	}
	p.Cautions = pressing(p.Notes)
	p.FactsTitle, p.Facts = besidePeer, besidePeers(c)
	p.ask(r, c)
	return p
}

// Titles of the facts at the top of a page.
const (
	besidePeer = "Beside PyTorch’s same row"
	inFigures  = "In figures"
)

// besidePeers lists the speed of each row over that of the same row of a peer.
func besidePeers(c *compare.Comparison) []pair {
	var out []pair
	for i := range c.Groups {
		g := &c.Groups[i]
		for _, p := range g.AgainstPeers() {
			one := pair{c.Title(g) + " " + p.B.Label, ratioText(p.Ratio, twoDecimals) + "× its speed"}
			if in := p.Ratio.Interval; in.Coverage > 0 {
				one.Value += " (" + between(in.Lo, in.Hi, twoDecimals) + ")"
			}
			if doubt := p.Doubt(); doubt != "" {
				one.Value += ", which " + doubt
			}
			out = append(out, one)
		}
	}
	return out
}

// parts lists what is told about a benchmark as a whole.
func parts(r *record.Results) []part {
	return present([]part{{ID: "machine", Title: whichMachine(r), Pairs: machine(r)}, hostsPart(r.Hosts),
		{ID: "shared", Title: "The same in every row", Pairs: shared(r)}})
}

// whichMachine names what is described of the machine that the benchmark was started on.
func whichMachine(r *record.Results) string {
	if slices.ContainsFunc(r.Rows, func(row record.Row) bool { return hasOwnCores(row.Setting) }) {
		return "Machine of rank 0, one of several"
	}
	return "Machine"
}

// present leaves out parts without content.
func present(all []part) []part {
	return slices.DeleteFunc(all, func(p part) bool { return len(p.Pairs) == 0 && p.Text == "" })
}

// title names the models, what they were trained with, and the program beside ours if there is one.
func title(r *record.Results, c *compare.Comparison) string {
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
	beside := ""
	if slices.ContainsFunc(r.Rows, func(row record.Row) bool { return row.Setting.Peer != "" }) {
		beside = ", beside PyTorch"
	}
	return fmt.Sprintf("%s: %s, %s%s", names, ways, upTo, beside)
}

// hasOwnCores reports whether a row was on several hosts with cores of their own.
func hasOwnCores(s record.Setting) bool { return s.Hosts > 1 && s.Cores > 0 }

// cores counts those of the machine or, of rows on several hosts, of the most hosts.
func cores(r *record.Results) string {
	most, own, hosts := r.Host.Cores, false, 0
	for _, row := range r.Rows {
		hosts = max(hosts, row.Setting.Hosts)
		if hasOwnCores(row.Setting) {
			own, most = true, max(most, row.Setting.Cores)
		}
	}
	text := spelling.Count(most, "core")
	switch {
	case own:
		return fmt.Sprintf("%s on %d hosts", text, hosts)
	case hosts > 1 && r.Lab != "":
		return fmt.Sprintf("%s, shared by %d hosts of a lab", text, hosts)
	}
	return text
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
	return strings.Join(append(parts, cores(r),
		fmt.Sprintf("%s in %s", spelling.Count(runs, "run"), spelling.Count(r.Ran(), "round")),
		duration(r.Seconds)), " · ")
}

// newSection lays out a group: its answer and picture, findings, tables, figures.
func newSection(i int, c *compare.Comparison) section {
	g := &c.Groups[i]
	s := section{ID: fmt.Sprintf("g%d", i+1), Title: c.Title(g), Work: work(g), Findings: g.Findings()}
	for i, l := range g.Lines {
		s.lines = append(s.lines, &lineView{Line: l, group: g, key: key(i), style: style(l, i),
			raw: fmt.Sprintf("%s-%s", s.ID, key(i))})
	}
	s.Answer = new(answerOf(g))
	s.Answer.Title, s.Answer.Link = s.Title, s.ID
	if s.hasRuns() {
		s.Picture = s.stepFigure()
		s.Figures = s.figures()
	}
	s.Tables = s.mainTables()
	s.Blocks = s.blocks()
	return s
}

// blocks are the tables of a section that readers open.
func (s *section) blocks() []block {
	ranks, ranksCaption := s.rankTable()
	usage, usageCaption := s.usageTable()
	cost, costCaption := s.costTable()
	return slices.DeleteFunc([]block{
		{"loss-of-ranks", "Loss of each rank", ranksCaption, ranks, len(ranks.Rows) <= 16},
		{"workers", "What each worker took", usageCaption, usage, false},
		{"cost", "What runs take", costCaption, cost, false},
	}, func(b block) bool { return len(b.Table.Rows) == 0 })
}

func (s *section) hasRuns() bool {
	return slices.ContainsFunc(s.lines, func(v *lineView) bool { return v.OK > 0 })
}

// work says in one line what every row of the group did.
func work(g *compare.Group) string {
	s := g.Lines[0].Setting
	data := s.Data
	if s.Generated {
		data += " (generated)"
	}
	length := spelling.Count(s.Steps, "step")
	if s.Steps == 0 {
		length = spelling.Count(s.Epochs, "epoch")
	}
	seeds, seed := 1, s.Seed
	for _, l := range g.Lines {
		seeds = max(seeds, l.Seeds)
	}
	if runs := g.Lines[0].Runs(); len(runs) > 0 {
		seed = cmp.Or(runs[0].Seed, seed) // of a list of seeds
	}
	text := fmt.Sprintf("%s · global batch %d in %s · %s · learning rate %g · seed %d",
		data, s.Batch, spelling.Count(s.Shards, "shard"), length, s.LR, seed)
	if seeds > 1 {
		text += fmt.Sprintf(" and %s more", spelling.Count(seeds-1, "seed"))
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

// style gives every strategy a colour and every line of a group dashes and a mark of its own.
func style(l *compare.Line, i int) plot.Style {
	colour := cmp.Or(strategy.Named(l.Setting.Strategy).Colour, plot.NumColours)
	return plot.Style{Colour: colour - 1, Number: i}
}

func noteLists(notes []compare.Note) []noteList {
	meanings := []struct {
		kind            compare.Kind
		noun, are, text string
	}{
		{compare.Refused, "refusal", "refusals", "A row failed, or a number would be wrong."},
		{compare.Caution, "caution", "cautions", "A number is right and could be misread."},
		{compare.Fact, "fact", "facts", "How the numbers came about."},
	}
	var out []noteList
	for _, m := range meanings {
		list := noteList{ID: "notes-" + m.kind.String(), Kind: m.kind.String(), Meaning: m.text}
		for _, n := range notes {
			if n.Kind == m.kind {
				id := fmt.Sprintf("%s-%d", m.kind, len(list.Notes)+1)
				list.Notes = append(list.Notes, namedNote{id, n})
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
