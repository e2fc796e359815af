package claim

import (
	"fmt"
	"regexp"
	"strings"
)

// readMarkdown reads the tables of a text and the sentences around them, without code blocks and comments.
func (d *Document) readMarkdown(text string) error {
	m := markdown{d: d}
	lines := d.shown(strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n"))
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		var err error
		switch {
		case i+1 < len(lines) && strings.Contains(line, "|") && delimiter.MatchString(lines[i+1]):
			n := tableLength(lines[i:])
			err = m.table(lines[i : i+n])
			i += n - 1
		default:
			if strings.Contains(strings.ToLower(line), "<table") {
				d.unread = append(d.unread, fmt.Sprintf("line %d: a table in HTML, not Markdown", i+1))
			}
			if i > 0 && quoted.MatchString(line) && delimiter.MatchString(quoted.ReplaceAllString(line, "")) {
				d.unread = append(d.unread, fmt.Sprintf("line %d: a table in a quotation", i))
			}
			err = m.line(line, i+1)
		}
		if err != nil {
			return err
		}
	}
	return m.flush()
}

// markdown reads a text line by line.
type markdown struct {
	d         *Document
	heading   string
	above     string   // the last sentence before a table
	paragraph []string // its lines so far
	first     int      // the line of the file in which it begins
}

// flush ends the paragraph.
func (m *markdown) flush() error {
	err := m.d.say(strings.Join(m.paragraph, " "+newLine), m.first, false)
	if said := sentencesOf(strings.Join(m.paragraph, " ")); said != nil {
		m.above = lastOf(said)
	}
	m.paragraph = nil
	return err
}

// table takes the lines of a table.
func (m *markdown) table(lines []string) error {
	if err := m.flush(); err != nil {
		return err
	}
	err := m.d.add(m.heading+" "+m.above, cellsOf(lines))
	m.above = ""
	return err
}

// line takes a line that belongs to no table, and its number in the file.
func (m *markdown) line(line string, number int) error {
	line = strings.ReplaceAll(line, newLine, "")
	m.d.foot(line)
	isItem, isHeading := item.MatchString(line), strings.HasPrefix(line, "#")
	if line == "" || isItem || isHeading {
		if err := m.flush(); err != nil {
			return err
		}
	}
	switch {
	case isHeading:
		m.heading, m.above = strings.TrimSpace(strings.TrimLeft(line, "#")), ""
		if m.d.heading = m.heading; !strings.HasPrefix(line, "###") {
			m.d.section = m.heading
		}
		return m.d.say(m.heading, number, true)
	case isItem:
		m.paragraph, m.first = []string{item.ReplaceAllString(line, "")}, number
	case line != "":
		if len(m.paragraph) == 0 {
			m.first = number
		}
		m.paragraph = append(m.paragraph, line)
	}
	return nil
}

// quoted begins a line of a quotation.
var quoted = regexp.MustCompile(`^(?:> ?)+`)

// item begins an entry of a list, or a quotation.
var item = regexp.MustCompile(`^([-*+]|\d+[.)]|>) +`)

func lastOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

// tableLength returns how many lines a table has.
func tableLength(lines []string) int {
	n := 2
	for n < len(lines) && strings.Contains(lines[n], "|") {
		n++
	}
	return n
}

// cellsOf returns the cells of a table's lines, without the line below the headings.
func cellsOf(lines []string) [][]string {
	var out [][]string
	for i, line := range lines {
		if i == 1 {
			continue
		}
		line = strings.TrimSpace(line)
		line = strings.TrimPrefix(line, "|")
		if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
			line = line[:len(line)-1]
		}
		var row []string
		for cell := range strings.SplitSeq(strings.ReplaceAll(line, `\|`, "\x00"), "|") {
			row = append(row, strings.TrimSpace(strings.ReplaceAll(cell, "\x00", "|")))
		}
		if len(out) > 0 && len(row) > len(out[0]) {
			row = row[:len(out[0])] // as Markdown shows it
		}
		out = append(out, row)
	}
	return out
}

// sentenceEnd is a full stop, question or exclamation mark that ends a sentence, not one inside a number.
var sentenceEnd = regexp.MustCompile(`([.!?])["”)*]*\s+|;\s+`)

// command is code in a line of text that is no name: a flag, or several words.
var command = regexp.MustCompile("`(?:-[^`]*|[^`]* [^`]*)`")

// sentencesOf cuts a paragraph into sentences, without commands.
func sentencesOf(text string) []string {
	text = strings.TrimSpace(command.ReplaceAllStringFunc(text, func(s string) string {
		return strings.Repeat(newLine, strings.Count(s, newLine))
	}))
	var out []string
	begin := 0
	for _, at := range sentenceEnd.FindAllStringIndex(text, -1) {
		if isAbbreviation(text[begin:at[0]]) {
			continue
		}
		out = append(out, strings.TrimRight(strings.TrimSpace(text[begin:at[1]]), ";"))
		begin = at[1]
	}
	if rest := strings.TrimSpace(text[begin:]); rest != "" {
		out = append(out, rest)
	}
	return out
}

// isAbbreviation reports whether the last word of text is one that ends in a full stop.
func isAbbreviation(text string) bool {
	last := text[strings.LastIndexAny(text, " \t")+1:] // not all of the text, which may be long
	switch strings.ToLower(strings.ReplaceAll(last, newLine, "")) {
	case "e.g", "i.e", "vs", "ca", "approx", "fig", "tab", "resp", "cf", "no":
		return true
	}
	return false
}
