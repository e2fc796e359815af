package claim

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// answer is the rule that refuses a sentence, and what would answer it.
type answer struct{ rule, text string }

// court is a sentence before the tables of a document.
type court struct {
	d        *Document
	t        *table
	subjects []*entry // that the sentence names, in order
	words    string   // with §0, §1 in place of the names

	isMeant func(*entry) bool // rows with the count that stands apart from the names; nil without one
	next    *court            // the second half of a sentence of two figures
}

// ruling is what a part of the grammar says about a sentence.
type ruling struct {
	verdict Verdict
	why     string
	answer  answer
}

// production is a form whose text was compiled.
type production struct {
	re    *regexp.Regexp
	judge judge
}

// language holds what is known of headings, sentences and reasons.
type language struct {
	headings    []pattern
	productions []production
	causes      []cause
}

func newLanguage() language { return language{patterns(), grammar(), causeList()} }

// outside is the reason for sentences that no production fits.
const outside = "outside the grammar"

// verdict judges a sentence; nil if it claims nothing that could be checked and is a heading or a fact.
func (d *Document) verdict(one sentence) (*Statement, answer) {
	text, plain := one.text, normal(withoutReason(one.text))
	s := &Statement{Text: text, Verdict: NotChecked, Why: outside}
	if isFact(text) || !strings.Contains(plain, " ") && plain != "converges" {
		return nil, answer{}
	}
	switch {
	case strings.HasSuffix(strings.TrimSpace(text), "?"):
		s.Why = "a question"
		return s, answer{}
	case isConditional(plain):
		s.Why = "a condition, wish or advice"
		return s, answer{}
	}
	r := hearing(d.courts(one, plain))
	if first, second, why := halves(plain); r.why == outside && first != "" {
		if r = hearing(d.courtsOfHalves(one, first, second)); r.verdict == Holds && why != "" {
			r = refused("wrong denominators", "%s", why)
		}
	}
	s.Verdict, s.Why = r.verdict, r.why
	if s.isUnknown = s.Why == outside; s.isUnknown {
		s.Why = cmp.Or(d.misnamed(text, plain), outside)
	}
	return s, r.answer
}

// hearing returns what the tables say of a sentence: the first ruling that decides, else the first reason why
// none does.
func hearing(courts [][]*court) ruling {
	forms := map[string]fit{}
	out := ruling{verdict: NotChecked, why: outside}
	for _, all := range courts {
		r, isUnderstood := decide(all, forms)
		if isUnderstood && (r.verdict != NotChecked || r.answer.rule != "") {
			return r
		}
		if isUnderstood && out.why == outside {
			out.why = r.why
		}
	}
	return out
}

// disagree is the rule of sentences that one table gives and another of the same part does not.
const disagree = "tables disagree"

// decide returns the first ruling of some tables that decides. If a table gives a sentence and another one of
// them something else, nothing is decided.
func decide(all []*court, forms map[string]fit) (r ruling, isUnderstood bool) {
	var by *court
	for _, c := range all {
		one, isKnown := c.rule(forms)
		switch {
		case !isKnown:
		case r.verdict == Holds && one.contradicts():
			why := fmt.Sprintf("the tables of this part disagree: table %d: %s; table %d: %s", by.t.number,
				r.why, c.t.number, one.why)
			const next = "each table below a heading of its own, with the sentences about it"
			return ruling{NotChecked, why, answer{disagree, next}}, true
		case !isUnderstood || r.verdict == NotChecked && one.verdict != NotChecked:
			r, by, isUnderstood = one, c, true
		}
		if r.verdict == Wrong {
			break
		}
	}
	return r, isUnderstood
}

// itIsNot ends the reason against a row that is no winner by its figures.
const itIsNot = ": it is not"

// contradicts reports whether figures give something else than the sentence, and not only that too few runs
// show it.
func (r ruling) contradicts() bool {
	switch r.answer.rule {
	case "wrong denominators", "total mixed with epoch", "accuracy", "Amdahl", "cause":
		return r.verdict == Wrong
	case "winner":
		return r.verdict == Wrong && strings.HasSuffix(r.why, itIsNot)
	}
	return false
}

