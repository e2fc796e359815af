package analysis

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"lockstep/app/record"
	"lockstep/app/strategy"
)

// balancesBytes says if the bytes of a run do not fit together: what some send others receive, without a
// compression as many bytes travel as there are, and no process sends and receives more than all do.
func balancesBytes(row *record.Row, run *record.Run) string {
	const part = 0.01 // that may be on its way at the end
	sent, received := float64(run.BytesSent), float64(run.BytesReceived)
	c := configOf(run)
	isPlain := c["wire"] == plainWire && c["outer-wire"] == plainWire && row.Setting.Wire == ""
	switch {
	case math.Abs(sent-received) > part*max(sent, received):
		return fmt.Sprintf("its processes sent %d bytes to one another, and received %d.", run.BytesSent,
			run.BytesReceived)
	case isPlain && run.BytesVectors != 0 && run.BytesVectors != run.BytesSent:
		return fmt.Sprintf("it sent %d bytes, and without compression %d, although nothing was compressed.",
			run.BytesSent, run.BytesVectors)
	case run.BusiestBytes > run.BytesSent+run.BytesReceived:
		return fmt.Sprintf("its busiest process sent and received %d bytes, all together %d.",
			run.BusiestBytes, run.BytesSent+run.BytesReceived)
	case run.ServerBytes > run.BusiestBytes:
		return fmt.Sprintf("its busiest server sent and received %d bytes, its busiest process %d.",
			run.ServerBytes, run.BusiestBytes)
	}
	if text := sendsInSteps(row, run); text != "" {
		return text
	}
	for _, rank := range run.Ranks {
		own := sumOf(rank.Steps.Sent) + sumOf(rank.Steps.Received)
		if run.BusiestBytes != 0 && own > float64(run.BusiestBytes) {
			return fmt.Sprintf("rank %d sent and received %.0f bytes in its steps, the busiest process %d.",
				rank.Rank, own, run.BusiestBytes)
		}
	}
	return ""
}

// sendsInSteps says if the steps of workers that exchange all gradients in them sent much less than the run.
func sendsInSteps(row *record.Row, run *record.Run) string {
	const most = 0.95
	s, c := row.Setting, configOf(run)
	isByWorkers := strategy.Named(s.Strategy).Exchange == strategy.Gradients // servers send too
	isBehind := c["overlap-forward"] == true || c["shard-optimizer"] == true // an end of it follows the step
	if !isByWorkers || s.Options != "" || isBehind || run.Steps < enoughSteps {
		return ""
	}
	sent := 0.0
	for _, rank := range run.Ranks {
		if len(rank.Steps.Sent) == 0 {
			return ""
		}
		sent += sumOf(rank.Steps.Sent)
	}
	const few = 1 << 20 // bytes of starting, evaluations and the end
	if sent > 0 && sent < most*float64(run.BytesSent)-few {
		return fmt.Sprintf("its ranks sent %.0f bytes in their steps, the run %d.", sent, run.BytesSent)
	}
	return ""
}

// fitsMemory says if the ranks of a run had more memory than the run, or than their machine has.
func fitsMemory(r *record.Results, row *record.Row, run *record.Run) string {
	sum := 0.0
	for _, rank := range run.Ranks {
		most := 0.0
		for _, v := range rank.Steps.RSS {
			most = max(most, v)
		}
		isOne := row.Setting.Link == "local" || row.Setting.Peer != "" // ranks of one process have its memory
		if sum += most; isOne {
			sum = most
		}
		if all := float64(r.Host.MemoryBytes); r.Hosts == nil && r.Sittings == nil && all > 0 && most > all {
			return fmt.Sprintf("rank %d had %.3g MB of memory, the machine has %.3g.", rank.Rank, most/1e6,
				all/1e6)
		}
	}
	// Other systems tell what a process has at its end, not the most that it had.
	isPeak := r.Host.OS == "" || r.Host.OS == "linux"
	if sum > float64(run.PeakRSSBytes) && row.Setting.Peer == "" && isPeak {
		return fmt.Sprintf("its ranks had %.6g MB of memory in their steps, the run %.6g MB.", sum/1e6,
			float64(run.PeakRSSBytes)/1e6)
	}
	return ""
}

