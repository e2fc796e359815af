package data

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"lockstep/data/wordpiece"
	"lockstep/internal/regular"
)

// bertFolder is the folder of the vocabulary below a data folder.
const bertFolder = "bert-base-uncased"

// maxTokenizerFile bounds the size in bytes of a tokenizer.json, of which that of BERT for 104 languages has
// 2 MB, and of a tokenizer_config.json.
const maxTokenizerFile = 16 << 20

// ReadVocabulary reads a WordPiece vocabulary: vocab.txt, or tokenizer.json, which also says how texts are
// cut into words. With a vocab.txt the tokenizer keeps upper case if do_lower_case is false in a
// tokenizer_config.json beside it or, if that file does not say, if the vocabulary contains upper case.
// Another way to cut texts than BERT's is an error. Errors: *ReadError, *FormatError.
func ReadVocabulary(path string) (*wordpiece.Tokenizer, error) {
	isWhole := filepath.Ext(path) == ".json"
	read := readVocabularyText
	if isWhole {
		read = readTokenizer
	}
	t, err := read(path)
	if err != nil {
		return nil, err
	}
	return t, setCased(t, filepath.Join(filepath.Dir(path), wordpiece.ConfigFile), isWhole)
}

// readVocabularyText reads a vocab.txt.
func readVocabularyText(path string) (*wordpiece.Tokenizer, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, &ReadError{File: path, Err: err}
	}
	defer file.Close()
	t, err := wordpiece.Read(file)
	var wrong *wordpiece.LineError
	switch {
	case err == nil:
		return t, nil
	case !errors.As(err, &wrong):
		return nil, err
	case wrong.Err != nil:
		return nil, &ReadError{File: path, Err: wrong.Err}
	}
	return nil, &FormatError{File: path, Offset: -1, Line: wrong.Line, Reason: wrong.Reason}
}

// readObject decodes the JSON object in a file into v, and reports whether there is a file.
func readObject(path string, v any) (isThere bool, err error) {
	file, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &ReadError{File: path, Err: err}
	}
	defer file.Close()
	if err := json.NewDecoder(io.LimitReader(file, maxTokenizerFile)).Decode(v); err != nil {
		return false, &FormatError{File: path, Offset: -1, Reason: "not the JSON that is wanted", Err: err}
	}
	return true, nil
}

// notBERTs says in what a tokenizer differs from BERT's.
func notBERTs(path, what string, got, want any) error {
	return &FormatError{File: path, Offset: -1, Next: "texts are cut in BERT's way alone",
		Reason: fmt.Sprintf("%s: got %.80s, want %v", what, fmt.Sprint(cmp.Or(got, any("none"))), want)}
}

// setCased reads from a file, if it exists, whether a tokenizer keeps upper case, which a tokenizer.json has
// told already if isTold.
func setCased(t *wordpiece.Tokenizer, path string, isTold bool) error {
	var config struct {
		Class   string `json:"tokenizer_class"`
		Lower   *bool  `json:"do_lower_case"`
		Accents *bool  `json:"strip_accents"`
		Chinese *bool  `json:"tokenize_chinese_chars"`
	}
	if isThere, err := readObject(path, &config); err != nil || !isThere {
		return err
	}
	isBERTs := config.Class == "" || config.Class == "BertTokenizer" || config.Class == "BertTokenizerFast"
	switch {
	case !isBERTs && !isTold:
		return notBERTs(path, "tokenizer_class", config.Class, "BertTokenizer")
	case config.Lower != nil && isTold && *config.Lower == t.IsCased():
		return notBERTs(path, "do_lower_case", *config.Lower, "what tokenizer.json says")
	case config.Lower != nil:
		t.SetCased(!*config.Lower)
	}
	switch {
	case config.Accents != nil && *config.Accents == t.IsCased():
		return notBERTs(path, "strip_accents", *config.Accents, "null or the same as do_lower_case")
	case config.Chinese != nil && !*config.Chinese:
		return notBERTs(path, "tokenize_chinese_chars", false, true)
	}
	return nil
}

// tokenizerJSON is what a tokenizer.json of the library tokenizers says besides bert.json.
type tokenizerJSON struct {
	Added []struct {
		Content      string `json:"content"`
		Number       int    `json:"id"`
		IsNormalized bool   `json:"normalized"`
	} `json:"added_tokens"`
	Normalizer struct {
		Accents *bool `json:"strip_accents"`
		Lower   bool  `json:"lowercase"`
	} `json:"normalizer"`
	Model struct {
		Numbers map[string]int `json:"vocab"`
	} `json:"model"`
}

// bertJSON has, as Tokenizer, what the tokenizer.json of every BERT says and, as Frames, what one says of the
// tokens around texts. CLS and SEP stand for the numbers that these have in the vocabulary.
//
//go:embed bert.json
var bertJSON string

