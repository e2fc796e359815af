package claim

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// misnamed says what is wrong with the names in a sentence that would be understood with names of single
// rows; "": nothing, or no name would help.
func (d *Document) misnamed(text, plain string) string {
	if !claims.MatchString(plain) || len(strings.Fields(plain)) > maxNamedWords {
		return ""
	}
	unknown := ""
	seen := map[string]bool{}
	for _, t := range d.tables {
		c := &court{d: d, t: t, words: plain}
		several := c.standIns()
		if seen[c.words] || len(seen) == maxReadings {
			continue
		}
		seen[c.words] = true
		switch {
		case several != nil && d.hasForm(c.words):
			return fmt.Sprintf("%s is %d rows (%s): say which", spelled(text, several.name),
				len(several.entries), tellingApart(several.entries))
		case several == nil && unknown == "":
			unknown = c.unknownName()
		}
	}
	if unknown == "" {
		return ""
	}
	return "no row is called " + spelled(text, unknown)
}

// Bounds of the sentences that are read again for their names, and of how often.
const (
	maxNamedWords = 20
	maxReadings   = 4
)

// claims are words of the sentences that say something of rows.
var claims = regexp.MustCompile(`\d|\b(fast\w*|slow\w*|wins|beats|outperforms|speedup|accura\w+|` +
	`efficiency|halves)\b`)

// ambiguous is a name that several rows have.
type ambiguous struct {
	name    string
	entries []*entry
}

// standIns puts rows in place of the names, the first one where several have the name, and returns the first
// such name.
func (c *court) standIns() (several *ambiguous) {
	for {
		begin, end, entries := c.t.mention(c.words)
		if entries == nil {
			break
		}
		if len(entries) > 1 && several == nil {
			several = &ambiguous{c.words[begin:end], entries}
		}
		if !c.put(begin, end, entries[0]) {
			break
		}
	}
	c.words = withoutArticles(c.words)
	return several
}

// hasForm reports whether a form that names rows fits words.
func (d *Document) hasForm(words string) bool {
	return slices.ContainsFunc(d.language.productions, func(p production) bool {
		return strings.Contains(p.re.String(), "§") && p.re.MatchString(words)
	})
}

// Where a name stands: before the verb, and at the end behind a word such as "than". A name has no pronoun.
var (
	leading = regexp.MustCompile(`^((?:with|on|using|for|in|at) )?(?:the |a )?([^ §]+(?: [^ §]+){0,3}?) ` +
		`(?:is|was|` +
		`are|were|runs|ran|trains|trained|takes|took|needs|needed|requires|has|had|costs|adds|beats|wins|` +
		`outperforms|halves|reach\w*|achieve\w*|gives|gave|shows|saves|reduces|cuts|finishe\w+|we)\b`)
	trailing = regexp.MustCompile(`.* (?:than|over|as|of|with|for|to|against|is) (?:the |a )?` +
		`([^ §]+(?: [^ §]+){0,3})$`)
	noName = regexp.MustCompile(`\b(it|this|that|these|those|they|we|he|she|there|which|who|what|all|both|` +
		`each|one|our|its|training|time|speedup|efficiency|` +
		`accuracy|loss|before|is|was|are|were|and|or|as|than|` +
		`of|by|faster|slower)\b|^[\d.%x]+$|^.$`)
)

// unknownName returns the words that would make a sentence understood if they were the name of a row: those
// before the verb, those at the end, or the first of both; "": none.
func (c *court) unknownName() string {
	next := fmt.Sprintf("§%d", len(c.subjects))
	end := trailing.FindStringSubmatchIndex(c.words)
	if end != nil && noName.MatchString(c.words[end[2]:end[3]]) {
		end = nil
	}
	if end != nil {
		if words := c.words[:end[2]] + next; c.d.hasForm(withoutArticles(words)) {
			return c.words[end[2]:]
		}
	}
	m := leading.FindStringSubmatchIndex(c.words)
	if m == nil || noName.MatchString(c.words[m[4]:m[5]]) {
		return ""
	}
	name := c.words[m[4]:m[5]]
	for _, rest := range []string{c.words[m[5]:], ""} {
		if rest == "" {
			if end == nil || end[2] < m[5] {
				return ""
			}
			rest = c.words[m[5]:end[2]] + fmt.Sprintf("§%d", len(c.subjects)+1)
		}
		if c.d.hasForm(withoutArticles(next + rest)) {
			return name
		}
	}
	return ""
}

// tellingApart writes what tells rows of one name apart: the first column that differs, or their names.
func tellingApart(entries []*entry) string {
	t := entries[0].table
	for i, c := range t.columns {
		var texts []string
		for _, e := range entries {
			if text := t.rows[e.rows[0]][i].text; text != "" && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
		switch {
		case !c.identifies() || len(texts) < 2:
		case c.kind.isName():
			return list(texts)
		case c.kind == workers || c.kind == nodes || c.kind == threads:
			return list(texts) + " " + c.kind.plural()
		default:
			return c.name + " " + list(texts)
		}
	}
	return list(namesOf(entries))
}

// spelled returns a name as the text spells it.
func spelled(text, name string) string {
	lower := strings.ToLower(text)
	if at := strings.Index(lower, name); at >= 0 && len(lower) == len(text) {
		return text[at : at+len(name)]
	}
	return name
}