// averagesLoss says if the loss of a step is not the mean of what its ranks tell of their own shards, or if
// these are not the shards of the row. It is asked of whole batches of equal shards.
func averagesLoss(row *record.Row, run *record.Run) string {
	s, c := row.Setting, configOf(run)
	if !isJoint(row) || c["accumulate"] != 1.0 || c.isGrowing() ||
		c["backup-workers"] != 0.0 || s.Shards == 0 || s.Batch%s.Shards != 0 || len(run.Ranks) == 0 {
		return ""
	}
	for i, n := range run.Ranks[0].Steps.Samples {
		sum, shards := 0.0, 0
		if n > s.Batch {
			return fmt.Sprintf("step %d trained on %d samples, and the row has a batch of %d.", i+1, n,
				s.Batch)
		}
		for _, rank := range run.Ranks {
			if i >= len(rank.Steps.Shards) || n != s.Batch {
				return ""
			}
			if k := rank.Steps.Shards[i]; k > 0 {
				sum, shards = sum+float64(k)*rank.Steps.OwnLoss[i], shards+k
			}
		}
		if shards != s.Shards {
			return fmt.Sprintf("its ranks computed %d shards in step %d, the row has %d.", shards, i+1,
				s.Shards)
		}
		all, mean := run.Ranks[0].Steps.Loss[i], sum/float64(shards)
		if math.Abs(all-mean) > 1e-4*math.Abs(mean)+1e-6 || math.IsNaN(all) != math.IsNaN(mean) {
			return fmt.Sprintf("step %d had a loss of %.6g, its ranks one of %.6g on average.", i+1, all,
				mean)
		}
	}
	return ""
}

// waits says if workers that exchange in every step never waited for it, as the time was moved elsewhere, or
// hid more of it in a step than the step took.
func waits(row *record.Row, run *record.Run) string {
	const hides = 1.5 // of a step: one exchange runs at a time, and their ends may be counted twice
	s := row.Setting
	if s.Workers < 2 || !strategy.Named(s.Strategy).IsJoint() || s.Peer != "" || s.Options != "" {
		return ""
	}
	for _, rank := range run.Ranks {
		values := rank.Steps.Phases["sync_exposed"]
		if len(values) >= enoughSteps && sumOf(values) == 0 {
			return fmt.Sprintf("rank %d exchanged gradients in %d steps and never waited for it.", rank.Rank,
				len(values))
		}
		if step := Mean(rank.Steps.Seconds); rank.Hidden != nil && *rank.Hidden > hides*step {
			return fmt.Sprintf("a step of rank %d took %s on average, and hid %s of communication.",
				rank.Rank, ms(step), ms(*rank.Hidden))
		}
	}
	return ""
}

// countsEpochs says if the complete epochs of a run are of different lengths, or begin elsewhere than where
// the former one ended.
func countsEpochs(row *record.Row, run *record.Run) string {
	if sharesSteps(row) || len(run.Ranks) == 0 || row.Setting.Peer != "" {
		return ""
	}
	s := run.Ranks[0].Steps
	var samples []int
	for i, e := range s.Epoch {
		switch {
		case e == len(samples):
			samples = append(samples, 0)
		case e < 0 || e != len(samples)-1:
			return fmt.Sprintf("step %d is of epoch %d, the one before it of epoch %d.", i+1, e+1,
				len(samples))
		}
		samples[e] += s.Samples[i]
	}
	last := len(samples) - 1
	for e, n := range samples {
		if isWhole := e < last; isWhole && n != samples[0] || n > samples[0] {
			return fmt.Sprintf("epoch %d has %d samples, epoch 1 has %d.", e+1, n, samples[0])
		}
	}
	c := configOf(run)
	if limit, _ := c["limit-train"].(float64); limit > 0 && last >= 0 && float64(samples[0]) > limit {
		return fmt.Sprintf("epoch 1 has %d samples, and it was run with limit-train %.0f.", samples[0], limit)
	}
	return ""
}

// fitsEvaluations says if evaluations are not in the order of their steps, behind the end of the run, or
// under other settings than those of the run.
func fitsEvaluations(row *record.Row, run *record.Run) string {
	c, steps := configOf(run), map[int]int{}
	if c == nil || row.Setting.Peer != "" {
		return ""
	}
	limit, _ := c["limit-test"].(float64)
	if limit > 0 && float64(run.TestSamples) > limit {
		return fmt.Sprintf("it was evaluated on %d samples, and run with limit-test %.0f.", run.TestSamples,
			limit)
	}
	if n := len(run.Evaluations); n > 0 && isJoint(row) && run.TestAccuracy != nil &&
		run.Evaluations[n-1].Steps != run.Steps {
		return fmt.Sprintf("it was evaluated last after %d steps, and did %d.", run.Evaluations[n-1].Steps,
			run.Steps)
	}
	per := stepsPerEpoch(row, run)
	if c.isGrowing() {
		per = 0 // of the first epoch alone
	}
	isConstant := c["schedule"] == "constant" && c["warmup"] == 0.0 && c["scale-lr"] == "" &&
		c["groups"] == "" && c["staleness-rate"] == false
	for _, e := range run.Evaluations {
		switch {
		case e.Rank < 0 || e.Rank >= row.Setting.Workers:
			return fmt.Sprintf("rank %d evaluated, the row has %d workers.", e.Rank, row.Setting.Workers)
		case e.Steps < steps[e.Rank] || e.Steps > run.Steps:
			return fmt.Sprintf("it was evaluated after %d steps, behind %d, and did %d.", e.Steps,
				steps[e.Rank], run.Steps)
		case isConstant && e.Rate != 0 && e.Rate != row.Setting.LR:
			return fmt.Sprintf("it was evaluated at a learning rate of %v, and the row has %v throughout.",
				e.Rate, row.Setting.LR)
		case per > 0 && math.Abs(e.Epochs*float64(per)-float64(e.Steps)) > 1e-3:
			return fmt.Sprintf("it was evaluated after %d steps, called %.6g epochs, and an epoch has %d.",
				e.Steps, e.Epochs, per)
		case c["tta"] == "none" && e.Views > 1:
			return fmt.Sprintf("it was evaluated on %d views of a sample, and run without any.", e.Views)
		}
		steps[e.Rank] = e.Steps
	}
	return ""
}

