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
}

// Values are the figures of a finding by name: numbers of the types below, counts, names, ratios.
type Values map[string]any

// Share is a part of a whole, 1 being all of it.
type Share float64
