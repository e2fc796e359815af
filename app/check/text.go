package check

import (
	"slices"
	"strings"
	"unicode"
)

// heading opens a section at a level of a Markdown document.
func (d *Document) heading(level int, title string) {
	level = min(max(level, 1), 6)
	for len(d.headings) < level {
		d.headings = append(d.headings, "")
	}
	d.headings = append(d.headings[:level-1], plain(strings.TrimSpace(title)))
	d.inner = [3]string{}
	d.open(d.path(d.headings[:level-1]), title)
}

// The levels of headings without marks, below those with marks.
const (
	partLevel  = iota // "Part 2: ..."
	titleLevel        // "Baseline:"
	rankLevel         // "Node 0"
)

// subheading opens a section below those of Markdown.
func (d *Document) subheading(level int, title string) {
	for i := level; i < len(d.inner); i++ {
		d.inner[i] = ""
	}
	parent := d.section()
	d.inner[level] = title
	d.open(parent, title)
}

func (d *Document) path(titles []string) string {
	var out []string
	for _, t := range titles {
		if t != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, " / ")
}

// title returns the nearest heading.
func (d *Document) title() string {
	titles := append(d.headings[:len(d.headings):len(d.headings)], d.inner[:]...)
	for i := len(titles) - 1; i >= 0; i-- {
		if titles[i] != "" {
			return titles[i]
		}
	}
	return ""
}

// section returns the headings above a line.
func (d *Document) section() string {
	return d.path(append(d.headings[:len(d.headings):len(d.headings)], d.inner[:]...))
}

// open begins a record for the lines below a heading.
func (d *Document) open(parent, title string) {
	if d.current == nil || d.current.section != parent {
		d.current = &group{section: parent}
		d.groups = append(d.groups, d.current)
	}
	d.current.records = append(d.current.records, &recordOf{label: plain(title), group: d.current})
}

// record returns the record that a line goes into.
func (d *Document) record() *recordOf {
	if d.current == nil {
		d.open("", "")
	}
	return d.current.records[len(d.current.records)-1]
}

// readText reads lines: tables made of spaces, headings without marks, lists, logs, sentences.
func (d *Document) readText(source string, first int) {
	lines := strings.Split(source, "\n")
	for i := 0; i < len(lines); {
		if n := d.spaced(lines[i:], first+i); n > 0 {
			i += n
			continue
		}
		d.readLine(lines[i], first+i)
		i++
	}
}

// spaced reads a table whose columns are parted by tabs, bars or two spaces, and returns its lines; 0: there
// is none.
func (d *Document) spaced(lines []string, first int) int {
	head := cellsOf(lines[0])
	if len(head) < 2 || len(lines) < 2 || len(scan(lines[0])) > len(head)/2 {
		return 0
	}
	cells := [][]cell{placed(head, lines[0], first)}
	n := 1
	for ; n < len(lines); n++ {
		if strings.Trim(lines[n], "-=+| \t:") == "" && strings.TrimSpace(lines[n]) != "" {
			continue
		}
		row := rowOf(lines[n], len(head))
		if row == nil {
			break
		}
		cells = append(cells, placed(row, lines[n], first+n))
	}
	if len(cells) < 2 {
		return 0
	}
	record := d.record()
	d.addTable(cells)
	if g := d.groups[len(d.groups)-1]; g.table.isLog {
		for _, r := range g.records {
			record.figures = append(record.figures, r.figures...)
		}
	}
	return n
}

// placed gives the cells of a line their places.
func placed(texts []string, line string, number int) []cell {
	var out []cell
	from := 0
	for _, t := range texts {
		if i := strings.Index(line[from:], t); i >= 0 {
			from += i
		}
		out = append(out, cell{t, number, from + 1})
	}
	return out
}

// isLog reports whether a table whose first heading is this one is of the moments of one run.
func isLog(head string) bool {
	k, _ := meaning(wordsOf(head))
	return k == Epochs || k == Steps
}

