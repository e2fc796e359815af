package setting

import (
	_ "embed"
	"fmt"
	"iter"
	"slices"
	"strings"

	"lockstep/internal/spelling"
)

//go:embed elsewhere.txt
var elsewhereFile string

// elsewhere returns the lines of a section of elsewhere.txt: what stands before the colon, and behind it.
func elsewhere(section string) iter.Seq2[string, string] {
	_, lines, _ := strings.Cut(elsewhereFile, "["+section+"]\n")
	lines, _, _ = strings.Cut(lines, "\n\n")
	return func(yield func(before, behind string) bool) {
		for line := range strings.Lines(lines) {
			before, behind, _ := strings.Cut(strings.TrimSpace(line), ": ")
			if !yield(before, behind) {
				return
			}
		}
	}
}

// isOneOf reports whether name is one of theirs. batch_size and batch-size are one name.
func isOneOf(theirs, name string) bool {
	squeeze := strings.NewReplacer("-", "", "_", "").Replace
	return slices.Contains(strings.Fields(squeeze(theirs)), squeeze(strings.ToLower(name)))
}

// fromElsewhere returns the setting that other programs call name, and a remark on the name. Both are empty
// where the name is not known.
func fromElsewhere(name string) (setting, remark string) {
	for theirs, text := range elsewhere("remarks") {
		if isOneOf(theirs, name) {
			remark = text
		}
	}
	for ours, theirs := range elsewhere("settings") {
		if isOneOf(theirs, name) {
			setting = ours
		}
	}
	return setting, remark
}

// FromElsewhere returns the name of the setting that other programs call by this name; "" if there is none.
func FromElsewhere(name string) string {
	setting, _ := fromElsewhere(strings.TrimLeft(name, "-"))
	return setting
}

// Elsewhere returns the setting that is called by this name here or in other programs; "" if there is none.
func Elsewhere(name string) string {
	if bare := strings.TrimLeft(name, "-"); newResolver(nil).find(bare) != nil {
		return bare
	}
	return FromElsewhere(name)
}

// Hint suggests a setting for an unknown flag or key: the setting that other programs call by this name, or
// the nearest of known. The text has the form of spelling.Hint; it is "" if there is nothing to suggest.
func Hint(name string, known []string) string {
	bare := strings.TrimLeft(name, "-")
	setting, remark := fromElsewhere(bare)
	switch {
	case setting != "":
		text := fmt.Sprintf("; did you mean %q?", strings.TrimSuffix(name, bare)+setting)
		return strings.TrimSpace(text + " " + remark)
	case remark != "":
		return "; " + remark
	}
	return spelling.Hint(name, known)
}

// valueFromElsewhere returns the value that other programs, or papers, call by another name; "" if text is no
// such name.
func valueFromElsewhere(setting, text string) string {
	for ours, theirs := range elsewhere("values") {
		value, isOfSetting := strings.CutPrefix(ours, setting+" ")
		if isOfSetting && isOneOf(theirs, text) {
			return value
		}
	}
	return ""
}