// courts returns the tables that a sentence is judged by, those first that are to agree: those under its own
// heading that know a name in it, those of its own part that do, or else each of all, and none at last.
func (d *Document) courts(one sentence, plain string) [][]*court {
	title := one.title
	if title != "" && !d.isTitle(title) {
		title = ""
	}
	if m := answered.FindStringSubmatch(plain); m != nil && m[1] == title {
		plain = m[2]
	}
	heading := normal(one.section)
	var under, near []*court
	var all [][]*court
	for _, t := range d.tables {
		if title != "" && !t.isOf(title) {
			continue
		}
		c := d.hear(t, plain)
		if c == nil {
			continue
		}
		all = append(all, []*court{c})
		isNear := t.isOf(heading)
		if one.section == "" {
			isNear = t.heading == ""
		}
		if isNear && len(c.subjects) > 0 {
			near = append(near, c)
			if t.under == one.heading && one.heading != one.section {
				under = append(under, c)
			}
		}
	}
	if near != nil {
		all = [][]*court{under, near}
	}
	return append(all, []*court{d.hear(nil, plain)})
}

// isTitle reports whether a part of the document with a table has this title.
func (d *Document) isTitle(title string) bool {
	return slices.ContainsFunc(d.tables, func(t *table) bool { return t.isOf(title) })
}

// isOf reports whether a table belongs to the part of a document with a title: it is in it, or its caption
// names it behind a point, as in "Step time · lenet".
func (t *table) isOf(title string) bool {
	return t.heading == title || t.about != "" && strings.HasPrefix(t.about, title)
}

// fit is the first production that fits a sentence; judge is nil without one.
type fit struct {
	judge judge
	m     []string
}

// rule judges the sentence by the first production that fits; isUnderstood is false if none does. Tables that
// know no name in a sentence leave it the same, so forms remembers what fits which words.
func (c *court) rule(forms map[string]fit) (r ruling, isUnderstood bool) {
	f, isKnown := forms[c.words]
	if !isKnown {
		for _, p := range c.d.language.productions {
			if m := p.re.FindStringSubmatch(c.words); m != nil {
				f = fit{p.judge, m}
				break
			}
		}
		forms[c.words] = f
	}
	if f.judge == nil {
		return ruling{}, false
	}
	r = f.judge(c, f.m)
	if c.next == nil || r.verdict != Holds {
		return r, true
	}
	second, isUnderstood := c.next.rule(forms)
	if second.verdict == Holds {
		second.why = r.why + "; " + second.why
	}
	return second, isUnderstood
}

// conditional are words by which a sentence states nothing.
var conditional = regexp.MustCompile(`\b(if|would|could|might|may|should|shall|will|recommend|wish|goal|` +
	`hope|plan to)\b`)

// advice are words by which a sentence advises, unless its reason has them: "because of cache use".
var advice = regexp.MustCompile(`\b(use|choose|prefer|consider)\b`)

// because is how a reason begins.
var because = regexp.MustCompile(reason)

// isConditional reports whether a sentence is a condition, a wish or advice.
func isConditional(plain string) bool {
	said := plain
	if at := because.FindStringIndex(plain); at != nil && at[0] > 0 {
		said = plain[:at[0]]
	}
	return conditional.MatchString(plain) || advice.MatchString(said)
}

// isFact reports whether a sentence only says something about all rows.
func isFact(text string) bool {
	return (saysClasses.MatchString(text) || saysCores.MatchString(text) || saysRuns.MatchString(text)) &&
		!saysCompared.MatchString(text)
}

// negated are words that turn a sentence round; only forms that have them are understood with them.
var negated = regexp.MustCompile(`\b(not|no|never|neither|nor|hardly|without|cannot|fails?|isn't|` +
	`doesn't|nothing|nobody)\b`)

// What normal changes: marks and signs; "all-reduce" to "all reduce"; "1,024" to "1024"; "5 percent" to "5%";
// "2 times" to "2x"; words before what a sentence says ("We find that …") and behind it ("… in our setup").
var (
	markup = strings.NewReplacer("**", "", "__", "", "`", "", "×", "x", "–", "-", "—", " ", "’", "'",
		"“", "", "”", "", "\"", "", "(", " ", ")", " ", "≈", "", "~", "")
	hyphen   = regexp.MustCompile(`([a-z])[-/]([a-z])`)
	comma    = regexp.MustCompile(`(\d),(\d{3})\b`)
	percents = regexp.MustCompile(`(\d) ?(?:%|percent\b|per cent\b)`)
	timesX   = regexp.MustCompile(`(\d) ?(?:x|times|fold)\b`)
	opening  = regexp.MustCompile(`^(?:(?:overall|in total|therefore|thus|hence|so|clearly|here|then|we ` +
		`see that|as the table shows|the table shows that|in summary|also|and|but|moreover|in our ` +
		`tests?|as expected|the results show that|this shows that|we conclude that|in conclusion|our|` +
		`we (?:observed?|measured?|saw|see|found|find|obtain(?:ed)?|achieved?|got|get|noticed?)(?: that)?|` +
		`it can be seen that|note that|interestingly|surprisingly|for example|specifically|in particular|` +
		`on average|in our experiments?|in our setup|finally|however|furthermore|additionally) )+`)
	closing = regexp.MustCompile(`(?: (?:in (?:the|our|this|all|these) (?:table|test|tests|runs?|` +
		`experiments?|measurements?|cases?)|here|overall|in total|on average|on this machine|in our setup|` +
		`on our (?:machine|cluster|server)|see table \d+|as (?:shown|seen) in table \d+))+$`)
)

