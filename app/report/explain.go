package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"text/tabwriter"

	"lockstep/app/explain"
)

// Explained is an explanation with its sentence, as explain.json holds it.
type Explained struct {
	*explain.Explanation
	Sentence string `json:"sentence"`
}

// ExplanationFile is the file of an explanation for machines.
const ExplanationFile = "explain.json"

// WriteExplained writes an explanation into a folder, which is made if need be.
func WriteExplained(folder string, e *explain.Explanation) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	text, err := json.MarshalIndent(Explained{e, Explain(e)}, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return replace(filepath.Join(folder, ExplanationFile), append(text, '\n'))
}

// Explain says in one sentence why one side takes longer than the other.
func Explain(e *explain.Explanation) string {
	direction := "longer"
	if e.DifferenceMS < 0 {
		direction = "less"
	}
	if !e.IsTold {
		return fmt.Sprintf("The steps of %s and of %s are not told apart: %s against %s ms.", e.B.Name,
			e.A.Name, millis(e.B.StepMS/1e3), millis(e.A.StepMS/1e3))
	}
	text := fmt.Sprintf("A step of %s takes %s ms %s than one of %s", e.B.Name,
		millis(math.Abs(e.DifferenceMS)/1e3), direction, e.A.Name)
	return text + because(e) + "."
}

// because words the culprit.
func because(e *explain.Explanation) string {
	for _, t := range e.Terms {
		if t.Name == e.Culprit {
			return fmt.Sprintf(", %s ms of it by %s", millis(math.Abs(t.MS)/1e3), t.Name)
		}
	}
	return ", and no single cause is told from the others"
}

// WriteExplanation writes the table of terms and the sentence for a terminal.
func WriteExplanation(w io.Writer, e *explain.Explanation) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "term\tms\tlow\thigh\tconfirmed\t\n")
	for _, term := range e.Terms {
		confirmed := ""
		if term.Confirmed != nil {
			confirmed = fmt.Sprint(*term.Confirmed)
		}
		fmt.Fprintf(t, "%s\t%.3f\t%.3f\t%.3f\t%s\t\n", term.Name, term.MS, term.Low, term.High, confirmed)
	}
	fmt.Fprintf(t, "residual\t%.3f\t\t\t\t\n", e.ResidualMS)
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", Explain(e))
	return err
}
