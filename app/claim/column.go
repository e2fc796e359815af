package claim

import (
	"regexp"
	"slices"
	"strings"
)

// kind is what a column holds.
type kind uint8

// The kinds. Those up to setting say what a row is; the others are figures.
const (
	unknown kind = iota
	label
	strategy
	model
	dataset
	workers
	nodes
	processes // of each node
	threads
	batch    // samples of a step over all workers
	batchPer // samples of a step of each worker
	rate     // learning rate
	setting  // another one, as text: wire, link, precision
	source   // measured or projected
	position // epoch or step of a run that a row is about
	repeat
	seed
	rank
	hash // of the parameters that a run ended with
	remark
	runList   // a time of each run, beside the column of their median
	cores     // that the row is said to use
	hostCores // that there are
	samples
	epochs
	steps
	total // seconds of the run
	epoch // seconds of an epoch
	step  // seconds of a step
	rankStep
	throughput // samples per second
	speedup
	efficiency
	predicted // speed-up that was not measured
	amdahl
	gustafson
	serial
	accuracy
	trainAccuracy
	loss
	meanLoss
	lossAt
	firstLoss
	classes
	repeats
	low
	high
	deviation
	ends      // both ends of an interval in one cell, or half its width
	variation // range of the runs relative to their middle
	span      // from which to which most steps took
	phase
	network // seconds in which the network was used
	cost
	price
)

// identifies reports whether columns of this kind tell configurations apart.
func (k kind) identifies() bool { return k >= label && k <= setting }

// isName reports whether cells of this kind are names, not numbers.
func (k kind) isName() bool { return k == label || k == strategy || k == model || k == dataset }

// tellsApart reports whether columns of this kind say why rows of one configuration are several.
func (k kind) tellsApart() bool { return k == repeat || k == seed || k == rank || k == position }

// isOften reports whether a table may have several columns of this kind.
func (k kind) isOften() bool {
	switch k {
	case label, setting, position, repeat, seed, phase, rankStep, amdahl, gustafson, loss, lossAt, accuracy,
		low, high, deviation, ends, runList:
		return true
	}
	return false
}

// column is the heading of a table's column.
type column struct {
	header string
	kind   kind
	name   string  // of a phase, a setting or a rank
	unit   float64 // factor to seconds, or to 1 for percent; 0: not said
	serial float64 // fraction of an Amdahl or Gustafson column; 0: not said
	of     int     // column that a low, high or deviation belongs to; -1: none
	isName bool    // tells rows apart, although it is no name by its kind: see settleNames
}

// identifies reports whether the column tells configurations apart.
func (c column) identifies() bool { return c.kind.identifies() || c.isName }

// isAbout reports whether the column says how sure, or how spread, the figures of another one are.
func (c column) isAbout() bool {
	switch c.kind {
	case low, high, deviation, ends, span, runList:
		return true
	}
	return false
}

// pattern says what a heading means. The first that fits wins.
type pattern struct {
	kind kind
	re   *regexp.Regexp
}

// heading is how a column of some kind is called.
type heading struct {
	example string // a test holds the text to it
	kind    kind
	text    string // a regular expression of the words of headingWords
}

// patterns returns all headings. The first that fits wins, so the order of the groups counts.
func patterns() []pattern {
	list := headings()
	out := make([]pattern, len(list))
	for i, h := range list {
		out[i] = pattern{h.kind, regexp.MustCompile(h.text)}
	}
	return out
}

func headings() []heading {
	return slices.Concat(lawHeadings(), foreignHeadings(), ratioHeadings(), lossHeadings(), timeHeadings(),
		sizeHeadings(), runHeadings(), nameHeadings())
}

// lawHeadings are of columns of laws, of where rows are from, and of goals.
func lawHeadings() []heading {
	return []heading{
		{"Amdahl (5% serial)", amdahl, `amdahl`},
		{"Gustafson (5% serial)", gustafson, `gustafson`},
		{"serial fraction", serial, `serial (fraction|share|part)|karp`},
		{"measured or projected", source,
			`^(source|origin|basis|status|measured|measured or .*|measured/.*|how obtained)$`},
		{"ideal speed-up", unknown, `ideal|target|goal|perfect`},
		{"time to 94% accuracy", total,
			`^((training|run|wall( clock)?) )?(time|seconds|minutes|hours) (to|until)\b`},
	}
}

