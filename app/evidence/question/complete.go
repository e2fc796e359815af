package question

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/app/record"
)

// Complete gives a question that names a figure of the reference, and no bound, that figure to equal; one of
// [Parts], which are several, has it beside them. It refuses names that nothing has.
func Complete(asked *record.Inquiry) error {
	if asked == nil {
		return nil
	}
	for _, row := range asked.Reference.Rows {
		if name := row.Is.Unknown(); name != "" {
			return fmt.Errorf("reference, row %.60q: %s", row.Name, noSetting(name))
		}
		for name := range row.Derived {
			if _, isThere := row.Figures[name]; !isThere {
				return fmt.Errorf("reference, row %.60q: %.40q is derived and has no figure", row.Name, name)
			}
		}
		for name := range row.Figures {
			if _, _, isThere := asked.Reference.Figure(row.Name, name); !isThere {
				return fmt.Errorf("reference, row %.60q: %.40q is none of its columns", row.Name, name)
			}
		}
	}
	for i := range asked.Questions {
		q := &asked.Questions[i]
		for _, s := range append(slices.Clone(q.Over), q.Of) {
			if name := s.Unknown(); name != "" {
				return fmt.Errorf("question %.60q: %s", q.Ask, noSetting(name))
			}
		}
		isAsked := isKnown(q.Quantity) && (q.By == "" || isKnown(q.By))
		if q.Ask == "" || q.Of == nil || !isAsked {
			return fmt.Errorf("question %.60q: want ask, of (a row), and as quantity, and by, one of %s",
				q.Ask, strings.Join(append(quantities(), "loss-at-20"), ", "))
		}
		if len(q.Reference) == 0 {
			continue
		}
		figure, unit, isThere := asked.Reference.Beside(q.Reference)
		if !isThere {
			return fmt.Errorf("question %.60q: reference %.80q: want a row, one of its columns, and perhaps "+
				"a row to divide by", q.Ask, q.Reference)
		}
		if q.Equals == nil && q.Above == nil && q.Below == nil && q.Quantity != Parts {
			q.Equals = new(figure * Scale(unit))
		}
	}
	return nil
}

// noSetting says that a name is no setting of a row.
func noSetting(name string) string {
	return fmt.Sprintf("%.40q is no setting of a row in results.json (strategy, workers, batch, wire ...)",
		name)
}
