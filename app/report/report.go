package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"lockstep/app/record"
)

//go:embed template/report.html
var pageTemplate string

//go:embed template/style.css
var styleSheet string

// HTML writes the report as one page that needs nothing else: readable without network and
// without JavaScript, on a phone, in light and dark. Its content security policy allows its own
// style sheet, by hash, and nothing else.
func HTML(w io.Writer, r *record.Results) error {
	t, err := template.New("report").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("report: page template: %w", err)
	}
	p := newPage(r)
	p.Style = template.CSS(styleSheet)
	p.Policy = policy(styleSheet)
	if err := t.Execute(w, p); err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	return nil
}

// policy allows the one style sheet and denies every other source, form and base address.
func policy(style string) string {
	sum := sha256.Sum256([]byte(style))
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; "+
		"form-action 'none'", base64.StdEncoding.EncodeToString(sum[:]))
}