// cellsOf returns the cells of a line.
func cellsOf(text string) []string {
	text = strings.Trim(strings.TrimSpace(text), "|")
	var out []string
	split := func(s, by string) []string { return strings.Split(s, by) }
	switch {
	case strings.Contains(text, "\t"):
		out = split(text, "\t")
	case strings.Contains(text, " | "):
		out = split(text, " | ")
	default:
		for _, c := range split(text, "  ") {
			if c = strings.TrimSpace(c); c != "" {
				out = append(out, c)
			}
		}
	}
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// rowOf returns the n cells of a row, most of which hold figures, or nil.
func rowOf(text string, n int) []string {
	row := cellsOf(text)
	if len(row) != n {
		fields := strings.Fields(strings.Trim(text, "| "))
		if len(fields) < n {
			return nil
		}
		row = append([]string{strings.Join(fields[:len(fields)-n+1], " ")}, fields[len(fields)-n+1:]...)
	}
	figures := 0
	for _, c := range row {
		if len(c) > 0 && (unicode.IsDigit(rune(c[0])) || strings.ContainsRune("-+$~<", rune(c[0]))) {
			figures++
		}
	}
	if 2*figures < n {
		return nil
	}
	return row
}

// readLine reads a line outside of tables.
func (d *Document) readLine(text string, number int) {
	bare := plain(strings.TrimRight(text, " \t"))
	bare = blankBullet(bare)
	trimmed := strings.TrimSpace(bare)
	if trimmed == "" || strings.Trim(trimmed, "-=*_") == "" {
		return
	}
	figures := scan(bare)
	if level := titleLevelOf(trimmed, figures); level >= 0 {
		for _, f := range figures {
			f.inTitle(bare)
		}
		d.add(figures, number, d.section())
		if level == titleLevel && d.record().rank != nil {
			return
		}
		d.subheading(level, strings.TrimSuffix(trimmed, ":"))
		d.record().figures = append(d.record().figures, figures...)
		d.record().rank = rankOf(d.record())
		return
	}
	d.addLine(bare, figures, number)
}

// addLine appends a line with its figures to the record that is open.
func (d *Document) addLine(text string, figures []*Figure, number int) {
	l := &line{text: text, section: d.section(), number: number, figures: figures, record: d.record(),
		words: map[string]bool{}}
	for _, w := range wordsOf(text) {
		l.words[w] = true
	}
	d.settleLine(l)
	d.add(figures, number, l.section)
	d.lines = append(d.lines, l)
	l.record.figures = append(l.record.figures, figures...)
}

// blankBullet overwrites the bullet or number of a list item with spaces, so that columns stay.
func blankBullet(text string) string {
	trimmed := strings.TrimLeft(text, " \t>")
	indent := len(text) - len(trimmed)
	n := 0
	for n < len(trimmed) && n < 3 && isDigit(trimmed[n]) {
		n++
	}
	switch {
	case n > 0 && n+1 < len(trimmed) && (trimmed[n] == '.' || trimmed[n] == ')') && trimmed[n+1] == ' ':
		n++
	case len(trimmed) > 1 && strings.ContainsRune("-*+", rune(trimmed[0])) && trimmed[1] == ' ':
		n = 1
	default:
		return text
	}
	return strings.Repeat(" ", indent+n) + trimmed[n:]
}

// titleLevelOf returns the level of a line that heads those below it; -1: it does not.
func titleLevelOf(text string, figures []*Figure) int {
	words := wordsOf(text)
	if len(text) > 120 || strings.HasSuffix(text, ".") || len(words) == 0 {
		return -1
	}
	if len(words) > 1 && allWords[words[0]] == Workers && isDigit(words[1][0]) && len(figures) > 0 &&
		figures[0].Unit == "" &&
		!slices.ContainsFunc(words, func(w string) bool {
			return allWords[w] != Workers && allWords[w] != Name && !isDigit(w[0]) && len(w) > 1
		}) {
		return rankLevel
	}
	isPart := len(words) > 1 && slices.Contains(parts, words[0]) && isDigit(words[1][0])
	if isPart && (strings.Contains(text, ":") || len(words) == 2) {
		return partLevel
	}
	isBare := !slices.ContainsFunc(figures, func(f *Figure) bool { return f.Kind != Workers })
	if strings.HasSuffix(text, ":") && isBare && len(words) <= 8 {
		return titleLevel
	}
	return -1
}

// parts are the words that number the sections of a report.
var parts = strings.Fields("part question section experiment task exercise problem phase lab run setup " +
	"configuration")

// settleLine decides the kinds of the figures of a line: by the words behind each, those before it, and what
// stands before a colon.
func (d *Document) settleLine(l *line) {
	key := ""
	from := 0
	var last *Figure
	for _, f := range l.figures {
		start := f.Place.Column - 1
		before := l.text[max(from, start-80):start]
		if i := strings.LastIndexByte(before, ':'); i >= 0 {
			key = strings.ToValidUTF8(before[:i], "")
		}
		f.line, f.Row = l, strings.TrimSpace(key)
		f.isGuess = isGuessed(before) || isGuessed(around(l.text, f)) || isGuessed(brackets(l.text,
			start+len(f.Text)))
		if f.isEnd && last != nil {
			f.Kind, f.Scope = last.Kind, last.Scope
		} else {
			f.ordinal(before)
			f.settle(around(l.text, f), counted(clause(before)), counted(before), clause(key), key)
			if f.Kind == Ratio || f.Kind == Share {
				f.settle(d.title())
			}
			f.follow(last, strings.TrimSpace(before))
		}
		from, last = start+len(f.Text), f
	}
}

// counted returns the words before a number, unless they end in what it would have to count: "two nodes each
// with 32" has no 32 nodes.
func counted(before string) string {
	if hasSuffix(strings.TrimRight(before, " "), ",", ";", ".") {
		return ""
	}
	words := wordsOf(before)
	if k, _ := meaning(words); slices.Contains([]Kind{Workers, Cores, Epochs, Steps, Count, Classes,
		Repeats}, k) {
		for len(words) > 0 && slices.Contains([]string{"of", "is", "to", "are", "was", "used", "size"},
			words[len(words)-1]) {
			words = words[:len(words)-1]
		}
		if len(words) == 0 || allWords[words[len(words)-1]] != k {
			return ""
		}
	}
	return before
}

// follow gives f the kind of the figure before it, if no word stands between: "62.5 % → 62.6 %", "13 %
// (127/1000)".
func (f *Figure) follow(last *Figure, between string) {
	if f.over != nil && f.Kind != Steps {
		f.Kind = Count
	}
	if last == nil || len(wordsOf(between)) > 0 && between != "to" && between != "and" {
		return
	}
	isOf := last.isEnd && last.Kind == Count && between == "("
	switch {
	case f.Kind == Share && isOf && mentions(last.Row, "accuracy", "acc", "correct"):
		f.Kind = Accuracy
	case f.Unit == last.Unit && (f.Kind == Share || f.Kind == Ratio || f.Kind == Unknown):
		f.Kind, f.Scope = last.Kind, last.Scope
	}
}

// brackets returns what stands in brackets behind a figure.
func brackets(text string, end int) string {
	rest, isThere := strings.CutPrefix(strings.TrimLeft(text[end:min(len(text), end+60)], " "), "(")
	inside, _, isClosed := strings.Cut(rest, ")")
	if isThere && isClosed {
		return strings.ToValidUTF8(inside, "")
	}
	return ""
}

// clause returns the last clause of the words before a figure.
func clause(before string) string {
	if i := strings.LastIndexAny(before, ";,.([|→"); i >= 0 {
		if tail := before[i+1:]; len(wordsOf(tail)) > 0 {
			return strings.ToValidUTF8(tail, "")
		}
	}
	return strings.ToValidUTF8(before, "")
}

// ordinal makes a bare number right behind a noun a name: "rank 0", "question 2", "epoch 3".
func (f *Figure) ordinal(before string) {
	words := wordsOf(clause(before))
	if f.Unit != "" || f.Kind != Unknown || len(words) == 0 || !hasSuffix(before, " ", "[", "-", "#", "=") ||
		f.Value != float64(int(f.Value)) || f.over != nil {
		return
	}
	switch last := words[len(words)-1]; {
	case hasSuffix(before, "=") || strings.HasSuffix(strings.TrimRight(before, " "), ":"):
	case allWords[last] == Name, allWords[last] == Workers && len(words) <= 2, last == "epoch",
		last == "step", last == "iteration":
		f.Kind, f.Unit = Name, last
	}
}

// inTitle settles a figure of a heading.
func (f *Figure) inTitle(title string) {
	before := title[:f.Place.Column-1]
	f.ordinal(before)
	f.settle(around(title, f), clause(before))
	if f.Kind == Unknown {
		f.Kind = Name
	}
}

// rankOf returns the number of the rank that a record is of, or nil.
func rankOf(r *recordOf) *Figure {
	words := wordsOf(r.label)
	for i, w := range words {
		if (w == "rank" || w == "node" || w == "worker" || w == "process") && i+1 < len(words) &&
			isDigit(words[i+1][0]) {
			for _, f := range r.figures {
				if f.Kind == Name {
					return f
				}
			}
		}
	}
	return nil
}
