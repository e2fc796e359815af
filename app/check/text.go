package check

import (
	"regexp"
	"slices"
	"strings"
)

// open begins a group for the lines below a heading at a level of Markdown; 0: a line that heads others.
func (d *Document) open(level int, title string) {
	if d.title = title; level > 0 {
		d.titles, d.title = append(d.titles[:min(level-1, len(d.titles))], title), ""
	}
	d.current = &group{section: d.section()}
	d.current.records = []*recordOf{{label: d.current.section, in: d.current}}
	d.groups = append(d.groups, d.current)
}

// section returns the headings above a line.
func (d *Document) section() string {
	return strings.TrimSuffix(strings.Join(append(slices.Clone(d.titles), d.title), " / "), " / ")
}

// record returns the record that a line goes into.
func (d *Document) record() *recordOf {
	if d.current == nil {
		d.open(0, "")
	}
	return d.current.records[len(d.current.records)-1]
}

// readText reads lines: headings, blocks of code, tables, lists, logs, sentences.
func (d *Document) readText(source string) {
	lines := strings.Split(source, "\n")
	isProgram := false // inside of a block of code
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if language, isFence := strings.CutPrefix(line, "```"); isFence {
			isProgram = !isProgram && language != "" && !slices.Contains(lists["outputs"], language)
			continue
		}
		if isProgram {
			continue
		}
		title := strings.TrimLeft(line, "#")
		level := len(line) - len(title)
		switch n := d.readTable(lines[i:], i+1); {
		case n > 0:
			i += n - 1
		case level > 0 && level <= 6 && strings.HasPrefix(title, " "):
			d.open(level, strings.TrimSpace(plain(title)))
			d.addLine(plain(title), i+1)
		default:
			d.readLine(lines[i], i+1)
		}
	}
}

// readTable reads a table of Markdown, or one whose columns are parted by tabs, bars or two spaces, and
// returns its lines; 0: there is none.
func (d *Document) readTable(lines []string, first int) int {
	head := cellsOf(lines[0], first)
	isMarkdown := len(lines) > 1 && strings.Contains(lines[0], "|") && isRule(lines[1])
	if isMarkdown {
		head = barred(lines[0], first)
	}
	if len(head) < 2 || len(lines) < 2 || !isMarkdown && len(scan(lines[0])) > len(head)/2 {
		return 0
	}
	cells := [][]cell{head}
	n := 1
	for ; n < len(lines); n++ {
		row := barred(lines[n], first+n)
		if isRule(lines[n]) {
			continue
		}
		if !isMarkdown {
			row = rowOf(lines[n], first+n, len(head))
		}
		if len(row) < 2 {
			break
		}
		cells = append(cells, row)
	}
	if len(cells) < 2 {
		return 0
	}
	d.addTable(cells)
	return n
}

// isRule reports whether a line parts the heading of a table from its rows.
func isRule(line string) bool {
	return strings.Trim(line, "-=+| \t:") == "" && strings.ContainsAny(line, "-=+")
}

// barred returns the cells of a row of Markdown.
func barred(text string, number int) (out []cell) {
	at := 1
	parts := strings.Split(strings.ReplaceAll(text, `\|`, "  "), "|")
	for i, part := range parts {
		bare := strings.TrimSpace(part)
		if isEdge := i == 0 || i == len(parts)-1; bare != "" || !isEdge {
			out = append(out, cell{bare, number, at + strings.Index(part, bare)})
		}
		at += len(part) + 1
	}
	return out
}

var (
	betweenSpaces = regexp.MustCompile(`\S+(?: \S+)*`)
	fields        = regexp.MustCompile(`\S+`)
)

// cellsOf returns the cells of a line.
func cellsOf(text string, number int) []cell {
	if strings.Contains(text, " | ") {
		return barred(text, number)
	}
	return split(text, number, betweenSpaces)
}

func split(text string, number int, by *regexp.Regexp) (out []cell) {
	for _, m := range by.FindAllStringIndex(text, -1) {
		out = append(out, cell{strings.TrimSpace(text[m[0]:m[1]]), number, m[0] + 1})
	}
	return out
}

// rowOf returns the n cells of a row, half of which hold figures, or nil.
func rowOf(text string, number, n int) []cell {
	row := cellsOf(text, number)
	if words := split(text, number, fields); len(row) != n && len(words) >= n {
		label := cell{text[:words[len(words)-n+1].column-1], number, 1}
		row = append([]cell{label}, words[len(words)-n+1:]...)
	}
	figures := 0
	for _, c := range row {
		if t := strings.TrimLeft(c.text, "-+$~<"); t != "" && isDigit(t[0]) {
			figures++
		}
	}
	if len(row) != n || 2*figures < n {
		return nil
	}
	return row
}

// bullet finds the bullet or number of a list item.
var bullet = regexp.MustCompile(`^[ \t>]*(?:[-*+]|\d{1,3}[.)]) +`)

