package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/setting"
	"lockstep/internal/regular"
)

// PlanFile is the file of a benchmark's folder with the plan, by which the benchmark can be resumed.
const PlanFile = "plan.json"

// maxPlanBytes is a size that no plan has.
const maxPlanBytes = 64 << 20

// savedPlan is the content of plan.json.
type savedPlan struct {
	Schema    int           `json:"schema"`
	Rows      []savedRow    `json:"rows"`
	Skipped   []record.Skip `json:"skipped,omitempty"`
	Repeats   int           `json:"repeats"`
	Asked     int           `json:"asked,omitempty"` // repeats before a budget cut them; 0: none did
	Seeds     []uint64      `json:"seeds,omitempty"`
	Copies    int           `json:"copies"`
	Order     uint64        `json:"order,omitempty"`
	Precision float64       `json:"precision,omitempty"`
	Seconds   float64       `json:"seconds,omitempty"` // that all sittings may take; 0: as long as they do
}

// savedRow is a [Row] of plan.json.
type savedRow struct {
	Config    setting.Config `json:"config"`
	Options   string         `json:"options,omitempty"`
	Condition string         `json:"condition,omitempty"` // as ParseCondition takes it
	Rounds    int            `json:"rounds,omitempty"`
	PerWorker int            `json:"per_worker,omitempty"`
	Hosts     int            `json:"hosts,omitempty"`
	PerHost   int            `json:"per_host,omitempty"`
	Cores     int            `json:"cores,omitempty"`
	Peer      string         `json:"peer,omitempty"`
}

// savePlan writes the plan of a benchmark with absolute paths, so that it can be resumed from any folder.
func savePlan(folder string, p Plan, limit time.Duration) error {
	s := savedPlan{Schema: record.Schema, Skipped: p.Skipped, Repeats: p.Repeats, Asked: p.Asked,
		Seeds: p.Seeds, Copies: p.Copies, Order: p.Order, Precision: p.Precision, Seconds: limit.Seconds()}
	for _, r := range p.Rows {
		s.Rows = append(s.Rows, savedRow{r.Rooted(), r.Options, r.Condition.Name, r.Rounds, r.PerWorker,
			r.Hosts, r.PerHost, r.Cores, r.Peer})
	}
	text, err := json.Marshal(s)
	if err == nil {
		err = regular.Replace(filepath.Join(folder, PlanFile), func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("bench: plan: %w", err)
	}
	return nil
}

// IsSavedPlan reports whether a file is the plan of a benchmark, by which that can be resumed.
func IsSavedPlan(path string) bool {
	f, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var s struct {
		Schema int               `json:"schema"`
		Rows   []json.RawMessage `json:"rows"`
	}
	err = record.ReadJSON(io.LimitReader(f, maxPlanBytes), &s)
	return err == nil && s.Schema > 0 && len(s.Rows) > 0
}

// readPlan reads what savePlan wrote. Each row is checked as [Expand] does. The error is a
// *setting.UsageError.
func readPlan(folder string, k *setting.Catalog) (Plan, time.Duration, error) {
	path := filepath.Join(folder, PlanFile)
	f, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Plan{}, 0, usage("%s has no %s, so it is no benchmark that can go on; want the "+
			"folder of one", folder, PlanFile)
	}
	if err != nil {
		return Plan{}, 0, usage("%v", err)
	}
	defer f.Close()
	var s savedPlan
	if err := record.ReadJSON(io.LimitReader(f, maxPlanBytes), &s); err != nil {
		return Plan{}, 0, usage("%s: %v", path, err)
	}
	if s.Schema != record.Schema {
		return Plan{}, 0, usage("%s has schema %d, this program reads %d", path, s.Schema, record.Schema)
	}
	p, err := s.plan(k)
	if err != nil {
		return Plan{}, 0, usage("%s: %v", path, err)
	}
	return p, time.Duration(s.Seconds * float64(time.Second)), nil
}

