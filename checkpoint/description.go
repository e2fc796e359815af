package checkpoint

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"lockstep/data/table"
	"lockstep/data/wordpiece"
)

// Names of the files beside weights that say what the weights mean, as Hugging Face's programs write them.
const (
	ConfigFile          = "config.json"
	TokenizerFile       = wordpiece.TokenizerFile
	TokenizerConfigFile = wordpiece.ConfigFile
	VocabularyFile      = wordpiece.VocabularyFile
)

// Beside returns the path of the named file in the folder of weights, which is path itself or the folder of
// the file at path, or of a checkpoint in that of its run; "" if it is not there.
func Beside(path, name string) string {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		path = filepath.Dir(path)
	}
	folders := []string{path}
	if IsCheckpoint(path) {
		folders = append(folders, filepath.Join(path, "..", ".."))
	}
	for _, folder := range folders {
		file := filepath.Join(folder, name)
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return ""
}

// Companions lists the files beside that at path that say what weights or a vocabulary mean.
func Companions(path string) []string {
	var found []string
	for _, name := range []string{ConfigFile, TokenizerFile, TokenizerConfigFile, VocabularyFile} {
		if file := Beside(path, name); file != "" && file != filepath.Clean(path) {
			found = append(found, file)
		}
	}
	return found
}

// Description is what a file of weights says of itself in its metadata. The zero value says nothing.
type Description struct {
	// Classes names the outputs of the head in their order.
	Classes []string
	// Mean and Std normalise each channel of the network's images.
	Mean, Std []float32
	// Input is the shape of an image, [H, W, C]; nil for texts.
	Input []int
	// Table says what the columns mean of a table whose rows are the inputs; nil of others.
	Table *table.Table
	// Values says what the outputs are of a network that predicts numbers; nil of one that tells classes.
	Values []table.Value
}

// Keys of the metadata: numbers with commas, a JSON array of strings, and a table and values as JSON.
const (
	meanKey    = "lockstep.mean"
	stdKey     = "lockstep.std"
	classesKey = "lockstep.classes"
	inputKey   = "lockstep.input"
	tableKey   = "lockstep.table"
	valuesKey  = "lockstep.values"
)

// Metadata returns d as metadata for Save.
func (d Description) Metadata() map[string]string {
	metadata := map[string]string{}
	if len(d.Mean) > 0 {
		metadata[meanKey], metadata[stdKey] = formatNumbers(d.Mean), formatNumbers(d.Std)
	}
	if len(d.Classes) > 0 {
		text, _ := json.Marshal(d.Classes) // strings have no error
		metadata[classesKey] = string(text)
	}
	if len(d.Input) > 1 {
		metadata[inputKey] = strings.Trim(strings.Join(strings.Fields(fmt.Sprint(d.Input)), ","), "[]")
	}
	if d.Table != nil {
		text, _ := json.Marshal(d.Table) // strings and finite numbers have no error
		metadata[tableKey] = string(text)
	}
	if len(d.Values) > 0 {
		text, _ := json.Marshal(d.Values) // likewise
		metadata[valuesKey] = string(text)
	}
	return metadata
}

// Describe returns what the file says of itself. Errors: *FormatError.
func (r *Reader) Describe() (d Description, err error) {
	if text, ok := r.Metadata[classesKey]; ok {
		if err := json.Unmarshal([]byte(text), &d.Classes); err != nil {
			return d, r.wrongEntry(classesKey, text, `no list of names such as ["cat", "dog"]`)
		}
	}
	if d.Mean, err = r.numbers(meanKey); err == nil {
		d.Std, err = r.numbers(stdKey)
	}
	if err == nil && len(d.Std) != len(d.Mean) {
		err = r.wrongEntry(stdKey, r.Metadata[stdKey], "not one number for each of "+meanKey)
	}
	if err == nil {
		d.Input, err = r.shape()
	}
	if err == nil {
		err = r.table(&d)
	}
	if text, ok := r.Metadata[valuesKey]; ok && err == nil {
		if err = json.Unmarshal([]byte(text), &d.Values); err == nil {
			err = table.CheckValues(d.Values)
		}
		if err != nil {
			err = r.wrongEntry(valuesKey, text, fmt.Sprintf("no description of numbers: %v", err))
		}
	}
	return d, err
}

// table reads what the columns of inputs mean, which must agree with their shape.
func (r *Reader) table(d *Description) error {
	text, ok := r.Metadata[tableKey]
	if !ok {
		return nil
	}
	d.Table = &table.Table{}
	err := json.Unmarshal([]byte(text), d.Table)
	if err == nil {
		err = d.Table.Check()
	}
	if err != nil {
		return r.wrongEntry(tableKey, text, fmt.Sprintf("no description of columns: %v", err))
	}
	if n := d.Table.Channels(); len(d.Input) != 3 || d.Input[0] != 1 || d.Input[1] != 1 || d.Input[2] != n {
		return r.wrongEntry(tableKey, text, fmt.Sprintf("of %d channels, but inputs are %v", n, d.Input))
	}
	return nil
}

// numbers returns the numbers of a metadata entry; nil if there is none.
func (r *Reader) numbers(key string) ([]float32, error) {
	text, ok := r.Metadata[key]
	if !ok {
		return nil, nil
	}
	var numbers []float32
	for part := range strings.SplitSeq(text, ",") {
		x, err := strconv.ParseFloat(part, 32)
		if err != nil || !(math.Abs(x) <= math.MaxFloat32) || key == stdKey && x <= 0 {
			return nil, r.wrongEntry(key, text, "no list of numbers such as 0.5,0.25")
		}
		numbers = append(numbers, float32(x))
	}
	return numbers, nil
}

// maxChannels bounds the channels of an image, and maxValues those of a row of a table, which is one pixel.
const (
	maxChannels = 256
	maxValues   = table.MaxColumns * table.MaxCategories
)

// shape returns the shape of an image, of sides up to 2^16; nil if it is not told.
func (r *Reader) shape() (shape []int, err error) {
	numbers, err := r.numbers(inputKey)
	for i, x := range numbers {
		most := float32(1 << 16)
		if i == 2 {
			most = maxChannels
		}
		if i == 2 && shape[0] == 1 && shape[1] == 1 {
			most = maxValues
		}
		if n := int(x); !(x >= 1 && x <= most) || float32(n) != x || len(numbers) != 3 {
			return nil, r.wrongEntry(inputKey, r.Metadata[inputKey],
				"no height, width and channels such as 32,32,3")
		}
		shape = append(shape, int(x))
	}
	return shape, err
}

// wrongEntry says what is wrong with an entry of the metadata.
func (r *Reader) wrongEntry(key, text, reason string) error {
	return &FormatError{File: r.Path, Offset: -1,
		Reason: fmt.Sprintf("metadata %s: %.60q is %s", key, text, reason)}
}

// formatNumbers is the inverse of Reader.numbers.
func formatNumbers(numbers []float32) string {
	parts := make([]string, len(numbers))
	for i, x := range numbers {
		parts[i] = strconv.FormatFloat(float64(x), 'g', -1, 32)
	}
	return strings.Join(parts, ",")
}
