package check

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind says what a figure measures.
type Kind string

// The kinds of figures. Names are numbers that tell things apart, such as "rank 0".
const (
	Unknown      Kind = ""
	Time         Kind = "time"
	Rate         Kind = "rate"
	Bandwidth    Kind = "bandwidth"
	Size         Kind = "size"
	Speedup      Kind = "speed-up"
	Change       Kind = "change"
	Efficiency   Kind = "efficiency"
	Share        Kind = "share"
	Accuracy     Kind = "accuracy"
	Loss         Kind = "loss"
	Cost         Kind = "cost"
	Price        Kind = "price"
	Workers      Kind = "workers"
	Cores        Kind = "cores"
	Batch        Kind = "batch"
	LearningRate Kind = "learning rate"
	Epochs       Kind = "epochs"
	Steps        Kind = "steps"
	Count        Kind = "count"
	Classes      Kind = "classes"
	Ratio        Kind = "ratio"
	Parallel     Kind = "parallel fraction"
	Serial       Kind = "serial fraction"
	Repeats      Kind = "repeats"
	Setting      Kind = "setting"
	Name         Kind = "name"
)

// Scope says what a time is of.
type Scope string

// The scopes of a time.
const (
	Total Scope = "total"
	Epoch Scope = "epoch"
	Step  Scope = "step"
	Part  Scope = "part"
)

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
	Section  string // the heading above it
	Place    Place
	spread   float64 // half of the interval that is printed beside it
	isNear   bool    // "about", or the end of a range
	isBound  bool    // "less than", "more than"
	isSigned bool    // "+3 %"
	isEach   bool    // per worker
	isGuess  bool    // projected
	isFaster bool    // the word stands behind it
	over     *Figure // the denominator of a fraction
	upTo     *Figure // the end of a range
	isEnd    bool    // of a range or a fraction
	line     *line
}

// within returns the least and the greatest value that f may have; truncation is taken for rounding.
func (f *Figure) within() (lo, hi float64) {
	slack := max(2*f.Half, f.spread)
	if f.isNear {
		slack = max(slack, 0.05*math.Abs(f.Value))
	}
	return f.Value - slack, f.Value + slack
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
	a, b := f.within()
	c, d := g.within()
	return f.Kind == g.Kind && (f.Scope == g.Scope || f.Scope == "" || g.Scope == "") && a <= d && c <= b
}

// unit is what a word behind a number does to it.
type unit struct {
	kind  Kind
	times float64
}

// units returns the units, in lower case.
func units() map[string]unit {
	u := map[string]unit{"%": {Share, 0.01}, "percent": {Share, 0.01}, "×": {Ratio, 1}, "x": {Ratio, 1},
		"$": {Cost, 1}, "€": {Cost, 1}, "usd": {Cost, 1}, "dollar": {Cost, 1}, "pp": {Change, 0.01},
		"gbps": {Bandwidth, 1e9 / 8}, "mbps": {Bandwidth, 1e6 / 8}, "gbit": {Size, 1e9 / 8},
		"epoch": {Epochs, 1}, "step": {Steps, 1}, "iteration": {Steps, 1}, "iter": {Steps, 1},
		"it": {Steps, 1}, "core": {Cores, 1}, "cpu": {Cores, 1}, "vcpu": {Cores, 1}, "class": {Classes, 1},
		"repeat": {Repeats, 1}, "trial": {Repeats, 1}, "seed": {Repeats, 1},
		"run": {Repeats, 1}, "round": {Repeats, 1}, "repetition": {Repeats, 1}, "line": {Setting, 1},
		"thread": {Setting, 1}, "layer": {Setting, 1}, "bit": {Setting, 1}, "watt": {Setting, 1},
		"kwh": {Setting, 1},
		"wh":  {Setting, 1}, "ghz": {Setting, 1}, "mhz": {Setting, 1}, "parameter": {Setting, 1},
		"param": {Setting, 1},
		"flops": {Setting, 1}, "gflops": {Setting, 1}, "tflops": {Setting, 1}, "gflop": {Setting, 1},
		"tflop": {Setting, 1}, "pflop": {Setting, 1}, "day": {Time, 86400}, "d": {Time, 86400}}
	for word, s := range map[string]float64{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3,
		"msec":        1e-3,
		"millisecond": 1e-3, "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600,
		"hr": 3600, "hour": 3600} {
		u[word] = unit{Time, s}
	}
	for i, c := range []string{"", "k", "m", "g", "t"} {
		u[c+"b"] = unit{Size, math.Pow(1000, float64(i))}
		u[c+"ib"] = unit{Size, math.Pow(1024, float64(i))}
		u[c+"byte"] = u[c+"b"]
	}
	for word, kind := range vocabulary() {
		if kind == Workers || kind == Count {
			u[word] = unit{kind, 1}
		}
	}
	delete(u, "b")
	return u
}

