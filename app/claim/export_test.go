package claim

// FormExamples returns the example of each form of the grammar.
func FormExamples() []string {
	var out []string
	for _, f := range forms() {
		out = append(out, f.example)
	}
	return out
}

// FirstForm returns the example of the form that judges a sentence by the tables of a document; "": no form
// fits.
func FirstForm(d *Document, sentence string) string {
	list := forms()
	for _, t := range d.tables {
		c := d.hear(t, normal(sentence))
		if c == nil {
			continue
		}
		for i, p := range d.language.productions {
			if p.re.MatchString(c.words) {
				return list[i].example
			}
		}
	}
	return ""
}

// HeadingExamples returns the example of each heading that columns are known by.
func HeadingExamples() []string {
	var out []string
	for _, h := range headings() {
		out = append(out, h.example)
	}
	return out
}

// FirstHeading returns the example of the first heading that a column's heading is like; "": none.
func FirstHeading(header string) string {
	words, _ := headingWords(header)
	list := headings()
	for i, p := range patterns() {
		if p.re.MatchString(words) {
			return list[i].example
		}
	}
	return ""
}