// plan returns the plan that was saved.
func (s savedPlan) plan(k *setting.Catalog) (Plan, error) {
	isCount := len(s.Rows) > 0 && len(s.Rows) <= record.MaxRows && s.Repeats >= 1 &&
		s.Repeats <= record.MaxRounds && s.Copies >= 1 && s.Copies <= record.MaxRows
	if !isCount || !(s.Seconds >= 0 && s.Seconds < 1e9) || !(s.Precision >= 0 && s.Precision < 1) {
		return Plan{}, fmt.Errorf("%d rows, %d repeats, %d copies, precision %v, %v seconds: this is no plan",
			len(s.Rows), s.Repeats, s.Copies, s.Precision, s.Seconds)
	}
	p := Plan{Skipped: s.Skipped, Repeats: s.Repeats, Asked: min(s.Asked, record.MaxRounds), Seeds: s.Seeds,
		Copies: s.Copies, Order: s.Order, Precision: s.Precision}
	for i, r := range s.Rows {
		row := Row{Config: r.Config, Options: r.Options, Rounds: r.Rounds, PerWorker: r.PerWorker,
			Layout: Layout{r.Hosts, r.PerHost}, Cores: r.Cores, Peer: r.Peer}
		row.Catalog = k
		if r.Condition != "" {
			var err error
			if row.Condition, err = ParseCondition(r.Condition); err != nil {
				return Plan{}, err
			}
		}
		if err := r.check(); err != nil {
			return Plan{}, fmt.Errorf("row %d (%s): %w", i+1, row.Name(), err)
		}
		if err := row.Validate(); err != nil {
			return Plan{}, fmt.Errorf("row %d (%s): %w", i+1, row.Name(), err)
		}
		p.Rows = append(p.Rows, row)
	}
	return p, nil
}

// check refuses what no row of a plan has.
func (r savedRow) check() error {
	for what, n := range map[string]int{"rounds": r.Rounds, "hosts": r.Hosts, "per_host": r.PerHost,
		"cores": r.Cores, "per_worker": r.PerWorker} {
		if n < 0 {
			return fmt.Errorf("%d %s, want 0 or more", n, what)
		}
	}
	if r.Config.For != "" {
		return fmt.Errorf("it is to train for %s, but rows of a benchmark have a number of steps or epochs",
			r.Config.For)
	}
	if r.Config.Resume != "" {
		return fmt.Errorf("it resumes the run in %s, which no benchmark does", r.Config.Resume)
	}
	return nil
}

// readResults reads the results of an interrupted benchmark and checks that they are of the plan's rows; nil
// without results, because no run had ended.
func readResults(folder string, p Plan) (*record.Results, error) {
	r, err := report.Read(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, usage("%v", err)
	}
	if broken := r.Broken(); len(broken) > 0 {
		return nil, usage("%s was changed after it was written: %s", folder, broken[0])
	}
	if len(r.Rows) != len(p.Rows) {
		return nil, usage("%s has %d rows, its plan %d", folder, len(r.Rows), len(p.Rows))
	}
	for i, row := range p.Rows {
		if what := differs(row.setting(), r.Rows[i].Setting); what != "" {
			return nil, usage("row %d of %s was measured with another %s than its plan has (%s)",
				i+1, folder, what, row.Name())
		}
	}
	return r, nil
}

// differs names a setting that was asked for and is not that of a row; "" if all agree. What runs resolve
// themselves is left out.
func differs(asked, ran record.Setting) string {
	asked.Algorithm, asked.Link, asked.Wire = ran.Algorithm, ran.Link, ran.Wire
	asked.IsLossy, asked.Inexact = ran.IsLossy, ran.Inexact
	asked.Generated, asked.Classes = ran.Generated, ran.Classes
	asked.Threads, asked.Shards = ran.Threads, ran.Shards
	if filepath.IsAbs(asked.Data) && filepath.Base(asked.Data) == filepath.Base(ran.Data) {
		asked.Data = ran.Data // it was given by a relative path
	}
	a, b := reflect.ValueOf(asked), reflect.ValueOf(ran)
	for i := range a.NumField() {
		if a.Field(i).Interface() != b.Field(i).Interface() {
			name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
			return name
		}
	}
	return ""
}

// freeDirectory returns path, or the first of path-2, path-3 and so on that does not exist: what an
// interrupted or a disturbed run has left stays.
func freeDirectory(path string) string {
	free := path
	for i := 2; ; i++ {
		if _, err := os.Lstat(free); errors.Is(err, os.ErrNotExist) {
			return free
		}
		free = fmt.Sprintf("%s-%d", path, i)
	}
}