var allUnits = units()

// scan returns the numbers of a text; digits inside names, such as resnet50 or 10.0.0.1, are none.
func scan(text string) []*Figure {
	var out []*Figure
	for i := 0; i < len(text); {
		c := text[i]
		if c < '0' || c > '9' {
			_, n := utf8.DecodeRuneInString(text[i:])
			i += n
			continue
		}
		f, end, ok := number(text, i)
		if ok {
			out = join(text, out, f, i)
		}
		i = end
	}
	return out
}

// number reads the number that begins at a digit; ok is false for a part of a name.
func number(text string, at int) (f *Figure, end int, ok bool) {
	f = &Figure{}
	f.Place.Column = at + 1
	isName := isInside(text, at)
	if seconds, n := clock(text[at:]); n > 0 && !isName {
		f.Value, f.Half, f.Unit, f.Kind, f.Text = seconds, 0.5, "h:m:s", Time, text[at:at+n]
		return f, at + n, true
	}
	if n := moment(text[at:]); n > 0 {
		return nil, at + n, false
	}
	end = at
	point := -1
	for ; end < len(text); end++ {
		isPoint := text[end] == '.' && point < 0 && end+1 < len(text) && isDigit(text[end+1])
		if isPoint {
			point = end
		}
		if !isDigit(text[end]) && !isPoint && !(text[end] == ',' && point < 0 && isThousands(text, at, end)) {
			break
		}
	}
	places := 0
	if point >= 0 {
		places = end - point - 1
	}
	exponent, n := exponentOf(text[end:])
	value, err := strconv.ParseFloat(strings.ReplaceAll(text[at:end], ",", ""), 64)
	isAddress := end+1 < len(text) && text[end] == '.' && isDigit(text[end+1])
	if err != nil || isName || isAddress || end-at > 60 {
		for end < len(text) && (isAlnum(text[end]) || text[end] == '.' && end+1 < len(text) &&
			isAlnum(text[end+1])) {
			end++
		}
		return nil, end, false
	}
	end += n
	scale := math.Pow10(exponent)
	f.Value, f.Half = value*scale, 0.5*math.Pow10(-places)*scale
	end, ok = f.readUnit(text, at, end)
	f.Text = text[at:end]
	return f, end, ok && !math.IsInf(f.Value, 0)
}

// moment returns the length of a time of day or a date, 12:30 or 2026-11-28, or 0.
func moment(text string) int {
	n := 0
	for n < len(text) && n < 5 && isDigit(text[n]) {
		n++
	}
	if n+2 >= len(text) || text[n] != ':' && (n != 4 || text[n] != '-') || !isDigit(text[n+1]) ||
		!isDigit(text[n+2]) {
		return 0
	}
	for n < len(text) && (isDigit(text[n]) || strings.IndexByte(":-.", text[n]) >= 0) {
		n++
	}
	return n
}

// isInside reports whether the digit at a place is inside a name: ResNet50, CIFAR-10, v1.2.
func isInside(text string, at int) bool {
	before, size := utf8.DecodeLastRuneInString(text[:at])
	var further byte
	if at > size {
		further = text[at-size-1]
	}
	switch before {
	case '_':
		return true
	case '-', '.':
		return isAlnum(further) && !isDigit(further)
	case '×', 'µ':
		return false
	}
	return unicode.IsLetter(before) && !(before == 'x' && isDigit(further))
}