// foreignHeadings are of quantities that are none of ours although a word of theirs is.
func foreignHeadings() []heading {
	return []heading{
		{"steps to 94% accuracy", unknown, `\b(to|until)\b.*\b(acc|loss)`},
		{"network throughput", unknown,
			`(network|link|nic|bus|pcie|memory|disk|i/?o|file|storage) throughput`},
		{"throughput in MB/s", unknown, `throughput.* [kmgt]?i?b(it|yte)?s?( ?(/|per) ?s|ps)`},
		{"throughput (steps/s)", unknown,
			`throughput.* (steps?|it|iters?|iterations?|batch(es)?|epochs?) ?(/|per) ?(s|sec|seconds?|min|` +
				`minutes?|h|hours?)$`},
		{"energy efficiency", unknown,
			`(energy|power|cache|memory|network|bandwidth|link|cost|data|sample|statistical|flops?|` +
				`hardware|vector|simd) efficienc`},
		{"efficiency (images/joule)", unknown, `efficienc.*(joule|/ ?j\b|watt|energy|flop|cache|memory)`},
		{"packet loss", unknown,
			`(packet|frame|message|link|information|performance|speed|throughput|energy|efficiency|acc|` +
				`accuracy) loss`},
		{"loss rate", unknown,
			`loss (rate|of (acc|packet|frame|message|information|performance|speed|precision))`},
		{"accuracy drop", unknown,
			`acc(uracy)? (drop|gap|degradation|change|diff\w*|delta|gain|improvement)`},
		{"drop in accuracy", unknown,
			`(drop|gap|degradation|change|difference|gain|delta|decrease|increase|improvement) (of|in) ` +
				`[\w ]*acc`},
		{"communication time per step", unknown,
			`^(communication|comm|exchange|sync\w*|network|exposed|forward|backward|compute|data|idle|` +
				`wait\w*)\b.* (time|s|ms|seconds) ?(/|per) ?(step|iteration|iter|batch|it|epoch)\b`},
	}
}

// ratioHeadings are of columns of ratios and rates.
func ratioHeadings() []heading {
	return []heading{
		{"predicted speed-up", predicted,
			`(predict|project|expect|estimat|theor|simulat).*speed ?up|speed ?up.*(predict|` +
				`project|expect|estimat)`},
		{"speed-up", speedup, `speed ?up`},
		{"parallel efficiency", efficiency, `efficienc|^(parallel |scaling )?eff$`},
		{"samples/s", throughput,
			`(samples|images|imgs?|texts|sentences|tokens|records) ?(/|per) ?(s|sec|second)$|` +
				`throughput`},
		{"rank 0, ms/step", rankStep, `\branks? ?\d`},
	}
}

// lossHeadings are of columns of what was learned.
func lossHeadings() []heading {
	return []heading{
		{"training accuracy", trainAccuracy, `train(ing)? acc`},
		{"test acc", accuracy, `\bacc(uracy)?\b`},
		{"mean loss", meanLoss, `(average|mean|avg) (train(ing)? )?loss|loss (average|mean|avg)`},
		{"loss at step 100", lossAt, `loss (at |after |@ ?)?(step |iteration |it )?\d+`},
		{"initial loss", firstLoss, `loss.*\b(first|initial|start)|\b(first|initial|starting) loss`},
		{"final loss", loss, `\bloss\b`},
	}
}

// timeHeadings are of columns of times and what they cost.
func timeHeadings() []heading {
	return []heading{
		{"network time", network,
			`^(network|net|comm\w*) ?(time|seconds)$|time (in|on) (the )?(network|communication)`},
		{"epoch time", epoch,
			`^epoch (time|duration|seconds)|time ?(/|per) ?epoch|^(s|ms|min|seconds) ?(/|per) ` +
				`?epoch|^epoch$|^(median|mean|average|avg) epoch$|^epoch (median|mean|average|avg)$`},
		{"step time", step, `(step|iteration|iter|batch) (time|duration|latency|seconds)|` +
			`(^| )(time|s|ms|us|µs|sec|secs|seconds|milliseconds|min|minutes) ?(/|per) ?` +
			`(step|iteration|iter|batch|it)\b|^(step|iteration)$|^(median|mean|average|avg) ` +
			`(step|iteration|iter)$|^(step|iteration|iter) (median|mean|average|avg)$`},
		{"wall time", total,
			`^total( time| seconds| duration)?$|^(wall|run|elapsed|training|execution)( clock)? ` +
				`?time|^((median|mean|average|avg) )?(time|duration|runtime|seconds|elapsed|wall|total)$`},
		{"price per hour", price, `price|hourly|per hour`},
		{"total cost", cost, `^cost|cost$`},
	}
}