// stepsPerEpoch returns how many steps the first epoch of a run has; 0: it was not complete.
func stepsPerEpoch(row *record.Row, run *record.Run) int {
	if !isJoint(row) || len(run.Ranks) == 0 {
		return 0
	}
	return max(0, slices.Index(run.Ranks[0].Steps.Epoch, 1))
}

// countsUpdates says if the updates by their staleness are not the steps of an asynchronous run.
func countsUpdates(row *record.Row, run *record.Run) string {
	sum := 0
	for _, n := range run.Staleness {
		sum += n
	}
	if !sharesSteps(row) || run.Staleness == nil || configOf(run)["backup-workers"] != 0.0 ||
		sum == run.Steps {
		return ""
	}
	return fmt.Sprintf("%d updates by their staleness, %d were made.", sum, run.Steps)
}

// countsTrained says if the accuracy in training is no number of right answers among the samples of the last
// epoch. Workers that share steps do not tell where it begins.
func countsTrained(row *record.Row, run *record.Run) string {
	if run.TrainAccuracy == nil || len(run.Ranks) == 0 || !isJoint(row) {
		return ""
	}
	s, n := run.Ranks[0].Steps, 0
	for i, e := range s.Epoch {
		if e == s.Epoch[len(s.Epoch)-1] {
			n += s.Samples[i]
		}
	}
	if right := *run.TrainAccuracy * float64(n); math.Abs(right-math.Round(right)) > 1e-6*float64(n) {
		return fmt.Sprintf("an accuracy in training of %v is no whole number of the %d answers of its last "+
			"epoch.", *run.TrainAccuracy, n)
	}
	return ""
}

// isPlaced says if the hosts of a row do not hold its workers, or if these are linked as on one host, or by
// other connections than they were told.
func isPlaced(row *record.Row, run *record.Run) string {
	s := row.Setting
	streams, _ := configOf(run)["streams"].(float64)
	switch {
	case s.Hosts > 0 && s.PerHost > 0 && s.Hosts*s.PerHost != s.Workers:
		return fmt.Sprintf("%d hosts of %d workers each, the row has %d workers.", s.Hosts, s.PerHost,
			s.Workers)
	case s.Hosts > s.Workers+s.Servers:
		return fmt.Sprintf("%d workers on %d hosts.", s.Workers, s.Hosts)
	case s.Hosts > 1 && s.PerHost == 1 && (s.Link == "shm" || s.Link == "local"):
		return fmt.Sprintf("each of its workers has a host, and they are linked by %s, which is within one.",
			s.Link)
	case run.Streams > 0 && streams > 0 && float64(run.Streams) != streams:
		return fmt.Sprintf("its links have %d connections, and it was run with streams %.0f.", run.Streams,
			streams)
	}
	return ""
}

// isConditioned says if a run's folder names another condition than its row: bench puts the condition behind
// everything else.
func isConditioned(row *record.Row, run *record.Run) string {
	base, s := filepath.Base(filepath.FromSlash(run.Directory)), row.Setting
	m := folder.FindStringSubmatch(base)
	if m == nil {
		return ""
	}
	rest := behindOptions(m[5], row) + "-"
	slow := strings.Contains(rest, "-slow-worker-")
	linked := slices.ContainsFunc([]string{"rate", "delay", "loss"}, func(name string) bool {
		return strings.Contains(rest, "-"+name+"-")
	})
	isOther := strings.Contains(rest, "-equal-") != (s.Condition == "equal workers") ||
		slow != strings.Contains(s.Condition, "slower") || linked != strings.Contains(s.Condition, "links of")
	if isOther {
		return fmt.Sprintf("its folder is %s, and the row's condition is %q.", base, s.Condition)
	}
	return ""
}
