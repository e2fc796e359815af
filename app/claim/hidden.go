package claim

import (
	"fmt"
	"regexp"
	"strings"
)

// Note: hidden lines
//
// Code blocks and HTML comments hold no tables and sentences, so their lines are taken out first, as
// CommonMark has them: a fence ends a block only if it is of the same character and at least as long, and a
// comment in the middle of a line only if its paragraph closes it. What is not closed hides all that follows,
// which is listed as not read.

// Parts of Markdown that begin or end something hidden.
var (
	fenceLine = regexp.MustCompile("^(`{3,}|~{3,})(.*)$")
	bullet    = regexp.MustCompile(`^[ \t]*(?:[-*+]|\d{1,9}[.)])(?: {1,4}|\t|$)`)
)

// definition is what a link is called elsewhere: nothing of it is shown. Footnotes are.
var definition = regexp.MustCompile("^ {0,3}\\[[^\\]^][^\\]]*\\]:[ \t]*(?:<[^>]*>|\\S+)" +
	"(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\\([^)]*\\)))?[ \t]*$")

// isDefinition reports whether line i defines a link: it does not within a paragraph.
func (v *veil) isDefinition(i int) bool {
	if !definition.MatchString(v.lines[i]) {
		return false
	}
	before := ""
	if i > 0 {
		before = strings.TrimSpace(v.lines[i-1])
	}
	return before == "" || strings.HasPrefix(before, "#") || definition.MatchString(v.lines[i-1])
}

// fence is the line that opened a code block.
type fence struct {
	mark   string // its run of backticks or tildes; "": no block is open
	within int    // indentation of the list's entry that the block is in
	line   int    // from 1
}

// closes reports whether a line ends the block that the fence opened: another fence, or the end of its entry.
func (f fence) closes(text string, indent int) bool {
	m := fenceLine.FindStringSubmatch(text)
	return m != nil && indent < f.within+4 && strings.HasPrefix(m[1], f.mark) && strings.TrimSpace(m[2]) == ""
}

// veil takes what is hidden out of a text.
type veil struct {
	lines  []string
	open   fence
	within int // indentation of the list's entry that the line is in
	bare   int // before this line no comment closes in its paragraph
	unread []string
}

// shown returns the lines of a Markdown text without code blocks and comments, in their places.
func (d *Document) shown(lines []string) []string {
	v := veil{lines: lines}
	out := make([]string, len(lines))
	for i := 0; i < len(lines); i++ {
		if v.isCode(i) {
			continue
		}
		if v.isDefinition(i) {
			v.unread = append(v.unread, fmt.Sprintf("line %d: a link's definition, which is not shown", i+1))
			continue
		}
		i = v.uncomment(i, out)
	}
	if v.open.mark != "" {
		v.unread = append(v.unread, fmt.Sprintf("line %d: a code block that no %s closes, and all below it",
			v.open.line, v.open.mark))
	}
	d.unread = append(d.unread, v.unread...)
	return out
}

// isCode reports whether line i is a fence, or in a code block.
func (v *veil) isCode(i int) bool {
	line := v.lines[i]
	text := strings.TrimSpace(line)
	if text == "" {
		return v.open.mark != ""
	}
	indent := indentation(line)
	if v.open.mark != "" && indent >= v.open.within {
		if v.open.closes(text, indent) {
			v.open = fence{}
		}
		return true
	}
	v.open = fence{} // its entry has ended
	v.within = min(v.within, indent)
	if m := bullet.FindString(line); m != "" {
		v.within = len(strings.ReplaceAll(m, "\t", "    "))
		indent, text = v.within, strings.TrimSpace(line[len(m):])
	}
	m := fenceLine.FindStringSubmatch(text)
	if m == nil || indent >= v.within+4 || m[1][0] == '`' && strings.Contains(m[2], "`") {
		return false
	}
	v.open = fence{m[1], v.within, i + 1}
	return true
}

// indentation returns how far a line is set in, a tab being four spaces.
func indentation(line string) int {
	n := 0
	for _, r := range line {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

// uncomment puts line i into out without comments, and returns the last line that they reach.
func (v *veil) uncomment(i int, out []string) int {
	rest, isBegun, isRaw := v.lines[i], false, false
	var text strings.Builder
	for {
		at := strings.Index(rest, "<!--")
		isBegun = isBegun || at < 0 || strings.TrimSpace(rest[:at]) != ""
		if at < 0 || isBegun && !isRaw && i < v.bare {
			out[i] = text.String() + rest
			return i
		}
		isRaw = isRaw || !isBegun
		end, behind, isClosed := v.commentEnd(i, rest[at+len("<!"):], isRaw)
		if !isClosed && !isRaw {
			v.bare = end
			continue
		}
		text.WriteString(rest[:at])
		if !isClosed || end > i {
			out[i] = text.String()
			text.Reset()
		}
		if !isClosed {
			v.unread = append(v.unread,
				fmt.Sprintf("line %d: a comment that no --> closes, and all below it", i+1))
			return end
		}
		i, rest = end, behind
	}
}

// commentEnd returns the line in which a comment of line i ends and what is behind it there. One that does
// not begin its line ends in its paragraph, or is none.
func (v *veil) commentEnd(i int, rest string, isRaw bool) (end int, behind string, isClosed bool) {
	for {
		if _, behind, isClosed = strings.Cut(rest, "-->"); isClosed {
			return i, behind, true
		}
		if i++; i == len(v.lines) || !isRaw && strings.TrimSpace(v.lines[i]) == "" {
			return i, "", false
		}
		rest = v.lines[i]
	}
}
