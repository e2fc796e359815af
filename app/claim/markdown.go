package claim

import (
	"regexp"
	"strings"
)

// readMarkdown reads the tables of a text and the sentences around them. Code blocks are skipped.
func (d *Document) readMarkdown(text string) error {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	var heading, above, paragraph string // above: the last sentence before a table
	isCode := false
	flush := func() error {
		err := d.say(paragraph, false)
		if said := sentencesOf(paragraph); said != nil {
			above = lastOf(said)
		}
		paragraph = ""
		return err
	}
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			isCode = !isCode
			continue
		}
		if isCode {
			continue
		}
		if i+1 < len(lines) && strings.Contains(line, "|") && delimiter.MatchString(lines[i+1]) {
			if err := flush(); err != nil {
				return err
			}
			n := tableLength(lines[i:])
			if err := d.add(heading+" "+above, cellsOf(lines[i:i+n])); err != nil {
				return err
			}
			above = ""
			i += n - 1
			continue
		}
		isItem := item.MatchString(line)
		isHeading := strings.HasPrefix(line, "#")
		if line == "" || isItem || isHeading {
			if err := flush(); err != nil {
				return err
			}
		}
		switch {
		case isHeading:
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
			above = ""
			if err := d.say(heading, true); err != nil {
				return err
			}
		case isItem:
			paragraph = item.ReplaceAllString(line, "")
		case line != "":
			paragraph = strings.TrimSpace(paragraph + " " + line)
		}
	}
	return flush()
}

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
	text = strings.TrimSpace(command.ReplaceAllString(text, ""))
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
	fields := strings.Fields(strings.ToLower(text))
	switch lastOf(fields) {
	case "e.g", "i.e", "vs", "ca", "approx", "fig", "tab", "resp", "cf", "no":
		return true
	}
	return false
}
