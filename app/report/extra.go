package report

// Extra is a section that a caller adds to the report of a benchmark, behind those of its rows.
type Extra struct {
	ID, Title, Work string
	Findings        []string
	Tables          []ExtraTable
}

// ExtraTable is a table of an Extra; each row has a cell for each heading.
type ExtraTable struct {
	Title, Caption string
	Head           []string
	Rows           [][]string
}

// section returns the extra as a section of the page.
func (e Extra) section() section {
	s := section{ID: e.ID, Title: e.Title, Work: e.Work, Findings: e.Findings}
	for _, t := range e.Tables {
		made := table{Name: t.Title}
		for _, h := range t.Head {
			made.Head = append(made.Head, heading{Text: h})
		}
		for _, cells := range t.Rows {
			var r row
			for _, c := range cells {
				r.Cells = append(r.Cells, cell{Text: c})
			}
			made.Rows = append(made.Rows, r)
		}
		s.Tables = append(s.Tables, block{Title: t.Title, Caption: t.Caption, Table: made, IsOpen: true})
	}
	return s
}
