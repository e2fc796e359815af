package analysis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/app/record"
	"lockstep/app/strategy"
)

// addsRuns says if the runs do not fit into the time of the benchmark. Sittings may have been on machines
// whose clocks differ.
func addsRuns(r *record.Results) []string {
	const slack = time.Second // by which a clock may be set
	if len(r.Sittings) > 1 || r.Seconds == 0 && r.Seal == "" {
		return nil
	}
	sum := 0.0
	end := r.Started.Add(time.Duration(r.Seconds * float64(time.Second)))
	for i, row := range r.Rows {
		for _, run := range slices.Concat(row.Runs, row.Replaced) {
			sum += run.Wall
			ended := run.Started.Add(time.Duration(run.Wall * float64(time.Second)))
			if run.Started.Add(slack).Before(r.Started) || ended.After(end.Add(slack)) {
				return one("Row %d, round %d ran from %s to %s, the benchmark from %s to %s.", i+1,
					run.Round+1, clock(run.Started), clock(ended), clock(r.Started), clock(end))
			}
		}
	}
	if sum > r.Seconds*(1+1e-6)+1e-3 {
		return one("The runs took %.6g s together, the benchmark %.6g s.", sum, r.Seconds)
	}
	return nil
}

// clock writes a time of day with its date.
func clock(t time.Time) string { return t.UTC().Format(time.DateTime) }

// hasRounds says if the benchmark had another number of rounds than its command asks for, although there was
// neither a budget that cuts rounds nor a precision that adds some.
func hasRounds(r *record.Results) []string {
	asked := 0
	for _, arg := range r.Command {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "--budget", "--precision", "--resume":
			return nil
		case "--repeats":
			asked, _ = strconv.Atoi(value) // 0 if it is no number
		}
	}
	if asked == 0 || asked == r.Rounds || r.Precision > 0 {
		return nil
	}
	return one("The command asks for %d rounds, the results are of %d.", asked, r.Rounds)
}

// addsBytes says if the ranks of a run sent or received more bytes in their steps than the run. Evaluations,
// and servers apart, add some to those of the run.
func addsBytes(_ *record.Row, run *record.Run) string {
	sent, received := 0.0, 0.0
	for _, rank := range run.Ranks {
		sent, received = sent+sumOf(rank.Steps.Sent), received+sumOf(rank.Steps.Received)
	}
	switch {
	case sent > float64(run.BytesSent):
		return fmt.Sprintf("its ranks sent %.0f bytes in their steps, the run %d.", sent, run.BytesSent)
	case received > float64(run.BytesReceived):
		return fmt.Sprintf("its ranks received %.0f bytes in their steps, the run %d.", received,
			run.BytesReceived)
	}
	return ""
}

// fitsCores says if the ranks used more processor time than the cores have. It is asked of ranks that take
// each step together. Systems count in ticks.
func fitsCores(r *record.Results, row *record.Row, run *record.Run) string {
	const (
		slack = 1.25
		ticks = 0.05 // seconds
	)
	s := row.Setting
	cores := max(r.Host.Cores, s.Cores)
	if r.Hosts != nil {
		cores = max(cores, s.NumThreads())
	}
	if s.Peer != "" || strategy.Named(s.Strategy).IsLoose() || r.Host.Cores == 0 || len(r.Sittings) > 1 {
		return ""
	}
	used, longest := 0.0, 0.0
	for _, rank := range run.Ranks {
		if len(rank.Steps.Usage) == 0 {
			return ""
		}
		used, longest = used+sumOf(rank.Steps.CPU), max(longest, sumOf(rank.Steps.Usage))
	}
	if used <= slack*float64(cores)*longest+ticks {
		return ""
	}
	return fmt.Sprintf("its ranks used %.4g s of processor time in %.4g s, and there are %d cores.", used,
		longest, cores)
}

// haveOwnTimes says if the steps of two ranks took equally long to the last digit.
func haveOwnTimes(_ *record.Row, run *record.Run) string {
	for i, rank := range run.Ranks {
		for _, other := range run.Ranks[:i] {
			if a := rank.Steps.Seconds; len(a) > enoughSteps && slices.Equal(a, other.Steps.Seconds) {
				return fmt.Sprintf("the steps of rank %d took as long as those of rank %d to the last "+
					"digit: copied, not measured.", rank.Rank, other.Rank)
			}
		}
	}
	return ""
}
