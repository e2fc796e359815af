package check

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Kind says what a figure measures.
type Kind string

// The kinds of figures. Names are numbers that tell things apart, such as "rank 0".
const (
	Unknown Kind = ""

	Time, Rate, Bandwidth, Size            Kind = "time", "rate", "bandwidth", "size"
	Speedup, Change, Efficiency, Share     Kind = "speed-up", "change", "efficiency", "share"
	Accuracy, Loss, Cost, Price            Kind = "accuracy", "loss", "cost", "price"
	Workers, Cores, Batch, LearningRate    Kind = "workers", "cores", "batch", "learning rate"
	Epochs, Steps, Count, Classes, Repeats Kind = "epochs", "steps", "count", "classes", "repeats"
	Ratio, Parallel, Serial, Setting, Name Kind = "ratio", "parallel fraction", "serial fraction",
		"setting", "name"
)

// Scope says what a time is of.
type Scope string

// The scopes of a time.
const Total, Epoch, Step, Part Scope = "total", "epoch", "step", "part"

// Place is where a figure stands, both counted from 1; Column counts bytes.
type Place struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Text   string `json:"text"` // what stands there
}

// Figure is a number of a document.
type Figure struct {
	Text     string  // as it is printed
	Value    float64 // in seconds, bytes, parts of one, or as printed
	Half     float64 // half a unit of the last printed digit
	Unit     string  // as printed; empty: none
	Kind     Kind
	Scope    Scope
	Row      string // label of its row, or the words before it
	Column   string // heading of its column
	Section  string // the headings above it
	Place    Place
	spread   float64 // half of the interval that is printed beside it
	isNear   bool    // "about"
	isBound  bool    // "less than", "more than"
	isSigned bool    // "+3 %"
	isGuess  bool    // projected
	isFaster bool    // the word stands beside it
	over     *Figure // the denominator of a fraction
	upTo     *Figure // the end of a range
	isEnd    bool    // of a range or a fraction
}

// within returns the least and the greatest value that f may have; truncation is taken for rounding.
func (f *Figure) within() (lo, hi float64) {
	slack := max(2*f.Half, f.spread)
	if isSetting(f.Kind) {
		slack = 0
	}
	if f.isNear {
		slack = max(slack, 0.05*math.Abs(f.Value))
	}
	return f.Value - slack, f.Value + slack
}

// overlaps reports whether f may have a value between lo and hi.
func (f *Figure) overlaps(lo, hi float64) bool {
	a, b := f.within()
	return a <= hi && lo <= b
}

// digits returns the number of significant digits of f.
func (f *Figure) digits() int {
	if f.Half == 0 || f.Value == 0 {
		return 1
	}
	return max(1, int(math.Floor(math.Log10(math.Abs(f.Value)/(2*f.Half))+1e-9))+1)
}

// equals reports whether f and g are of one quantity and agree within their rounding.
func (f *Figure) equals(g *Figure) bool {
	lo, hi := g.within()
	return f.Kind == g.Kind && (f.Scope == g.Scope || f.Scope == "" || g.Scope == "") && f.overlaps(lo, hi)
}

// numeral finds dates and times of day, durations, numbers with thousands, and plain numbers.
var numeral = regexp.MustCompile(`\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?|\d+:\d\d(?::\d\d)?(?:\.\d+)?|` +
	`\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?`)

// scan returns the numbers of a text; digits inside names, such as resnet50 or 10.0.0.1, are none.
func scan(text string) []*Figure {
	var out []*Figure
	for _, m := range numeral.FindAllStringIndex(text, -1) {
		if f := number(text, m[0], m[1]); f != nil {
			out = join(text, out, f)
		}
	}
	return out
}

// number reads the number at text[at:end]; nil: it is a date or a part of a name.
func number(text string, at, end int) *Figure {
	printed := text[at:end]
	isAddress := end+1 < len(text) && text[end] == '.' && isDigit(text[end+1])
	if isInside(text, at) || isAddress || len(printed) > 60 || strings.Count(printed, "-") == 2 {
		return nil
	}
	f := &Figure{Place: Place{Column: at + 1}}
	if parts := strings.Split(printed, ":"); len(parts) > 1 {
		if len(parts) == 2 {
			return nil // a time of day
		}
		took, _ := time.ParseDuration(parts[0] + "h" + parts[1] + "m" + parts[2] + "s")
		f.Value, f.Half, f.Unit, f.Kind, f.Text = took.Seconds(), 0.5, "h:m:s", Time, printed
		return f
	}
	value, err := strconv.ParseFloat(strings.ReplaceAll(printed, ",", ""), 64)
	mantissa, exponent, _ := strings.Cut(strings.ToLower(printed), "e")
	power, _ := strconv.Atoi(exponent)
	_, decimals, _ := strings.Cut(mantissa, ".")
	f.Value, f.Half = value, 0.5*math.Pow10(power-len(decimals))
	f.readHead(text[max(0, at-20):at])
	end, isNumber := f.readUnit(text, end)
	f.Text = text[at:end]
	if err != nil || !isNumber || math.IsInf(f.Value, 0) {
		return nil
	}
	return f
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isInside reports whether the digit at a place is inside a name: ResNet50, CIFAR-10, v1.2.
func isInside(text string, at int) bool {
	before, size := utf8.DecodeLastRuneInString(text[:at])
	further, _ := utf8.DecodeLastRuneInString(text[:at-size])
	switch before {
	case '_':
		return true
	case '-':
		return unicode.IsLetter(further)
	case '.':
		return unicode.IsLetter(further) || unicode.IsDigit(further)
	case 'x':
		return !unicode.IsDigit(further)
	}
	return unicode.IsLetter(before) && before != 'µ'
}

// readHead takes the sign, the currency and the words before a number.
func (f *Figure) readHead(head string) {
	bare := strings.TrimRight(head, " ")
	isTouching := len(bare) == len(head)
	if hasSuffix(bare, "$", "€") {
		f.Kind, f.Unit = Cost, "$"
		bare = strings.TrimRight(bare, "$€ ")
	}
	sign := strings.TrimSuffix(bare, "-")
	isMinus := len(sign) < len(bare) && isTouching && (sign == "" ||
		strings.ContainsAny(sign[len(sign)-1:], " (|:,=["))
	if isMinus || strings.HasSuffix(bare, "−") {
		f.Value, f.isSigned = -f.Value, true
	}
	f.isSigned = f.isSigned || strings.HasSuffix(bare, "+")
	f.isNear = hasSuffix(bare, "~", "≈", "about", "approximately", "roughly", "around", "nearly", "almost")
	f.isBound = hasSuffix(bare, "<", ">", "≤", "≥", "up to", "over", "under", "than", "least", "most")
}

func hasSuffix(text string, ends ...string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(text, end) })
}

