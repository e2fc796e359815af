package finding

// Severity says what a finding does to the numbers.
type Severity uint8

// The severities, in the order in which findings are shown.
const (
	Refused Severity = iota // a row failed, or a number is withheld because it would be wrong
	Caution                 // a number is shown and could be misread
	Fact                    // how the numbers came about
)

// String returns the severity as files and pages name it.
func (s Severity) String() string { return [...]string{"refused", "caution", "fact"}[s] }

// Finding is one thing that measurements show.
type Finding struct {
	Rule     string // a stable word for what found it
	Severity Severity
	Rows     []string // labels of the rows that it is about; nil: of none
	IsAll    bool     // these are all rows that there are
	Values   Values
	Remedy   Remedy
}

// Values are the figures of a finding by name: numbers of the types below, counts, names, ratios.
type Values map[string]any

// Seconds are a time, and Share is a part of a whole, 1 being all of it.
type (
	Seconds float64
	Share   float64
)

// Remedy is what would settle a finding.
type Remedy string

// The remedies.
const (
	None      Remedy = ""
	Original  Remedy = "original"  // the file as it was written
	Cause     Remedy = "cause"     // what made a run fail
	SameWork  Remedy = "same work" // one configuration of all rows or runs
	Weights   Remedy = "weights"   // a look at the weights of two runs
	Stability Remedy = "stability" // a training that does not diverge
	Cores     Remedy = "cores"     // as many cores as threads
	Encrypted Remedy = "encrypted" // links between hosts
	Rounds    Remedy = "rounds"    // more of them
	Budget    Remedy = "budget"    // more time
	Idle      Remedy = "idle"      // a machine of its own
	Longer    Remedy = "longer"    // runs of more steps
	Seeds     Remedy = "seeds"     // several of them
	RealData  Remedy = "real data" // instead of generated ones
	Tree      Remedy = "tree"      // sums in the order of the tree
	Hosts     Remedy = "hosts"     // of their own for the workers
)
