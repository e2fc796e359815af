package data

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"lockstep/data/wordpiece"
	"lockstep/internal/regular"
)

// bertFolder is the folder of the vocabulary below a data folder.
const bertFolder = "bert-base-uncased"

// tokenizerFile is the file beside a vocabulary that Hugging Face's tokenizers write; maxTokenizerFile bounds
// the size in bytes of it and of a tokenizer.json, of which that of BERT for 104 languages has 2 MB.
const (
	tokenizerFile    = "tokenizer_config.json"
	maxTokenizerFile = 16 << 20
)

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
	return t, setCased(t, filepath.Join(filepath.Dir(path), tokenizerFile), isWhole)
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
		Reason: fmt.Sprintf("%s: got %.80s, want %v", what, fmt.Sprint(got), want)}
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

// tokenizerJSON is what a tokenizer.json of the library tokenizers says.
type tokenizerJSON struct {
	Added []struct {
		Content      string `json:"content"`
		Number       int    `json:"id"`
		IsNormalized bool   `json:"normalized"`
	} `json:"added_tokens"`
	Normalizer *struct {
		Type    string `json:"type"`
		Clean   bool   `json:"clean_text"`
		Chinese bool   `json:"handle_chinese_chars"`
		Accents *bool  `json:"strip_accents"`
		Lower   bool   `json:"lowercase"`
	} `json:"normalizer"`
	Words *struct {
		Type string `json:"type"`
	} `json:"pre_tokenizer"`
	Frame *struct {
		Type   string `json:"type"`
		Single any    `json:"single"`
		Pair   any    `json:"pair"`
		First  []any  `json:"cls"`
		Last   []any  `json:"sep"`
	} `json:"post_processor"`
	Model struct {
		Type    string         `json:"type"`
		Unknown string         `json:"unk_token"`
		Tail    string         `json:"continuing_subword_prefix"`
		Longest int            `json:"max_input_chars_per_word"`
		Numbers map[string]int `json:"vocab"`
	} `json:"model"`
}

// readTokenizer reads a tokenizer.json.
func readTokenizer(path string) (*wordpiece.Tokenizer, error) {
	var j tokenizerJSON
	isThere, err := readObject(path, &j)
	if err == nil && !isThere {
		err = &ReadError{File: path, Err: fs.ErrNotExist}
	}
	if err == nil {
		err = j.check(path)
	}
	if err != nil {
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

// check refuses another tokenizer than BERT's.
func (j tokenizerJSON) check(path string) error {
	const none = "none"
	m := j.Model
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"model", m.Type, "WordPiece"}, {"unk_token", m.Unknown, "[UNK]"},
		{"continuing_subword_prefix", m.Tail, "##"}, {"max_input_chars_per_word", m.Longest, 100},
	} {
		if c.got != c.want {
			return notBERTs(path, c.what, c.got, c.want)
		}
	}
	switch n := j.Normalizer; {
	case n == nil:
		return notBERTs(path, "normalizer", none, "BertNormalizer")
	case n.Type != "BertNormalizer":
		return notBERTs(path, "normalizer", n.Type, "BertNormalizer")
	case !n.Clean || !n.Chinese:
		return notBERTs(path, "clean_text and handle_chinese_chars", []bool{n.Clean, n.Chinese}, "true")
	case n.Accents != nil && *n.Accents != n.Lower:
		return notBERTs(path, "strip_accents", *n.Accents, "null or the same as lowercase")
	case j.Words == nil:
		return notBERTs(path, "pre_tokenizer", none, "BertPreTokenizer")
	case j.Words.Type != "BertPreTokenizer":
		return notBERTs(path, "pre_tokenizer", j.Words.Type, "BertPreTokenizer")
	}
	special := []string{"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"}
	for _, a := range j.Added {
		if !slices.Contains(special, a.Content) || a.IsNormalized || m.Numbers[a.Content] != a.Number {
			return notBERTs(path, "added_tokens", a.Content, strings.Join(special, ", ")+", as in vocab")
		}
	}
	return j.checkFrame(path)
}

// checkFrame refuses another post_processor than one that puts [CLS] before a text and [SEP] behind each
// part.
func (j tokenizerJSON) checkFrame(path string) error {
	const want = "[CLS] text [SEP], and a second text [SEP]"
	f := j.Frame
	if f == nil {
		return notBERTs(path, "post_processor", "none", want)
	}
	named := func(name string) []any { return []any{name, float64(j.Model.Numbers[name])} }
	special := func(name string, kind float64) any {
		return map[string]any{"SpecialToken": map[string]any{"id": name, "type_id": kind}}
	}
	text := func(name string, kind float64) any {
		return map[string]any{"Sequence": map[string]any{"id": name, "type_id": kind}}
	}
	single := []any{special("[CLS]", 0), text("A", 0), special("[SEP]", 0)}
	pair := append(single[:3:3], text("B", 1), special("[SEP]", 1))
	isTemplate := f.Type == "TemplateProcessing" && reflect.DeepEqual(f.Single, any(single)) &&
		reflect.DeepEqual(f.Pair, any(pair))
	isBERTs := f.Type == "BertProcessing" && reflect.DeepEqual(f.First, named("[CLS]")) &&
		reflect.DeepEqual(f.Last, named("[SEP]"))
	if !isTemplate && !isBERTs {
		return notBERTs(path, "post_processor", f.Type, want)
	}
	return nil
}

// vocabulary reads the vocabulary that o names, or the one in a data folder. set is the data set
// that needs it, for errors.
func (o Options) vocabulary(set string) (*wordpiece.Tokenizer, error) {
	if o.Vocabulary != "" {
		return ReadVocabulary(o.Vocabulary)
	}
	for _, folder := range o.folders() {
		if path := filepath.Join(folder, bertFolder, "vocab.txt"); isFile(path) {
			return ReadVocabulary(path)
		}
	}
	return nil, &MissingError{Set: "vocabulary of the texts in " + set,
		Files: []string{bertFolder + "/vocab.txt"}, Instead: "name a vocabulary with --vocab",
		Searched: o.folders(), Folder: o.target()}
}