// sizeHeadings are of columns of how large a run is.
func sizeHeadings() []heading {
	return []heading{
		{"number of classes", classes, `^(num |number of )?classes$`},
		{"batch per worker", batchPer,
			`(local|micro|mini) ?batch|batch( size)? ?(/|per|each|of each) ?(worker|node|gpu|` +
				`device|process|rank)?`},
		{"global batch", batch, `^(global |total )?batch( size)?$|^bs$`},
		{"physical cores", hostCores,
			`(host|machine|available|physical|node|usable|logical) (cores|cpus)|vcpus?|cores ` +
				`(available|of the machine|of the host|per node|per host|in the machine)`},
		{"cores used", cores, `^(num |total |used )?(cores|cpus)( used)?$`},
		{"threads", threads, `threads`},
		{"processes per node", processes,
			`(processes|procs|workers|ranks|gpus) ?(/|per|on each) ?(node|host|machine|vm)|^ppn$`},
		{"nodes", nodes, `^(num |number of |#)? ?(nodes?|hosts?|machines?|vms?)$`},
		{"workers", workers,
			`^(num |number of |#)? ?(workers?|ranks|processes|procs|gpus?|devices?|replicas|` +
				`world( size)?|p|np)$`},
	}
}

// runHeadings are of columns of runs, and what is said about their spread and length.
func runHeadings() []heading {
	return []heading{
		{"rank", rank, `^rank$`},
		{"seed", seed, `^(random )?seed$`},
		{"repeats", repeats, `^(repeats|runs|trials|repetitions|n|num runs|number of runs)$`},
		{"run", repeat, `^(repeat|run|trial|round|replicate|repetition)$`},
		{"min", low, `^(low|lower|lo|min|minimum|ci low|lower bound|p10|q1)$`},
		{"max", high, `^(high|upper|hi|max|maximum|ci high|upper bound|p90|q3)$`},
		{"std", deviation, `^(std\.?( dev(iation)?\.?)?|sd|stdev|stddev|standard deviation|±|\+/ ?|` +
			`deviation|σ|sigma)$`},
		{"standard error", deviation, `^(std\.? err(or)?\.?|standard error|sem)( of the mean)?$`},
		{"95 % CI", ends, `^(\d+ ?%? )?(ci|conf(idence)?\.? int(erval)?\.?|interval|iqr|interquartile ` +
			`range|uncertainty)( ?\d+ ?%?)?$|^(min|low(er)?|lo) ?([–—/]|to|\.\.)? ?(max|high|upper|hi)$`},
		{"spread of the runs", variation, `^(relative )?spread( of (the )?runs)?$|^(cv|variation|range)$`},
		{"p10–p90", span, `p10.*p90|percentiles`},
		{"epochs", epochs, `^(num |number of )?epochs$`},
		{"steps", steps, `^(num |number of |total )?(steps|iterations|updates|batches)$`},
		{"samples", samples,
			`^(num |number of |total |training )?(samples|images|texts|examples)( trained)?$`},
	}
}

// nameHeadings are of columns of phases, settings and names.
func nameHeadings() []heading {
	return []heading{
		{"communication", phase,
			`^(forward|backward|optimi[sz]er|data( loading)?|other|compute|computation|(gradient |` +
				`grad )?sync\w*( exposed)?|communication|comm|exchange|exposed( communication)?|hidden( ` +
				`communication)?|evaluation)( pass| step| time| phase| share)?$`},
		{"learning rate", rate, `^(lr|learning rate)$`},
		{"wire", setting, `^(wire|codec|compression|precision|dtype|link|network|backend|optimi[sz]er|` +
			`checkpoints?|math|hosts? kind|hardware|instance|placement|servers?|staleness|schedule|` +
			`bucket.*|scaling|settings|options)$`},
		{"model", model, `^(model|network|architecture|net)$`},
		{"data set", dataset, `^(data|data ?set)$`},
		{"strategy", strategy, `^(strategy|algorithm|method|approach|technique|mode)$`},
		{"experiment", label,
			`^(label|name|config(uration)?|experiment|setup|variant|case|system|row|run name|what|` +
				`id|scenario|setting|test|benchmark|#|no\.?|nr\.?|index|idx|number)?$`},
		{"parameters (SHA-256)", hash,
			`^(final )?(parameters?|params|weights) (sha ?256|hash|checksum)$|` +
				`^(sha ?256|hash|checksum) of (the )?(final )?(parameters|params|weights)$`},
		{"notes", remark, `^(remarks?|notes?|comments?|reason|why|explanation|told apart)$`},
	}
}

// bracketed is a unit in a heading.
var bracketed = regexp.MustCompile(`[(\[]([^)\]]*)[)\]]`)

// percentIn is a percentage in the heading of a column of Amdahl's law.
var percentIn = regexp.MustCompile(`(\d+(?:\.\d+)?) ?%`)

