package bench

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/setting"
	"lockstep/internal/regular"
)

// Plan is the list of rows to run.
type Plan struct {
	Rows    []Row         `json:"rows"`
	Skipped []record.Skip `json:"skipped,omitempty"`
	Repeats int           `json:"repeats"`         // rounds of the row with most
	Asked   int           `json:"asked,omitempty"` // rounds before a budget cut them; 0: none did
	Seeds   []uint64      `json:"seeds,omitempty"` // of the rounds, in turn; none: the rows' own
	Copies  int           `json:"copies"`          // of each row, beside one another
	Order   uint64        `json:"order,omitempty"` // seed of that of the rows, see [compare.Order]

	// Precision is the relative half width of intervals up to which rounds are added; 0: none are.
	Precision float64 `json:"precision,omitempty"`

	Inquiry *record.Inquiry `json:"inquiry,omitempty"` // what the plan asks; nil: nothing
	Kept    float64         `json:"kept,omitempty"`    // seconds of its budget for runs that confirm causes
}

// Trial is one run of the schedule.
type Trial struct{ Round, Row int }

// Trials returns the order of the runs: every round visits all rows, in an order of its own and every second
// one in reverse, so that a drift of the machine's speed meets every row alike; see [compare.Order].
func (p Plan) Trials() []Trial { return p.from(0) }

// from returns the runs of a round and of those after it.
func (p Plan) from(round int) (trials []Trial) {
	for some := p.round(round); len(some) > 0; some = p.round(round) {
		trials = append(trials, some...)
		round++
	}
	return trials
}

// round returns the runs of a round in their order.
func (p Plan) round(round int) []Trial {
	var trials []Trial
	for _, row := range compare.Order(p.Order, round, p.blocks()) {
		if round < p.rounds(row) {
			trials = append(trials, Trial{Round: round, Row: row})
		}
	}
	return trials
}

// rounds returns the number of rounds of a row.
func (p Plan) rounds(row int) int { return cmp.Or(p.Rows[row].Rounds, p.Repeats) }

// seed returns the seed of a row in a round: a new one in each that is added, as seeds are independent.
func (p Plan) seed(t Trial) uint64 {
	if len(p.Seeds) == 0 {
		return p.Rows[t.Row].Seed
	} else if t.Round >= cmp.Or(p.Asked, p.Repeats) {
		return p.Seeds[0] + 1e6 + uint64(t.Round)
	}
	return p.Seeds[t.Round%len(p.Seeds)]
}

// groups returns the indices of the rows that are compared with one another.
func (p Plan) groups() [][]int { return gathered(p.blocks()) }

// gathered returns the indices of each number, in the order of the first ones.
func gathered(numbers []int) (all [][]int) {
	place := map[int]int{}
	for at, number := range numbers {
		i, isKnown := place[number]
		if !isKnown {
			i, place[number] = len(all), len(all)
			all = append(all, nil)
		}
		all[i] = append(all[i], at)
	}
	return all
}

// blocks returns the number of each row's group, in the order of their first rows.
func (p Plan) blocks() []int {
	blocks, known := make([]int, len(p.Rows)), map[string]int{}
	for i, r := range p.Rows {
		key := fmt.Sprint(r.Model, " ", r.Data, " ", r.Batch, " ", r.Condition.Name)
		if r.For != "" { // rows that train as long are compared with one another
			key += r.For
		}
		if r.PerWorker > 0 { // rows of several batches, which are compared by their samples per second
			key = fmt.Sprint(r.Model, " ", r.Data, " ", r.PerWorker, " each ", r.Condition.Name)
		}
		if _, isKnown := known[key]; !isKnown {
			known[key] = len(known)
		}
		blocks[i] = known[key]
	}
	return blocks
}

// records returns the rows of results without a run.
func (p Plan) records() []record.Row {
	var rows []record.Row
	blocks := p.blocks()
	for i, row := range p.Rows {
		rows = append(rows, record.Row{Setting: row.Setting(), Rounds: p.rounds(i), Block: blocks[i],
			Copy: i % p.Copies})
	}
	return rows
}

