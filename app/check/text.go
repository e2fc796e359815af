package check

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// heading opens a section at a level of a Markdown document.
func (d *Document) heading(level int, title string) {
	level = min(max(level, 1), 6)
	for len(d.titles) < level {
		d.titles = append(d.titles, "")
	}
	d.titles = append(d.titles[:level-1], title)
	d.open("")
}

// open begins a group for the lines below a heading; title is of a line that heads others without marks.
func (d *Document) open(title string) {
	d.title = title
	d.current = &group{section: d.section()}
	d.current.records = []*recordOf{{label: d.current.section, in: d.current}}
	d.groups = append(d.groups, d.current)
}

// section returns the headings above a line.
func (d *Document) section() string {
	var out []string
	for _, t := range append(d.titles[:len(d.titles):len(d.titles)], d.title) {
		if t != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, " / ")
}

// record returns the record that a line goes into.
func (d *Document) record() *recordOf {
	if d.current == nil {
		d.open("")
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

// spaced reads a table whose columns are parted by tabs, bars or two spaces, and returns its lines; 0:
// there is none.
func (d *Document) spaced(lines []string, first int) int {
	head := cellsOf(lines[0], first)
	if len(head) < 2 || len(lines) < 2 || len(scan(lines[0])) > len(head)/2 {
		return 0
	}
	cells := [][]cell{head}
	n := 1
	for ; n < len(lines); n++ {
		if strings.Trim(lines[n], "-=+| \t:") == "" && strings.TrimSpace(lines[n]) != "" {
			continue
		}
		row := rowOf(lines[n], first+n, len(head))
		if row == nil {
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

var (
	betweenBars   = regexp.MustCompile(`[^|\s][^|]*`)
	betweenTabs   = regexp.MustCompile(`[^\t]+`)
	betweenSpaces = regexp.MustCompile(`\S+(?: \S+)*`)
	fields        = regexp.MustCompile(`\S+`)
)

// cellsOf returns the cells of a line.
func cellsOf(text string, number int) []cell {
	by := betweenSpaces
	switch {
	case strings.Contains(text, "\t"):
		by = betweenTabs
	case strings.Contains(text, " | "):
		by = betweenBars
	}
	return split(text, number, by)
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

// readLine reads a line outside of tables.
func (d *Document) readLine(text string, number int) {
	bare := blankBullet(plain(strings.TrimRight(text, " \t")))
	trimmed := strings.TrimSpace(bare)
	words := wordsOf(trimmed[:min(len(trimmed), 120)])
	isNumbered := len(words) > 1 && allWords[words[0]] == Workers && isDigit(words[1][0])
	switch {
	case strings.Trim(trimmed, "-=*_") == "":
	case isNumbered && len(words) <= 4 && !strings.Contains(trimmed, ":"):
		d.addRank(trimmed)
		d.addLine(bare, number)
	case strings.HasSuffix(trimmed, ":") && len(words) <= 8 && (d.current == nil || d.record().rank == nil):
		d.open(strings.TrimSuffix(trimmed, ":"))
		d.addLine(bare, number)
	default:
		d.addLine(bare, number)
	}
}

// addRank begins the record of a rank in the group that is open, or in a new one where the rank had its
// turn.
func (d *Document) addRank(title string) {
	r := &recordOf{label: title, in: d.current}
	if r.rank = rankOf(r); r.rank == nil {
		return
	}
	isThere := func(o *recordOf) bool { return o.rank != nil && o.rank.Value == r.rank.Value }
	if d.current == nil || slices.ContainsFunc(d.current.records, isThere) {
		d.open(d.title)
	}
	r.in = d.current
	d.current.records = append(d.current.records, r)
}

// rankOf returns the number of the rank that a record is of, or nil.
func rankOf(r *recordOf) *Figure {
	words := wordsOf(r.label[:min(len(r.label), 120)])
	for i, w := range words[:max(0, len(words)-1)] {
		if allWords[w] == Workers && isDigit(words[i+1][0]) {
			for _, f := range scan(r.label) {
				if f.Text == words[i+1] {
					return f
				}
			}
		}
	}
	return nil
}

// addLine appends a line with its figures to the record that is open.
func (d *Document) addLine(text string, number int) {
	r := d.record()
	l := &recordOf{label: text, figures: scan(text), in: r.in}
	d.settleLine(l)
	d.add(l.figures, number, d.section())
	if len(l.figures) > 0 && len(text) < 400 {
		d.lines = append(d.lines, l)
	}
	r.figures = append(r.figures, l.figures...)
}

// blankBullet overwrites the bullet or number of a list item with spaces, so that columns stay.
func blankBullet(text string) string {
	trimmed := strings.TrimLeft(text, " \t>")
	mark, rest, _ := strings.Cut(trimmed, " ")
	number := strings.TrimRight(mark, ".)")
	isNumber := len(number) < len(mark) && len(mark) < 5 && strings.Trim(number, "0123456789") == ""
	if rest == "" || mark == "" || !isNumber && mark != "-" && mark != "*" && mark != "+" {
		return text
	}
	return strings.Repeat(" ", len(text)-len(rest)) + rest
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
		behind := around(l.label, f)
		f.isGuess = isGuessed(before) || isGuessed(behind)
		f.isFaster = mentions(behind, "faster")
		if f.isEnd && last != nil {
			f.Kind, f.Scope = last.Kind, last.Scope
		} else {
			f.ordinal(before)
			f.settle(behind, spoken(clause(before)), spoken(before), key)
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
	switch {
	case !isNext:
	case f.Kind == Share && last.isEnd && last.Kind == Count && mentions(last.Row, "accuracy", "acc"):
		f.Kind = Accuracy
	case f.Unit == last.Unit && (f.Kind == Share || f.Kind == Ratio || f.Kind == Unknown):
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
	if words := wordsOf(tail); len(words) > 0 && isIn("asides", words[0]) {
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
	return before
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
	if isNoun || allWords[last] == Name || allWords[last] == Workers && len(words) <= 2 &&
		unicode.IsLetter(rune(last[0])) {
		f.Kind, f.Unit = Name, last
	}
}
