package report

import (
	"fmt"
	"strings"

	"lockstep/app/record"
	"lockstep/app/report/plot"
)

// scoreTables lists the figures of each class, and the mistakes that are made most often.
func scoreTables(s *record.Scores) []block {
	if s == nil {
		return nil
	}
	type score = record.ClassScore
	share := func(name string, of func(score) record.Number) column[score] {
		return col(name, "", func(c score) string { return fixed(float64(of(c)), 3) })
	}
	type mistake = record.Mistake
	return filled(block{Title: "Classes", IsOpen: len(s.Classes) <= 20, Caption: "Precision: part of the " +
		"samples predicted to be of the class that are. Recall: part of its samples that were found. F1: " +
		"their harmonic mean. The areas compare the class with the rest.",
		Table: tableOf("Classes", s.Classes,
			col("class", "", func(c score) string { return c.Class }),
			col("samples", "", func(c score) string { return fmt.Sprint(c.Samples) }),
			col("predicted", "", func(c score) string { return fmt.Sprint(c.Predicted) }),
			share("precision", func(c score) record.Number { return c.Precision }),
			share("recall", func(c score) record.Number { return c.Recall }),
			share("F1", func(c score) record.Number { return c.F1 }),
			share("area under ROC", func(c score) record.Number { return c.ROCAUC }),
			share("average precision", func(c score) record.Number { return c.AveragePrecision }))},
		block{Title: "Most frequent mistakes", Caption: "Samples count the rows of their file, from 0.",
			Table: tableOf("Mistakes", s.Worst,
				col("class", "", func(m mistake) string { return m.Class }),
				col("taken for", "", func(m mistake) string { return m.Predicted }),
				col("samples", "", func(m mistake) string { return fmt.Sprint(m.Count) }),
				col("such as", "", func(m mistake) string {
					return strings.Trim(fmt.Sprint(m.Examples), "[]")
				}))})
}

// confusionFigure draws which classes are taken for which.
func confusionFigure(s *record.Scores) figure {
	if s == nil || len(s.Confusion) < 2 {
		return figure{}
	}
	m := plot.Matrix{Rows: "class", Columns: "predicted"}
	for k, row := range s.Confusion {
		m.Names = append(m.Names, s.Classes[k].Class)
		counts := make([]float64, len(row))
		for i, n := range row {
			counts[i] = float64(n)
		}
		m.Values = append(m.Values, counts)
	}
	return figure{plot.Head{ID: "confusion", Title: "What is taken for what"},
		"Samples of each class, by what was predicted: shades are parts of the row.", m}
}

// addScores adds the means over classes.
func (f *facts) addScores(s *record.Scores) {
	if s == nil {
		return
	}
	f.add("classes", "F1 %s as plain mean, %s weighted by samples; balanced accuracy %.2f %%; area under "+
		"ROC %s; calibration error %s", fixed(float64(s.MacroF1), 3), fixed(float64(s.WeightedF1), 3),
		100*float64(s.BalancedAccuracy), fixed(float64(s.ROCAUC), 3), fixed(float64(s.CalibrationError), 3))
}

// neverPredicted says which classes with samples no sample was predicted to be of, and what would have chosen
// other weights if something chose; "" if there are none.
func neverPredicted(s *record.Scores, chosen *record.Best) string {
	if s == nil {
		return ""
	}
	hint := ""
	if chosen != nil && chosen.By != "macro-f1" {
		hint = "; --best-by macro-f1 chooses by all classes alike"
	}
	var names []string
	for _, c := range s.Classes {
		if c.Samples > 0 && c.Predicted == 0 {
			names = append(names, c.Class)
		}
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf("Never predicted: %s%s. The accuracy comes from the other classes.", listed(names),
		hint)
}