// italics are words between single asterisks or underscores that stand in no word.
var italics = regexp.MustCompile(`(^|[^\w*])\*([^*\s](?:[^*]*[^*\s])?)\*($|[^\w*])|` +
	`(^|[^\w])_([^_\s](?:[^_]*[^_\s])?)_($|[^\w])`)

// plainly returns a text without the marks of italics.
func plainly(text string) string {
	for strings.ContainsAny(text, "*_") && italics.MatchString(text) {
		text = italics.ReplaceAllString(text, "$1$2$3$4$5$6")
	}
	return text
}

// normal returns a sentence in lower case, with digits for numbers, without markup, commas and the full stop.
func normal(text string) string {
	s := plainly(markup.Replace(strings.ToLower(text)))
	s = comma.ReplaceAllString(s, "$1$2")
	s = strings.NewReplacer(", ", " ", ": ", " ", "speed-up", "speedup", "speed up", "speedup").Replace(s)
	for hyphen.MatchString(s) {
		s = hyphen.ReplaceAllString(s, "$1 $2")
	}
	fields := strings.Fields(strings.TrimRight(strings.TrimSpace(s), ".!;:,"))
	words := numberWords()
	for i, f := range fields {
		switch v, ok := words[strings.TrimRight(f, ",")]; {
		case ok && f != "one":
			fields[i] = num(v)
		case f == "twice":
			fields[i] = "2x"
		case f == "thrice":
			fields[i] = "3x"
		}
	}
	s = strings.Join(fields, " ")
	s = percents.ReplaceAllString(s, "$1%")
	s = timesX.ReplaceAllString(s, "${1}x")
	s = opening.ReplaceAllString(s, "")
	s = closing.ReplaceAllString(s, "")
	return strings.TrimSpace(s)
}

// put sets the sign of a row in place of its name; false: there are too many rows.
func (c *court) put(begin, end int, e *entry) bool {
	at := slices.Index(c.subjects, e)
	if at < 0 {
		at = len(c.subjects)
		c.subjects = append(c.subjects, e)
	}
	c.words = c.words[:begin] + fmt.Sprintf("§%d", at) + c.words[end:]
	return at <= 9
}

// articles before a name, and what may follow it.
var articles = regexp.MustCompile(`(?:\bthe |\ba |\busing |\bwith )?(§\d)(?:(?: strategy| row| run| ` +
	`configuration| setup| version| training| case| worker| process| node| baseline)\b)?`)

// withoutArticles returns words without what articles matches.
func withoutArticles(words string) string {
	if !strings.Contains(words, "§") {
		return words // most sentences name no row of most tables
	}
	return articles.ReplaceAllString(words, "$1")
}

// alias is a name of some rows.
type alias struct {
	text    string
	entries []*entry
}

// allAliases returns all names of the table's rows by their first word, the longest first.
func (t *table) allAliases() map[string][]alias {
	byText := map[string][]*entry{}
	add := func(text string, e *entry) {
		text = normal(text)
		if len(text) > 1 && !slices.Contains(byText[text], e) && !common(text) {
			byText[text] = append(byText[text], e)
		}
	}
	for _, e := range t.entries {
		add(e.ownLabel(), e)
		for i, c := range t.columns {
			if text := t.rows[e.rows[0]][i].text; text != "" {
				for _, name := range c.namesOf(text) {
					add(name, e)
				}
			}
		}
	}
	out := map[string][]alias{}
	for text, entries := range byText {
		first, _, _ := strings.Cut(text, " ")
		out[first] = append(out[first], alias{text, entries})
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b alias) int {
			return cmp.Or(len(b.text)-len(a.text), strings.Compare(a.text, b.text))
		})
	}
	return out
}