var (
	unitBehind = regexp.MustCompile(`^[ \x{a0}-]?(%|[×x](?:\PL|$)|[\pLµ]+)`)
	perBehind  = regexp.MustCompile(`^(?:/| per | a )([\pLµ]+)`)
	magnitudes = map[string]float64{"K": 1e3, "k": 1e3, "M": 1e6, "B": 1e9, "G": 1e9}
)

// readUnit takes what stands behind a number into f; ok is false if it is the beginning of a name, such
// as 2a.
func (f *Figure) readUnit(text string, end int) (next int, ok bool) {
	if strings.HasPrefix(text[end:], "+") {
		f.isBound = true
		end++
	}
	m := unitBehind.FindStringSubmatchIndex(text[end:min(len(text), end+40)])
	if m == nil {
		return f.per(text, end), true
	}
	name, isApart := text[end+m[2]:end+m[3]], m[2] > 0
	next = end + m[3]
	times := magnitudes[name]
	u, isKnown := allUnits[singular(name)]
	switch {
	case name[0] == 'x' && len(name) <= 2 || strings.HasPrefix(name, "×"):
		after := strings.TrimLeft(text[end+m[2]:], "x×")
		if isApart || after != "" && (isDigit(after[0]) || after[0] == ' ' && len(after) > 1 &&
			isDigit(after[1])) {
			return end, true // a product
		}
		f.setUnit("×", allUnits["×"])
		return len(text) - len(after), true
	case times > 0 && !isApart:
		f.Value, f.Half = f.Value*times, f.Half*times
		if next < len(text) && text[next] == ' ' {
			return f.readUnit(text, next)
		}
		return next, true
	case !isKnown:
		return end, isApart
	}
	f.setUnit(name, u)
	return f.per(text, next), true
}

func (f *Figure) setUnit(name string, u unit) {
	f.Unit, f.Kind, f.Value, f.Half = name, u.kind, f.Value*u.times, f.Half*u.times
}

// per reads what stands behind a unit: "/s", "per epoch", "/hour".
func (f *Figure) per(text string, end int) int {
	m := perBehind.FindStringSubmatchIndex(text[end:min(len(text), end+40)])
	if m == nil {
		return end
	}
	of, next := singular(text[end+m[2]:end+m[3]]), end+m[3]
	u := allUnits[of]
	switch {
	case f.Kind == Time && allScopes[of] != "":
		f.Scope = allScopes[of]
		return next
	case u.kind != Time:
		return end
	case f.Kind == Size:
		f.Kind = Bandwidth
	case f.Kind == Count || f.Kind == Steps:
		f.Kind = Rate
	case f.Kind == Cost:
		f.Kind = Price
	default:
		return end
	}
	f.Value, f.Half = f.Value/u.times, f.Half/u.times
	f.Unit += text[end:next]
	return next
}

// join appends a number and ties it to the one before: a range, a fraction, hours and minutes.
func join(text string, out []*Figure, f *Figure) []*Figure {
	if len(out) == 0 {
		return append(out, f)
	}
	last := out[len(out)-1]
	start := last.Place.Column - 1 + len(last.Text)
	if start > f.Place.Column-1 {
		return out
	}
	between := strings.Trim(text[start:f.Place.Column-1], " $")
	switch {
	case last.Kind == Time && f.Kind == Time && between == "" && f.Unit != last.Unit &&
		f.Value < last.Value:
		last.Value, last.Half, last.Unit = last.Value+f.Value, f.Half, f.Unit
		last.Text = text[last.Place.Column-1 : f.Place.Column-1+len(f.Text)]
		return out
	case (between == "-" || between == "–" || between == "to") && last.over == nil && !f.isSigned &&
		(last.Unit == "" || last.Kind == f.Kind):
		if u := allUnits[singular(f.Unit)]; last.Unit == "" && u.times > 0 {
			last.setUnit(f.Unit, u)
		}
		last.upTo, f.isEnd = f, true
	case between == "±" || between == "+/-" || between == "+-":
		last.spread, f.isEnd = 2*f.Value, true
	case between == "/" && last.Unit == "" && f.Value > 0 && last.Value <= f.Value:
		last.over, f.isEnd = f, true
	}
	return append(out, f)
}