// readLine reads a line outside of tables.
func (d *Document) readLine(text string, number int) {
	text = plain(strings.TrimRight(text, " \t"))
	mark := len(bullet.FindString(text))
	text = strings.Repeat(" ", mark) + text[mark:] // columns stay
	trimmed := strings.TrimSpace(text)
	words := wordsOf(trimmed[:min(len(trimmed), 120)])
	isNumbered := len(words) > 1 && len(words) <= 4 && allWords[words[0]] == Workers && isDigit(words[1][0])
	switch {
	case strings.Trim(trimmed, "-=*_") == "":
		return
	case isNumbered && !strings.Contains(trimmed, ":"):
		d.addRank(trimmed, words[1])
	case strings.HasSuffix(trimmed, ":") && len(words) <= 8 && (d.current == nil || d.record().rank == ""):
		d.open(0, strings.TrimSuffix(trimmed, ":"))
	}
	d.addLine(text, number)
}

// addRank begins the record of a rank in the group that is open, or in a new one where the rank had its turn.
func (d *Document) addRank(title, rank string) {
	isThere := func(o *recordOf) bool { return o.rank == rank }
	if d.current == nil || slices.ContainsFunc(d.current.records, isThere) {
		d.open(0, d.title)
	}
	d.current.records = append(d.current.records, &recordOf{label: title, in: d.current, rank: rank})
}

// addLine appends a line with its figures to the record that is open.
func (d *Document) addLine(text string, number int) {
	r := d.record()
	l := &recordOf{label: text, figures: scan(text), in: r.in}
	d.settleLine(l)
	d.add(l.figures, number, d.section())
	if len(l.figures) > 0 {
		d.lines = append(d.lines, l)
	}
	r.figures = append(r.figures, l.figures...)
}

// settleLine decides the kinds of the figures of a line: by the words behind each, those before it, and
// what stands before a colon.
func (d *Document) settleLine(l *recordOf) {
	key, from := "", 0
	var last *Figure
	for _, f := range l.figures {
		start := f.Place.Column - 1
		before := strings.ToValidUTF8(l.label[max(from, start-80):start], "")
		if i := strings.LastIndexByte(before, ':'); i >= 0 {
			key = before[:i]
		}
		f.Row = strings.TrimSpace(key)
		f.isGuess = isGuessed(before)
		if f.isEnd && last != nil {
			f.Kind, f.Scope = last.Kind, last.Scope
		} else {
			f.ordinal(before)
			f.settle(around(l.label, f), clause(before), spoken(before), key)
			if f.Kind == Ratio || f.Kind == Share {
				f.settle(d.title)
			}
			f.follow(last, strings.TrimSpace(before))
		}
		from, last = start+len(f.Text), f
	}
}

// follow gives f the kind of the figure before it, if no word stands between: "62.5 % → 62.6 %".
func (f *Figure) follow(last *Figure, between string) {
	if f.over != nil && f.Kind != Steps {
		f.Kind = Count
	}
	isNext := last != nil && (len(wordsOf(between)) == 0 || between == "to" || between == "and")
	if isNext && f.Unit == last.Unit && (f.Kind == Share || f.Kind == Ratio || f.Kind == Unknown) {
		f.Kind, f.Scope = last.Kind, last.Scope
	}
}

// around returns the words right behind a figure, up to a stop or another number.
func around(text string, f *Figure) string {
	end := f.Place.Column - 1 + len(f.Text)
	tail := text[min(len(text), end):min(len(text), end+60)]
	if i := strings.IndexAny(tail, ",;.:|([0123456789→~"); i >= 0 {
		tail = tail[:i]
	}
	if words := wordsOf(tail); len(words) > 0 && slices.Contains(lists["asides"], words[0]) {
		return ""
	}
	return strings.ToValidUTF8(tail, "")
}

// spoken returns the words before a figure, or nothing where a comma or a stop parts them from it.
func spoken(before string) string {
	if hasSuffix(strings.TrimRight(before, " "), ",", ";", ".") {
		return ""
	}
	return before
}

// clause returns the last clause of the words before a figure.
func clause(before string) string {
	if i := strings.LastIndexAny(before, ";,.([|→"); i >= 0 {
		if tail := strings.ToValidUTF8(before[i+1:], ""); len(wordsOf(tail)) > 0 {
			return tail
		}
	}
	return spoken(before)
}

// ordinal makes a bare number right behind a noun a name: "rank 0", "question 2", "epoch 3".
func (f *Figure) ordinal(before string) {
	words := wordsOf(clause(before))
	isBare := f.Unit == "" && f.Kind == Unknown && f.Value == float64(int(f.Value)) && f.over == nil
	if !isBare || len(words) == 0 || !hasSuffix(before, " ", "[", "-", "#") || hasSuffix(before, ": ",
		"= ") {
		return
	}
	last := words[len(words)-1]
	isNoun := slices.Contains([]string{"epoch", "step", "iteration"}, last)
	if isNoun || allWords[last] == Name || allWords[last] == Workers && len(words) <= 2 {
		f.Kind, f.Unit = Name, last
	}
}
