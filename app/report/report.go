package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"regexp"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report/plot"
)

//go:embed template/page.html
var pageTemplate string

//go:embed template/style.css
var pageStyle string

// HTML writes the report as one page that needs nothing else: readable without network and
// without JavaScript, on a phone, in light and dark. Its content security policy allows its own
// style sheet, by hash, and nothing else.
func HTML(w io.Writer, r *record.Results) error { return writePage(w, newPage(r, compare.Compare(r))) }

// writePage renders a page. Characters that are not shown, such as those that turn the direction of text,
// become their numbers.
func writePage(w io.Writer, p page) error {
	known := template.FuncMap{"flags": flags, "headline": headline}
	t, err := template.New("page").Funcs(known).Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("report: page template: %w", err)
	}
	style := plot.StyleSheet + pageStyle
	p.Style, p.Policy = template.CSS(style), policy(style)
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	if _, err := io.WriteString(w, compare.PlainLines(b.String())); err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	return nil
}

// inFlag is a flag of a command in a sentence, with a number behind it if there is one; inFigure an
// interval, a figure with its unit, or a name of two words with a hyphen.
const (
	inFlag   = `--[a-z][a-z-]{0,20}(?: [0-9]{1,6}\b)?`
	inFigure = `[0-9.]{1,9}(?: %)?–[0-9.]{1,9}(?: %)?|[0-9.]{1,9} (?:%|(?:ms|s)\b)|` +
		`\b[a-z]{2,10}-[a-z]{2,10}\b`
)

var (
	flagText     = regexp.MustCompile(inFlag)
	headlineText = regexp.MustCompile(inFlag + "|" + inFigure)
)

// flags escapes a sentence and keeps each flag in it on one line: browsers may break it behind its dashes.
func flags(sentence string) template.HTML { return whole(sentence, flagText) }

// headline is flags for the sentences in large letters, where a line holds so few words that figures and
// names would be broken too.
func headline(sentence string) template.HTML { return whole(sentence, headlineText) }

// whole escapes a sentence and keeps what matches on one line.
func whole(sentence string, match *regexp.Regexp) template.HTML {
	return template.HTML(match.ReplaceAllString(template.HTMLEscapeString(sentence),
		`<span class="flag">$0</span>`))
}

// policy allows the one style sheet and denies every other source, form and base address.
func policy(style string) string {
	sum := sha256.Sum256([]byte(style))
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; "+
		"form-action 'none'", base64.StdEncoding.EncodeToString(sum[:]))
}
