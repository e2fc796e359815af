package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report/plot"
	"lockstep/app/strategy"
	"lockstep/internal/spelling"
)

// newPage lays out the report of a benchmark, which c compares.
func newPage(r *record.Results, c *compare.Comparison) page {
	p := page{Kind: "benchmark report", Version: r.Version, Title: title(r), Lede: lede(r),
		Command: onHosts(r.Command, r.Hosts),
		Parts: present(part{ID: "machine", Title: "Machine of rank 0", Pairs: machine(r)}, hostsPart(r.Hosts),
			part{ID: "shared", Title: "The same in every row", Pairs: shared(r)}),
		Source: "results.json, which holds every raw sample and every resolved setting of every run"}
	for i := range c.Groups {
		p.Sections = append(p.Sections, newSection(i, c))
	}
	p.answerFirst(c)
	for i := range p.Sections {
		p.Raw = append(p.Raw, runTables(&p.Sections[i])...)
	}
	p.note(worded(c.Findings))
	p.compareBatches(c)
	p.ask(r, c)
	p.foresee(r, c)
	if r.Inquiry != nil && r.Inquiry.Title != "" {
		p.Title, p.Lede = r.Inquiry.Title, p.Title+" · "+p.Lede
	}
	return p
}

// inFigures is the title of the figures of a run.
const inFigures = "In figures"

// title names the models, what they were trained with, and the program beside ours if there is one.
func title(r *record.Results) string {
	var models, strategies []string
	workers, beside := 0, ""
	for _, row := range r.Rows {
		models = addNew(models, row.Setting.Model)
		strategies = addNew(strategies, row.Setting.Strategy)
		workers = max(workers, row.Setting.Workers)
		if row.Setting.Peer != "" {
			beside = ", beside PyTorch"
		}
	}
	if len(models) == 0 {
		return "No rows"
	}
	names := models[len(models)-1]
	if n := len(models); n > 1 {
		names = strings.Join(models[:n-1], ", ") + " and " + names
	}
	ways := strategies[0]
	if len(strategies) > 1 {
		ways = fmt.Sprintf("%d strategies", len(strategies))
	}
	upTo := "one worker"
	if workers > 1 {
		upTo = fmt.Sprintf("up to %d workers", workers)
	}
	return fmt.Sprintf("%s: %s, %s%s", names, ways, upTo, beside)
}

// cores counts those of the machine or, of rows on several hosts, of the most hosts.
func cores(r *record.Results) string {
	most, own, hosts := r.Host.Cores, false, 0
	for _, row := range r.Rows {
		hosts = max(hosts, row.Setting.Hosts)
		if row.Setting.Hosts > 1 && row.Setting.Cores > 0 {
			own, most = true, max(most, row.Setting.Cores)
		}
	}
	text := spelling.Count(most, "core")
	switch {
	case own:
		return fmt.Sprintf("%s on %d hosts", text, hosts)
	case hosts > 1 && r.Lab != "":
		return fmt.Sprintf("%s of one machine that plays %d hosts", text, hosts)
	}
	return text
}

func lede(r *record.Results) string {
	runs, generated := 0, ""
	for _, row := range r.Rows {
		runs += len(row.Runs)
		if row.Setting.Generated {
			generated = "generated data"
		}
	}
	return joined(" · ", r.Started.UTC().Format("2 January 2006, 15:04 UTC"), r.Host.CPU, cores(r),
		fmt.Sprintf("%s in %s", spelling.Count(runs, "run"), spelling.Count(r.Ran(), "round")),
		duration(r.Seconds), generated)
}

// newSection lays out a group: its answer and picture, findings, tables, figures.
func newSection(i int, c *compare.Comparison) section {
	g := &c.Groups[i]
	s := section{ID: fmt.Sprintf("g%d", i+1), Title: c.Title(g), Work: work(g), Findings: groupFindings(g)}
	for i, l := range g.Lines {
		s.lines = append(s.lines, &lineView{Line: l, group: g, key: key(i), style: style(l, i),
			raw: fmt.Sprintf("%s-%s", s.ID, key(i))})
	}
	s.Answer = new(answerOf(g))
	if slices.ContainsFunc(s.lines, func(v *lineView) bool { return v.OK > 0 }) {
		s.Picture = s.stepFigure()
		s.Figures = s.figures()
	}
	s.Tables = s.tables()
	s.Terminal = []table{s.rowTable(s.Title, inlineOf(slices.Concat(speedColumns(), resultColumns())))}
	return s
}

// figures returns the figures of a section in the order of the page: how it scales, what it reaches in time
// and by samples, where the time goes.
func (s *section) figures() []figure {
	return drawn(slices.Concat(s.scalingFigures(), []figure{s.lossFigure()}, s.accuracyFigures(),
		[]figure{s.phaseFigure(), s.timeFigure()})...)
}

// work says in one line what every row of the group did.
func work(g *compare.Group) string {
	s := g.Lines[0].Setting
	data := s.Data
	if s.Generated {
		data += " (generated)"
	}
	length := spelling.Count(s.Steps, "step")
	switch {
	case s.For != "":
		length = s.For + " of training" + keptText(g)
	case s.Steps == 0:
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
	return joined(" · ", text, startText(s), g.Condition)
}

// keptText says that rows of a group hold some of their steps; "" if they hold all.
func keptText(g *compare.Group) string {
	least, most := 0, 0
	for _, l := range g.Lines {
		if every := l.Record().Every; every > 1 {
			least, most = min(cmp.Or(least, every), every), max(most, every)
		}
	}
	switch {
	case most == 0:
		return ""
	case least == most:
		return fmt.Sprintf(", figures of one step in %d", most)
	}
	return fmt.Sprintf(", figures of one step in %d to %d", least, most)
}

// startText says with which weights a row began; "" if with random ones.
func startText(s record.Setting) string {
	if s.Weights == "" {
		return ""
	}
	text := "from the weights of " + s.Weights
	if s.WeightsSHA256 != "" {
		text += fmt.Sprintf(" (SHA-256 %.12s…)", s.WeightsSHA256)
	}
	return text
}

// style gives every strategy a colour and every line of a group dashes and a mark of its own.
func style(l *compare.Line, i int) plot.Style {
	colour := cmp.Or(strategy.Named(l.Setting.Strategy).Colour, plot.NumColours)
	return plot.Style{Colour: colour - 1, Number: i}
}
