package check

import (
	"slices"
	"strings"
)

// table is a grid of cells with its figures, [row][column]; row 0 is the heading.
type table struct {
	cells   [][]cell
	figures [][][]*Figure
	isAside bool // metrics are rows and configurations columns
	isLog   bool // rows are moments of one run
	isParts bool // rows are parts of a whole
}

// cell is a text with its place.
type cell struct {
	text         string
	line, column int
}

// addTable reads the figures of a grid and makes records of its rows or columns.
func (d *Document) addTable(cells [][]cell) {
	if len(cells) == 0 {
		return
	}
	t := &table{cells: cells, figures: make([][][]*Figure, len(cells))}
	var labels []string
	for _, row := range cells[1:] {
		labels = append(labels, at(row, 0))
	}
	t.isAside = t.hasMetricsAsRows(labels)
	k, _ := meaning(wordsOf(at(cells[0], 0)))
	t.isLog = !t.isAside && (k == Epochs || k == Steps)
	t.isParts = isParts(labels)
	g := &group{section: d.section(), table: t}
	for i, row := range cells {
		t.figures[i] = make([][]*Figure, len(row))
		for j, c := range row {
			t.figures[i][j] = t.read(i, j)
			for _, f := range t.figures[i][j] {
				f.Place.Column += max(0, c.column-1)
			}
			d.add(t.figures[i][j], c.line, g.section)
		}
	}
	d.groups = append(d.groups, g)
	t.makeRecords(g)
}

// read returns the figures of a cell.
func (t *table) read(i, j int) []*Figure {
	text := plain(t.cells[i][j].text)
	figures := scan(text)
	for k, f := range figures {
		f.Row, f.Column = plain(at(t.cells[i], 0)), plain(at(t.cells[0], j))
		f.isGuess = isGuessed(f.Row) || isGuessed(f.Column) || isGuessed(text)
		if i == 0 || j == 0 && t.isAside {
			f.nameOf(text)
			continue
		}
		var last *Figure
		if k > 0 {
			last = figures[k-1]
		}
		f.inCell(text, t.isAside, last)
	}
	return figures
}

func at(row []cell, j int) string {
	if j < len(row) {
		return plain(row[j].text)
	}
	return ""
}

// plain returns a cell without the marks of Markdown.
func plain(cell string) string { return emphasis.Replace(cell) }

var emphasis = strings.NewReplacer("**", "", "`", "", "__", "", "\\|", "|")

// inCell settles a figure by the words of its cell, then by the heading that names metrics, then by the
// other.
func (f *Figure) inCell(text string, isAside bool, last *Figure) {
	metric, other := f.Column, f.Row
	if isAside {
		metric, other = other, metric
	}
	if f.isEnd && last != nil {
		f.Kind, f.Scope = last.Kind, last.Scope
		return
	}
	if f.Kind == Unknown {
		f.headUnit(metric)
	}
	if isAside && isCompared(f.Column) && f.Kind == Share {
		other, metric = metric, f.Column
	}
	f.ordinal(text[:f.Place.Column-1])
	f.settle(around(text, f), withoutBrackets(metric), other)
	f.isFaster = mentions(text+" "+f.Column, "faster")
	k, _ := meaning(wordsOf(withoutBrackets(metric)))
	if k == Batch && (f.Kind == Count || f.Kind == Workers) {
		f.Kind = Batch
	}
}

// headUnit takes the unit of a heading such as "Time (s)", "step ms", "time_s" or "MB/s".
func (f *Figure) headUnit(heading string) {
	k, _ := meaning(wordsOf(heading))
	for _, w := range strings.FieldsFunc(heading,
		func(r rune) bool { return strings.ContainsRune("()[]_, ", r) }) {
		w = strings.ToLower(w)
		base, per, isPer := strings.Cut(w, "/")
		u, isKnown := allUnits[singular(base)]
		isMeasure := u.kind == Time && w != "d" && (k == Time || k == Unknown || isSetting(k)) ||
			u.kind == Size ||
			w == "%" || w == "x" || w == "×" || w == "$"
		switch {
		case isPer && isKnown && allUnits[singular(per)].kind == Time:
			f.setUnit(base, u)
			f.per("/"+per, 0)
			return
		case isKnown && isMeasure && !isPer:
			f.setUnit(w, u)
			return
		}
	}
}

// nameOf makes f part of a label: a number of workers, a batch, or a name.
func (f *Figure) nameOf(label string) {
	f.settle(around(label, f))
	if f.Kind == Unknown || f.Kind == Ratio || f.Kind == Share && f.Unit == "" {
		f.Kind = Name
	}
}

// withoutBrackets returns a heading without what stands in brackets.
func withoutBrackets(heading string) string {
	before, rest, isThere := strings.Cut(heading, "(")
	if _, after, isClosed := strings.Cut(rest, ")"); isThere && isClosed {
		return before + " " + after
	}
	return before
}

// hasMetricsAsRows decides the orientation: which of the two headings names quantities more often.
func (t *table) hasMetricsAsRows(labels []string) bool {
	share := func(labels []string) float64 {
		n := 0
		for _, l := range labels {
			k, s := meaning(wordsOf(withoutBrackets(l)))
			if k != Unknown && k != Name && k != Workers || s != "" {
				n++
			}
		}
		return float64(n) / float64(max(1, len(labels)))
	}
	var heads []string
	for j := range t.cells[0] {
		heads = append(heads, at(t.cells[0], j))
	}
	return len(heads) > 1 && len(labels) > 0 && share(labels) > share(heads[1:])
}

// isCompared reports whether a column compares the columns before it.
func isCompared(heading string) bool {
	return mentions(heading, lists["compared"]...)
}

// isSetting reports whether a kind is chosen rather than measured.
func isSetting(k Kind) bool {
	return slices.Contains([]Kind{Workers, Cores, Batch, LearningRate, Epochs, Setting, Name, Steps}, k)
}

// makeRecords makes a record of each row, or of each column where rows are metrics, but for columns that
// compare others.
func (t *table) makeRecords(g *group) {
	size := len(t.cells)
	if t.isAside {
		size = len(t.cells[0])
	}
	for i := 1; i < size; i++ {
		r := &recordOf{in: g, label: at(t.cells[0], i)}
		if !t.isAside {
			r.label, r.figures = t.label(i), slices.Concat(t.figures[i]...)
			g.records = append(g.records, r)
			continue
		}
		for _, row := range t.figures {
			if i < len(row) {
				r.figures = append(r.figures, row[i]...)
			}
		}
		switch n := len(g.records); {
		case !isCompared(r.label):
			g.records = append(g.records, r)
		case n > 1:
			g.records[n-1].compared = append(g.records[n-1].compared, r.figures...)
		}
	}
}

// label returns the label of a row: its first cell and those that hold no measurement.
func (t *table) label(i int) string {
	label := []string{at(t.cells[i], 0)}
	for j, figures := range t.figures[i] {
		isMeasured := slices.ContainsFunc(figures, func(f *Figure) bool { return !isSetting(f.Kind) })
		if j > 0 && !isMeasured {
			label = append(label, at(t.cells[i], j))
		}
	}
	return strings.Join(label, " ")
}