// namesOf returns how sentences may call a row by the text of its cell in the column: "wire int8" or
// "int8 wire", "2 workers".
func (c column) namesOf(text string) (out []string) {
	if !c.identifies() {
		return nil
	}
	if c.kind.isName() || c.kind == setting {
		out = append(out, otherNames(text)...)
	}
	if c.kind != label && c.kind != strategy {
		out = append(out, c.name+" "+text, text+" "+c.name, text+" "+strings.TrimSuffix(c.name, "s"),
			text+" "+c.kind.plural())
	}
	if c.kind == workers && text == "1" {
		out = append(out, "single worker", "one worker")
	}
	return out
}

// common reports whether a name is a word of the grammar, which would hide what a sentence says.
func common(text string) bool {
	if _, _, isNumber := parseNumber(text); isNumber {
		return true
	}
	return slices.Contains([]string{"the", "is", "fast", "faster", "fastest", "accuracy", "loss", "time",
		"yes", "no", "on", "off", "none", "and", "than", "network", "communication", "batch",
		"compression"}, text)
}

// plural is what a number of a kind counts.
func (k kind) plural() string {
	switch k {
	case workers:
		return "workers"
	case nodes:
		return "nodes"
	case threads:
		return "threads"
	case cores, hostCores:
		return "cores"
	}
	return "of them"
}

// otherNames returns a name, the name without what stands in brackets, that alone, and its other spellings.
func otherNames(text string) []string {
	out := []string{text}
	if before, rest, found := strings.Cut(text, "("); found {
		inside, _, _ := strings.Cut(rest, ")")
		out = append(out, before, inside)
	}
	if m := keyed.FindStringSubmatch(text); m != nil {
		out = append(out, m[1])
	}
	if before, _, found := strings.Cut(text, ","); found {
		out = append(out, before)
	}
	if bare, found := strings.CutPrefix(strings.ToLower(text), "with "); found {
		out = append(out, bare)
	}
	for _, one := range slices.Clone(out) {
		for _, same := range [][2]string{{"all reduce", "allreduce"},
			{"gather and scatter", "gather scatter"}, {"parameter server", "ps"},
			{"distributed data parallel", "ddp"}, {"single", "one process"}} {
			plain := normal(one)
			for i, name := range same {
				if plain == name {
					out = append(out, same[1-i])
				}
			}
		}
	}
	return out
}

// between is what may stand between two names of one row: "ddp with 4 workers".
var between = regexp.MustCompile(`^ ?(?:with|on|at|of|in|using|x|for)? ?(?:the )?$`)

// mention returns the first name in words and the rows that have it; none: there is no name. Names beside one
// another name the rows that they have in common.
func (t *table) mention(words string) (begin, end int, entries []*entry) {
	begin, end, entries = find(t.aliases, words, 0)
	if entries == nil {
		return 0, 0, nil
	}
	for {
		next, last, more := find(t.aliases, words, end)
		if more == nil || !between.MatchString(words[end:next]) {
			break
		}
		var both []*entry
		for _, e := range entries {
			if slices.Contains(more, e) {
				both = append(both, e)
			}
		}
		if len(both) == 0 {
			break
		}
		entries, end = both, last
	}
	return begin, end, entries
}

// find returns the first place from which on words holds a name as whole words, the longest there.
func find(all map[string][]alias, words string, from int) (begin, end int, entries []*entry) {
	for begin = from; begin < len(words); begin++ {
		if !isBoundary(words, begin) || words[begin] == ' ' {
			continue
		}
		first, _, _ := strings.Cut(words[begin:], " ")
		names := all[first]
		if owner, isOwner := strings.CutSuffix(first, "'s"); isOwner && names == nil {
			names = all[owner]
		}
		for _, a := range names {
			if end = begin + len(a.text); strings.HasPrefix(words[begin:], a.text) && isBoundary(words, end) {
				return begin, end, a.entries
			}
		}
	}
	return len(words), 0, nil
}

// isBoundary reports whether a word begins or ends at a place.
func isBoundary(s string, at int) bool {
	isWord := func(b byte) bool {
		return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b >= 0x80 || b == '%'
	}
	return at == 0 || at >= len(s) || !isWord(s[at-1]) || !isWord(s[at])
}
