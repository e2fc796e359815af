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

	"lockstep/app/report/plot"
	"lockstep/internal/spelling"
)

//go:embed template/page.html
var pageTemplate string

//go:embed template/style.css
var pageStyle string

// writePage renders a page that needs nothing else: readable without network and without JavaScript, on a
// phone, in light and dark. Its content security policy allows its own style sheet, by hash, and nothing
// else. Characters that are not shown, such as those that turn the direction of text, become their numbers.
func writePage(w io.Writer, p page) error {
	words := template.FuncMap{"whole": whole, "once": sayOnce()}
	t, err := template.New("page").Funcs(words).Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("report: page template: %w", err)
	}
	style := plot.StyleSheet + pageStyle
	sum := sha256.Sum256([]byte(style))
	p.Style = template.CSS(style)
	p.Policy = fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'",
		base64.StdEncoding.EncodeToString(sum[:]))
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	if _, err := io.WriteString(w, spelling.PlainLines(b.String())); err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	return nil
}

// unbroken is what a sentence keeps on one line: a flag with the number behind it, an interval, a figure with
// its unit, or a name of two words with a hyphen. Browsers may break each of them.
var unbroken = regexp.MustCompile(`--[a-z][a-z-]{0,20}(?: [0-9]{1,6}\b)?|` +
	`[0-9.]{1,9}(?: %)?–[0-9.]{1,9}(?: %)?|[0-9.]{1,9} (?:%|(?:ms|s)\b)|\b[a-z]{2,10}-[a-z]{2,10}\b`)

// whole escapes a sentence and marks what stays on one line.
func whole(sentence string) template.HTML {
	return template.HTML(unbroken.ReplaceAllString(template.HTMLEscapeString(sentence),
		`<span class="flag">$0</span>`))
}
