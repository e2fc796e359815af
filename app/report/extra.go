package report

// Extra is a section that a caller adds to the report of a benchmark, behind those of its rows.
type Extra struct {
	ID, Title, Work string
	Findings        []string
	Facts           [][2]string // name and value, for the top of the page
	Tables          []ExtraTable
}

// ExtraTable is a table of an Extra; each row has a cell for each heading.
type ExtraTable struct {
	Title, Caption string
	Head           []string
	Rows           [][]string

	Places []Place // rows of the comparison that the last two cells of each row are from; nil: none
}

// Place is where a row is in an [compare.Comparison]. Row is negative for none.
type Place struct{ Group, Row int }

// section returns the extra as a section of a page, whose other sections hold the groups in their order.
func (e Extra) section(groups []section) section {
	s := section{ID: e.ID, Title: e.Title, Work: e.Work, Findings: e.Findings}
	for _, t := range e.Tables {
		made := table{Name: t.Title}
		for _, h := range t.Head {
			made.Head = append(made.Head, heading{Text: h})
		}
		for i, cells := range t.Rows {
			var r row
			for j, text := range cells {
				c := cell{Text: text}
				if t.Places != nil && t.Places[i].Row >= 0 && j >= len(cells)-2 {
					c.Link = groups[t.Places[i].Group].lines[t.Places[i].Row].raw
				}
				r.Cells = append(r.Cells, c)
			}
			made.Rows = append(made.Rows, r)
		}
		s.Tables = append(s.Tables, block{Title: t.Title, Caption: t.Caption, Table: made, IsOpen: true})
	}
	return s
}
