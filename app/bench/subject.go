package bench

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/rundir"
	"lockstep/app/setting"
)

// Subject is a row with the runs that a folder has of it, to be looked into and run again.
type Subject struct {
	Row    Row        // as it can be run again
	Record record.Row // with its runs
	Name   string     // of the row, which rows of another batch, data set or condition may share
	// Host is the machine of its runs, and Program the version; zero if their folder does not tell.
	Host    record.Machine
	Program string
	// Unfit says why it cannot be run again here; "": it can.
	Unfit string
}

// Subjects returns the rows of the benchmark in a folder, or the one of a training run. Each has a run that
// succeeded. The errors are *setting.UsageError, or those of a file.
func Subjects(folder string, k *setting.Catalog) ([]Subject, error) {
	if report.HoldsTraining(folder) {
		s, err := trained(folder, k)
		return []Subject{s}, err
	}
	r, err := report.Read(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, setting.Refuse("%s holds neither a benchmark nor a training run that has ended; give "+
			"the folder of either, or FOLDER#ROW for a row of a benchmark", folder)
	}
	if err != nil {
		return nil, setting.Refuse("%v; give a folder whose files are whole", err)
	}
	if r.IsChanged {
		return nil, setting.Refuse("%s was changed after it was written; nothing is made of it",
			filepath.Join(folder, report.ResultsFile))
	}
	plan, _, _, unplanned := readBench(folder, k)
	var all []Subject
	for i, row := range r.Rows {
		s := Subject{Record: row, Host: r.Host, Program: strings.TrimSpace(r.Version + " " + r.Revision)}
		set := row.Setting
		s.Name = fmt.Sprintf("%s %s %d×%d", set.Model, set.Strategy, set.Workers, set.Threads)
		if s.Unfit = fmt.Sprintf("its folder has no plan by which it could be run again: %v",
			unplanned); unplanned == nil {
			s.Row, s.Name = plan.Rows[i], plan.Rows[i].Name()
			s.Unfit = unfit(s.Row)
		}
		if r.Lab != "" || r.Hosts != nil {
			s.Unfit = "it ran on several hosts"
		}
		all = append(all, s)
	}
	return all, nil
}

// SubjectNamed returns the run or the row that a text names: FOLDER, FOLDER#ROW by the row's letter
// ([compare.Key]) or its number from 1, or by words of its name. It fails as [Subjects] does, and if it names
// no row or several.
func SubjectNamed(text string, k *setting.Catalog) (Subject, error) {
	folder, row, isRow := text, "", false
	at := strings.LastIndexByte(text, '#') // folders may have one in their names
	if _, err := os.Stat(text); err != nil && at >= 0 {
		folder, row, isRow = text[:at], text[at+1:], true
	}
	all, err := Subjects(folder, k)
	switch {
	case err != nil:
		return Subject{}, err
	case len(all) == 1 && !isRow:
		return all[0], nil
	}
	var found []Subject
	lines := ""
	for i, s := range all {
		if row == compare.Key(i) || row == strconv.Itoa(i+1) {
			return s, nil
		}
		if isNamed(s.Name, row) {
			found = append(found, s)
		}
		lines += fmt.Sprintf("\n  %s#%s  %s", folder, compare.Key(i), s.Name)
	}
	if len(found) == 1 && isRow {
		return found[0], nil
	}
	if !isRow {
		return Subject{}, setting.Refuse("%s has %d rows; want one of%s", text, len(all), lines)
	}
	return Subject{}, setting.Refuse("%s names %d of its rows; want one of%s", text, len(found), lines)
}

// isNamed reports whether every word of some text is a word of a name.
func isNamed(name, some string) bool {
	plain := strings.NewReplacer("x", "×", "+", " ")
	words := strings.Fields(plain.Replace(name))
	return !slices.ContainsFunc(strings.Fields(plain.Replace(some)), func(w string) bool {
		return !slices.Contains(words, w)
	})
}

// unfit says why a row cannot be run again for a look into it.
func unfit(r Row) string {
	switch {
	case r.Peer != "":
		return "another program runs it"
	case r.Replay != "":
		return "it repeats the updates of another run"
	}
	return ""
}

// trained returns the training run in a folder.
func trained(folder string, k *setting.Catalog) (s Subject, err error) {
	t, err := report.ReadTraining(folder)
	if err == nil && t.Workers < 1 {
		err = errors.New("a run without workers")
	}
	if err != nil {
		return s, setting.Refuse("%s: %v; give the folder of a run that has ended, or resume it: lockstep "+
			"train --resume %s", folder, err, folder)
	}
	if wrong := t.Changed(); wrong != nil {
		return s, setting.Refuse("%s was changed after it was written; nothing is made of it: %s", folder,
			wrong[0])
	}
	summary := &t.Summary
	c, err := setting.ReadFile(filepath.Join(folder, rundir.ConfigFile))
	if err != nil {
		return s, setting.Refuse("%v; give a folder whose files are whole", err)
	}
	c.Catalog, c.Out = k, folder
	s.Row = Row{Config: c}
	s.Name, s.Host = filepath.Base(folder), machineOf(t.Machine.Host)
	s.Record = record.Row{Setting: s.Row.Setting(), Runs: make([]record.Run, 1)}
	if err := collect(&s.Record.Runs[0], &s.Record, c, summary); err != nil {
		return s, setting.Refuse("%v; give a folder whose files are whole", err)
	}
	set := &s.Record.Setting
	set.Workers, set.Threads = summary.Workers, summary.Threads
	s.Unfit = unfit(s.Row)
	isElsewhere := func(r record.RankStat) bool { return r.Host != summary.Ranks[0].Host }
	if slices.ContainsFunc(summary.Ranks, isElsewhere) {
		s.Unfit = "it ran on several hosts"
	}
	if c.Resume != "" || summary.Resumed != nil {
		s.Unfit = cmp.Or(s.Unfit, "it was resumed")
	}
	return s, nil
}