// readHeading says what a column holds by its heading.
func readHeading(header string, known []pattern) column {
	c := column{header: strings.TrimSpace(header), of: -1}
	words, unit := headingWords(header)
	c.unit = secondsIn(unit)
	if unit == "%" || unit == "percent" || unit == "percentage" {
		c.unit = 0.01
	}
	for _, p := range known {
		if p.re.MatchString(words) {
			c.kind = p.kind
			break
		}
	}
	if c.kind == unknown {
		return c
	}
	c.name = words
	c.settleUnit()
	return c
}

// settleUnit sets what the words of a heading say of its figures for its kind, besides the unit behind them.
func (c *column) settleUnit() {
	words := c.name
	switch c.kind {
	case amdahl, gustafson:
		c.serial = serialIn(c.header)
	case loss:
		if c.unit > 0 {
			c.kind = unknown // of packets, in percent
		}
	case total, epoch, step, rankStep, network:
		if c.unit == 0 || c.kind == total && c.unit == 0.01 { // of the accuracy that is to be reached
			c.unit = unitInside(words, c.kind == rankStep)
		}
	case throughput:
		c.unit = thousandsIn(words)
	case repeats:
		if c.unit > 0 {
			c.kind = runList
		}
	case ends:
		if c.unit == 0.01 && percentIn.MatchString(c.header) {
			c.unit = 0 // a level of confidence
		}
	}
}

// serialIn returns the serial fraction in the heading of a column of a law, of which it may tell the parallel
// part; 0: none.
func serialIn(header string) float64 {
	m := percentIn.FindStringSubmatch(header)
	if m == nil {
		return 0
	}
	v, _, _ := parseNumber(m[1])
	if strings.Contains(strings.ToLower(header), "parallel") || v/100 > 0.5 {
		return 1 - v/100
	}
	return v / 100
}

// manySamples is what a rate in thousands or millions counts.
var manySamples = regexp.MustCompile(`(?:^| )(?:(k|kilo|thousands?(?: of)?|10\^3|1000|1e3)|(?:m|mega|` +
	`millions?(?: of)?|10\^6|1e6)) ?(?:samples|images|imgs?|texts|sentences|tokens|records)`)

// thousandsIn returns by what the figures below a heading are to be multiplied; 0: nothing.
func thousandsIn(words string) float64 {
	switch m := manySamples.FindStringSubmatch(words); {
	case m == nil:
		return 0
	case m[1] != "":
		return 1e3
	}
	return 1e6
}

// aStep says of what a time is, where the heading has said so before.
var aStep = regexp.MustCompile(`^(a|per|each) (step|iteration|epoch)$`)

// headingWords returns the heading in lower case without markup and unit, and the unit.
func headingWords(header string) (words, unit string) {
	h := strings.ToLower(header)
	h = strings.NewReplacer("**", "", "`", "", "_", " ", "-", " ", "÷", "/", "#", "# ").Replace(h)
	if m := bracketed.FindStringSubmatch(h); m != nil {
		inside := strings.TrimSpace(m[1])
		if secondsIn(inside) > 0 || strings.HasPrefix(inside, "%") || inside == "x" || inside == "$" {
			unit = strings.TrimSpace(strings.TrimSuffix(inside, " of time"))
			h = bracketed.ReplaceAllString(h, " ")
		}
	}
	h = strings.NewReplacer("(", " ", ")", " ", "[", " ", "]", " ", ":", " ").Replace(h)
	if before, after, found := strings.Cut(h, ","); found {
		h = before + " " + after
		if first, rest, isLong := strings.Cut(strings.TrimSpace(after), " "); isLong && secondsIn(first) > 0 {
			unit, h = first, before // "exposed, ms a step"
			if !aStep.MatchString(rest) {
				h += " " + rest
			}
		}
	}
	fields := strings.Fields(h)
	for last := len(fields) - 1; last > 0 && unit == ""; last-- {
		if w := fields[last]; secondsIn(w) > 0 && w != "seconds" && fields[last-1] != "per" || w == "%" {
			unit, fields = w, append(fields[:last:last], fields[last+1:]...)
		}
	}
	return strings.Join(fields, " "), unit
}

// unitInside finds the unit in "ms per step" or "s/iteration", anywhere or at the beginning; 0: none.
func unitInside(words string, isAnywhere bool) float64 {
	for i, word := range strings.Fields(strings.ReplaceAll(words, "/", " ")) {
		if v := secondsIn(word); v > 0 && (i == 0 || isAnywhere) {
			return v
		}
	}
	return 0
}
