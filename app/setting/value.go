package setting

// Value is the text of one setting, as a flag takes it.
type Value struct {
	Name  string `json:"name"`
	Text  string `json:"text"`
	Where string `json:"-"` // origin, for an error; "": the flag of this name
}

// With returns c with some settings changed, in order, and without looking at their combination. A length
// given anew replaces that of c, and a new number of workers opens what follows from it. Switches may have
// the text "". It fails with a *UsageError that has a line for each unknown name and each wrong text.
func (c Config) With(values []Value) (Config, error) {
	r := resolver{config: c, origins: Origins{}, settings: Settings(c.Catalog)}
	texts := map[string]string{}
	for _, v := range values {
		texts[v.Name] = v.Text
	}
	r.reopen(texts)
	for _, v := range values {
		if s := r.find(v.Name); s != nil && s.IsSwitch() && v.Text == "" {
			v.Text = "true"
		}
		if v.Where == "" {
			v.Where = "--" + v.Name
		}
		r.set(v.Name, v.Text, v.Where)
	}
	var problems []problem
	for _, p := range r.problems {
		problems = append(problems, problem{p.where, p.err})
	}
	return r.config, usageError(problems, func(where string) string { return where })
}