// readTokenizer reads a tokenizer.json.
func readTokenizer(path string) (*wordpiece.Tokenizer, error) {
	var j tokenizerJSON
	var whole map[string]any
	for _, v := range []any{&j, &whole} {
		if isThere, err := readObject(path, v); err != nil {
			return nil, err
		} else if !isThere {
			return nil, &ReadError{File: path, Err: fs.ErrNotExist}
		}
	}
	if err := j.check(path, whole); err != nil {
		return nil, err
	}
	tokens := make([]string, len(j.Model.Numbers))
	for token, n := range j.Model.Numbers {
		if n < 0 || n >= len(tokens) || tokens[n] != "" {
			return nil, &FormatError{File: path, Offset: -1, Reason: fmt.Sprintf(
				"token %.80q has number %d; want those from 0 to %d, each once", token, n, len(tokens)-1)}
		}
		tokens[n] = token
	}
	t, err := wordpiece.New(tokens)
	var wrong *wordpiece.LineError
	if errors.As(err, &wrong) {
		return nil, &FormatError{File: path, Offset: -1,
			Reason: fmt.Sprintf("token %d: %s", wrong.Line-1, wrong.Reason)}
	} else if err != nil {
		return nil, err
	}
	t.SetCased(!j.Normalizer.Lower)
	return t, nil
}

// check refuses another tokenizer than BERT's; whole is all that the file says.
func (j tokenizerJSON) check(path string, whole map[string]any) error {
	numbers := strings.NewReplacer(`"CLS"`, strconv.Itoa(j.Model.Numbers["[CLS]"]),
		`"SEP"`, strconv.Itoa(j.Model.Numbers["[SEP]"]))
	var bert struct{ Tokenizer, Frames map[string]any }
	if err := json.Unmarshal([]byte(numbers.Replace(bertJSON)), &bert); err != nil {
		return fmt.Errorf("data: bert.json: %w", err)
	}
	if at, got, want := difference("", whole, bert.Tokenizer); at != "" {
		return notBERTs(path, at, got, want)
	}
	if n := j.Normalizer; n.Accents != nil && *n.Accents != n.Lower {
		return notBERTs(path, "strip_accents", *n.Accents, "null or the same as lowercase")
	}
	special := []string{"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"}
	for _, a := range j.Added {
		if !slices.Contains(special, a.Content) || a.IsNormalized || j.Model.Numbers[a.Content] != a.Number {
			return notBERTs(path, "added_tokens", a.Content, strings.Join(special, ", ")+", as in vocab")
		}
	}
	frame, _ := whole["post_processor"].(map[string]any)
	kind, _ := frame["type"].(string)
	if at, _, _ := difference("frame", frame, bert.Frames[kind]); at != "" {
		return notBERTs(path, "post_processor", frame["type"], "[CLS] text [SEP] second text [SEP]")
	}
	return nil
}

// difference returns the path below at, and both values, of the first entry of want that got has otherwise;
// "" if there is none. Objects of got may have further entries.
func difference(at string, got, want any) (path string, is, wanted any) {
	object, isObject := want.(map[string]any)
	if !isObject {
		if reflect.DeepEqual(got, want) {
			return "", nil, nil
		}
		return at, got, want
	}
	its, _ := got.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		path, is, wanted = difference(strings.TrimPrefix(at+"."+name, "."), its[name], object[name])
		if path != "" {
			return path, is, wanted
		}
	}
	return "", nil, nil
}

// vocabulary reads the vocabulary that o names, or the one in a data folder. set is the data set
// that needs it, for errors.
func (o Options) vocabulary(set string) (*wordpiece.Tokenizer, error) {
	if o.Tokenizer != nil {
		return o.Tokenizer, nil
	}
	if o.Vocabulary != "" {
		return ReadVocabulary(o.Vocabulary)
	}
	for _, folder := range o.folders() {
		if path := filepath.Join(folder, bertFolder, wordpiece.VocabularyFile); isFile(path) {
			return ReadVocabulary(path)
		}
	}
	return nil, &MissingError{Set: "vocabulary of the texts in " + set,
		Files: []string{bertFolder + "/" + wordpiece.VocabularyFile}, Searched: o.folders(),
		Folder: o.target(), Instead: "name a vocabulary with --vocab"}
}

// maxOwnTokens bounds the tokens of a vocabulary that is made of the user's own texts.
const maxOwnTokens = 8192

// ownVocabulary makes a vocabulary of the training texts in files, without those that are held out.
func (o Options) ownVocabulary(ctx context.Context, files partPaths) (*wordpiece.Tokenizer, error) {
	s, hashes := &Set{NumTargets: o.numTargets()}, []uint64(nil)
	t := &textReader{textColumn: o.TextColumn, labelColumn: o.LabelColumn, pairColumn: o.PairColumn,
		options: o}
	err := t.each(ctx, files[trainPart], func(r record, line int) error {
		hashes = append(hashes, textHash(r.text, r.pair))
		return t.note(s, r, files[trainPart], line)
	})
	if err != nil {
		return nil, err
	}
	if _, err := t.leaveUnlabelled(ctx, &files); err != nil {
		return nil, err
	}
	held := make([]bool, len(hashes))
	if files[validationPart] == "" && files[testPart] == "" {
		held = heldOut(s.strata(), hashes)
	}
	words, i := wordpiece.NewWords(), 0
	err = t.each(ctx, files[trainPart], func(r record, _ int) error {
		if i < len(held) && !held[i] {
			words.Add(r.text)
			words.Add(r.pair)
		}
		i++
		return nil
	})
	if err == nil && i != len(held) {
		err = changed(files[trainPart])
	}
	if err != nil {
		return nil, err
	}
	return words.Tokenizer(maxOwnTokens)
}