// exponentOf reads an exponent such as e-4 and returns its length.
func exponentOf(text string) (exponent, n int) {
	if text == "" || text[0]|32 != 'e' {
		return 0, 0
	}
	n = 1
	if n < len(text) && (text[n] == '-' || text[n] == '+') {
		n++
	}
	start := n
	for n < len(text) && n < start+3 && isDigit(text[n]) {
		n++
	}
	if n == start || n < len(text) && isAlnum(text[n]) {
		return 0, 0
	}
	exponent, _ = strconv.Atoi(text[1:n])
	return exponent, n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isAlnum(c byte) bool { return isDigit(c) || c|32 >= 'a' && c|32 <= 'z' || c == '_' }

// isThousands reports whether the comma at end parts thousands: after at most three digits, before three.
func isThousands(text string, at, end int) bool {
	if end+4 > len(text) || !isDigit(text[end+1]) || !isDigit(text[end+2]) || !isDigit(text[end+3]) ||
		end+4 < len(text) && isDigit(text[end+4]) {
		return false
	}
	first := strings.IndexByte(text[at:end], ',')
	return (first < 0 && end-at <= 3 || first > 0 && (end-at-first)%4 == 0) && text[at] != '0'
}

// clock reads a time such as 00:01:15.
func clock(text string) (seconds float64, n int) {
	for part := range 3 {
		start := n
		for n < len(text) && n < start+3 && isDigit(text[n]) {
			n++
		}
		v, err := strconv.Atoi(text[start:n])
		if err != nil || part > 0 && (n-start != 2 || v > 59) {
			return 0, 0
		}
		seconds = 60*seconds + float64(v)
		if part < 2 {
			if n == len(text) || text[n] != ':' {
				return 0, 0
			}
			n++
		}
	}
	if n < len(text) && (text[n] == ':' || text[n] == '.') || seconds > 12*3600 {
		return 0, 0 // a moment of a log
	}
	return seconds, n
}

// word returns the end of the letters of a unit at i.
func word(text string, i int) int {
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsLetter(r) && r != 'µ' {
			break
		}
		i += n
	}
	return i
}

// readUnit takes what stands around the number at text[at:end] into f: sign, currency, unit. ok is
// false if it
// is the beginning of a name, such as 3x3 or 2a.
func (f *Figure) readUnit(text string, at, end int) (next int, ok bool) {
	f.readHead(text[max(0, at-20):at])
	if end < len(text) && text[end] == '+' {
		f.isBound = true
		end++
	}
	i := end
	if rest := text[i:]; strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "-") {
		i++
	} else if strings.HasPrefix(rest, "\u00a0") {
		i += 2
	}
	j := word(text, i)
	name, isApart := text[i:j], i > end
	switch {
	case strings.HasPrefix(text[i:], "%"):
		f.setUnit("%", allUnits["%"])
		return i + 1, true
	case strings.HasPrefix(text[i:], "×"), name == "x":
		after := strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(text[i:], "×"), "x"), " ")
		if isApart || after != "" && isDigit(after[0]) { // a product
			return end, true
		}
		return f.times(text, i+len("×")-strings.Count(name, "x")), true
	case name == "" && f.Kind == Cost:
		return f.per(text, end), true
	case name == "":
		return end, true
	case name == "per":
		return f.per(text, end), true
	}
	magnitudes := map[string]float64{"K": 1e3, "k": 1e3, "M": 1e6, "B": 1e9, "G": 1e9}
	if times, isMagnitude := magnitudes[name]; isMagnitude && !isApart {
		f.Value, f.Half = f.Value*times, f.Half*times
		return j, true
	}
	u, isKnown := allUnits[singular(name)]
	if !isKnown || name == "M" || (name == "m" || name == "d") && isApart {
		return end, isApart
	}
	if k := word(text, min(len(text), j+1)); u.kind == Workers && k > j+1 && text[j] == '-' {
		f.Unit, f.Kind = text[i:k], Setting // GPU-hours
		return k, true
	}
	f.setUnit(name, u)
	return f.per(text, j), true
}

