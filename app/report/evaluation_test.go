package report_test

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/app/report"
)

// Ranks that never exchange have a row and a curve each; a single evaluation has a row alone.
func TestReportOfEvaluations(t *testing.T) {
	row := func(rank, seconds int) string {
		return fmt.Sprintf(`{"rank":%d,"steps":10,"epochs":1,"loss":2,"accuracy":0.25,"learning_rate":0.1,`+
			`"train_seconds":%d,"wall_seconds":%d}`, rank, seconds, seconds)
	}
	// A run with validation samples is evaluated on them while it trains, and on the test samples at its end.
	part := func(name string, seconds int) string {
		return strings.Replace(row(0, seconds), "{", fmt.Sprintf(`{"part":%q,`, name), 1)
	}
	for name, test := range map[string]struct {
		rows        []string
		has, hasNot string
	}{
		"ranks": {[]string{row(0, 1), row(1, 2), row(0, 3), row(1, 4)}, "1  rank 1", "all  test samples"},
		"validation": {[]string{part("validation", 1), part("validation", 3), part("test", 3)},
			"On all validation samples.", "On all test samples."},
		"loss of validation": {[]string{part("validation", 1), part("validation", 3), part("test", 3)},
			"validation samples</", "test samples</"},
		"one": {[]string{row(0, 1)}, `<td>0</td><td class="prose">test</td><td>2.0000</td><td>25.00` +
			`</td><td>0.100</td>`,
			"<svg"},
	} {
		training, err := readTraining(strings.NewReader(fmt.Sprintf(
			`{"workers":1,"evaluations":[%s]}`, strings.Join(test.rows, ","))), strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := report.Run(training).HTML(&b); err != nil {
			t.Fatal(err)
		}
		isBalanced(t, b.String())
		if page := b.String(); !strings.Contains(page, test.has) || strings.Contains(page, test.hasNot) {
			t.Errorf("%s: want %q and not %q in\n%s", name, test.has, test.hasNot, page)
		}
	}
}