// skipped returns the note of a row that is left out.
func (r Row) skipped(reason string) record.Skip {
	return record.Skip{Model: r.Model, Workers: r.Workers, Reason: reason,
		Strategy: strings.Join(strings.Fields(strings.Join(append([]string{r.Strategy, r.Setting().Layout()},
			r.labels()...), " ")), " ")}
}

// PlanFile is the file of a benchmark's folder with the plan, by which the benchmark can be resumed.
const PlanFile = "plan.json"

// maxPlanBytes is a size that no plan has.
const maxPlanBytes = 64 << 20

// savedPlan is the content of plan.json.
type savedPlan struct {
	Schema int `json:"schema"`
	Plan
	Seconds float64 `json:"seconds,omitempty"` // that all sittings may take; 0: as long as they do
}

// savePlan writes the plan of a benchmark with absolute paths, so that it can be resumed from any folder.
func savePlan(folder string, p Plan, limit time.Duration) error {
	text, err := json.Marshal(savedPlan{record.Schema, p, limit.Seconds()})
	if err == nil {
		err = regular.Write(filepath.Join(folder, PlanFile), text)
	}
	if err != nil {
		return fmt.Errorf("bench: plan: %w", err)
	}
	return nil
}

// readBench reads the plan of a benchmark's folder, with its limit, and the results; nil if no run had ended.
// Each row is checked as [Expand] does. The error is a *setting.UsageError.
func readBench(folder string, k *setting.Catalog) (Plan, time.Duration, *record.Results, error) {
	var s savedPlan
	path := filepath.Join(folder, PlanFile)
	f, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("there is none, so it is no benchmark that can go on; want the folder of one")
	}
	if err == nil {
		defer f.Close()
		err = record.ReadJSON(io.LimitReader(f, maxPlanBytes), &s)
	}
	if err == nil {
		err = s.check(k)
	}
	if err != nil {
		return s.Plan, 0, nil, setting.Refuse("%s: %v", path, err)
	}
	r, err := report.Read(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r, err = nil, nil
	case err != nil:
	case r.IsChanged:
		err = fmt.Errorf("%s was changed after it was written", folder)
	case len(r.Rows) != len(s.Rows):
		err = fmt.Errorf("%s has %d rows, its plan %d", folder, len(r.Rows), len(s.Rows))
	}
	if err != nil {
		return s.Plan, 0, nil, setting.Refuse("%v", err)
	}
	return s.Plan, time.Duration(s.Seconds * float64(time.Second)), r, nil
}

// check refuses what no plan has. Its rows get the names that k has.
func (s *savedPlan) check(k *setting.Catalog) error {
	if s.Schema != record.Schema {
		return fmt.Errorf("schema %d, this program reads %d", s.Schema, record.Schema)
	}
	isCount := len(s.Rows) > 0 && len(s.Rows) <= record.MaxRows && s.Repeats >= 1 &&
		max(s.Repeats, s.Asked) <= record.MaxRounds && s.Copies >= 1 && s.Copies <= record.MaxRows
	isTime := s.Kept >= 0 && s.Kept <= s.Seconds && s.Seconds < 1e9
	if !isCount || !isTime || !(s.Precision >= 0 && s.Precision < 1) {
		return fmt.Errorf("%d rows, %d repeats, %d copies, precision %v, %v seconds: this is no plan",
			len(s.Rows), s.Repeats, s.Copies, s.Precision, s.Seconds)
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		r.Catalog = k
		err := r.Validate()
		if min(r.Rounds, r.Hosts, r.PerHost, r.Cores, r.PerWorker) < 0 || r.Resume != "" {
			err = errors.New("it resumes a run or counts below 0: this is no plan")
		}
		if err != nil {
			return fmt.Errorf("row %d (%s): %w", i+1, r.Name(), err)
		}
	}
	return nil
}