// readHead takes the sign, the currency and the words before a number.
func (f *Figure) readHead(head string) {
	bare := strings.TrimRight(head, " ")
	if n := len(bare); n > 0 && (bare[n-1] == '$' || strings.HasSuffix(bare, "€")) {
		f.Kind, f.Unit = Cost, "$"
		bare = strings.TrimRight(bare, "$€ ")
	}
	isTouching := len(bare) == len(head)
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

// times makes f a factor, or a number of workers as in "2× GPU".
func (f *Figure) times(text string, end int) int {
	j := end
	for j < len(text) && text[j] == ' ' {
		j++
	}
	u, isKnown := allUnits[singular(text[j:word(text, j)])]
	if !isKnown || u.kind != Workers && u.kind != Cores {
		u = allUnits["×"]
	}
	f.setUnit("×", u)
	return end
}

func (f *Figure) setUnit(name string, u unit) {
	f.Unit, f.Kind, f.Value, f.Half = name, u.kind, f.Value*u.times, f.Half*u.times
}

// per reads what stands behind a unit: "/s", "per epoch", "/hour".
func (f *Figure) per(text string, end int) int {
	rest := text[end:]
	i := end
	switch {
	case strings.HasPrefix(rest, "/"):
		i++
	case strings.HasPrefix(rest, " per "), strings.HasPrefix(rest, " a "):
		i += strings.LastIndexByte(rest[:min(len(rest), 5)], ' ') + 1
	default:
		return end
	}
	j := word(text, i)
	of := singular(text[i:j])
	u := allUnits[of]
	switch {
	case u.kind == Time && f.Kind == Size:
		f.Kind = Bandwidth
	case u.kind == Time && (f.Kind == Count || f.Kind == Steps):
		f.Kind = Rate
	case u.kind == Time && f.Kind == Cost:
		f.Kind = Price
		f.Value, f.Half = f.Value/u.times, f.Half/u.times
		return j
	case u.kind == Workers:
		f.isEach = true
		return j
	case f.Kind == Time && scopes()[of] != "":
		f.Scope = scopes()[of]
		f.Unit = text[:j][end-len(f.Unit):]
		return j
	default:
		return end
	}
	f.Value, f.Half = f.Value/u.times, f.Half/u.times
	f.Unit += text[end:j]
	return j
}

// join appends a number and ties it to the one before: a range, a fraction, hours and minutes.
func join(text string, out []*Figure, f *Figure, at int) []*Figure {
	if len(out) == 0 {
		return append(out, f)
	}
	last := out[len(out)-1]
	between := strings.TrimSpace(text[last.Place.Column-1+len(last.Text) : at])
	switch {
	case last.Kind == Time && f.Kind == Time && between == "" && f.Unit != last.Unit && f.Value < last.Value:
		last.Value, last.Half, last.Unit = last.Value+f.Value, f.Half, f.Unit
		last.Text = text[last.Place.Column-1 : f.Place.Column-1+len(f.Text)]
		return out
	case (between == "-" || between == "–" || between == "to") && (last.Unit == "" || last.Kind == f.Kind) &&
		last.over == nil && f.Value > last.Value:
		if last.Unit == "" && f.Unit != "" {
			scale := allUnits[singular(f.Unit)].times
			if f.Unit == "×" || scale == 0 {
				scale = 1
			}
			last.Unit, last.Kind, last.Value, last.Half = f.Unit, f.Kind, last.Value*scale, last.Half*scale
		}
		last.upTo, f.isEnd = f, true
		if n := len(out); n > 1 && out[n-2].Value >= last.Value && out[n-2].Value <= f.Value {
			out[n-2].spread = f.Value - last.Value
		}
		last.isEach = last.isEach || f.isEach
	case between == "±" || between == "+/-" || between == "+-":
		last.spread, f.isEnd = 2*f.Value, true
	case between == "/" && last.Unit == "" && f.Value > 0 && last.Value <= f.Value:
		last.over, f.isEnd = f, true
	}
	return append(out, f)
}
