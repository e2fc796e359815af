package data_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/data"
)

// tokenizerFolder writes files beside each other and returns the path of the first name.
func tokenizerFolder(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, name)
}

// goldenTokenizer is what BertTokenizer(vocab=...).save_pretrained of transformers 5.24 wrote for the tokens
// [PAD] [UNK] [CLS] [SEP] [MASK] good bad film ##s a.
func goldenTokenizer(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTokenizerJSONCutsTextsAsItSays(t *testing.T) {
	golden := goldenTokenizer(t)
	cased := strings.Replace(golden, `"lowercase":true`, `"lowercase":false`, 1)
	older := golden[:strings.Index(golden, `"post_processor"`)] +
		`"post_processor":{"type":"BertProcessing","sep":["[SEP]",3],"cls":["[CLS]",2]},` +
		golden[strings.Index(golden, `"decoder"`):]
	for _, c := range []struct {
		json, config string
		want         []int32 // of "A good Film, films"
	}{
		{golden, "", []int32{2, 9, 5, 7, 1, 7, 8, 3}},
		{golden, `{"do_lower_case":true,"strip_accents":null,"tokenizer_class":"BertTokenizer"}`,
			[]int32{2, 9, 5, 7, 1, 7, 8, 3}},
		{older, `{"tokenizer_class":"PreTrainedTokenizerFast"}`, []int32{2, 9, 5, 7, 1, 7, 8, 3}},
		{cased, "", []int32{2, 1, 5, 1, 1, 7, 8, 3}},
		{cased, `{"do_lower_case":false}`, []int32{2, 1, 5, 1, 1, 7, 8, 3}},
	} {
		files := map[string]string{"tokenizer.json": c.json}
		if c.config != "" {
			files["tokenizer_config.json"] = c.config
		}
		tokenizer, err := data.ReadVocabulary(tokenizerFolder(t, "tokenizer.json", files))
		if err != nil {
			t.Errorf("%v", err)
		} else if got, _ := tokenizer.Encode(nil, "A good Film, films", 0); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.config, got, c.want)
		}
	}
}

func TestOtherTokenizersAreRefusedByName(t *testing.T) {
	golden := goldenTokenizer(t)
	replaced := func(old, now string) string {
		if !strings.Contains(golden, old) {
			t.Fatalf("no %s in %s", old, golden)
		}
		return strings.Replace(golden, old, now, 1)
	}
	for _, c := range []struct{ json, config, want string }{
		{replaced(`"type":"WordPiece","unk`, `"type":"BPE","unk`), "", "model.type: got BPE, want WordPiece"},
		{replaced(`"unk_token":"[UNK]"`, `"unk_token":"<unk>"`), "", "unk_token: got <unk>, want [UNK]"},
		{golden, `{"do_lower_case":false}`, "do_lower_case: got false"},
		{replaced(`"max_input_chars_per_word":100`, `"max_input_chars_per_word":50`), "", "got 50, want 100"},
		{replaced(`"handle_chinese_chars":true`, `"handle_chinese_chars":false`), "", "chars: got false"},
		{replaced(`"strip_accents":null`, `"strip_accents":false`), "", "strip_accents: got false"},
		{replaced(`"type":"BertNormalizer"`, `"type":"Lowercase"`), "", "normalizer.type: got Lowercase"},
		{replaced(`"type":"BertPreTokenizer"`, `"type":"Whitespace"`), "", "tokenizer.type: got Whitespace"},
		{replaced(`"content":"[MASK]"`, `"content":"[E1]"`), "", "added_tokens: got [E1]"},
		{replaced(`"content":"[PAD]"`, `"content":""`), "", "added_tokens: got , want [UNK]"},
		{replaced(`"id":"B","type_id":1`, `"id":"B","type_id":0`), "", "post_processor: got Template"},
		{replaced(`"film":7`, `"film":6`), "", "has number 6; want those from 0 to 9, each once"},
		{replaced(`"[CLS]":2,`, `"x":2,`), "", "added_tokens: got [CLS]"},
		{golden, `{"tokenize_chinese_chars":false}`, "tokenize_chinese_chars: got false, want true"},
		{"[]", "", "not the JSON that is wanted"},
	} {
		path := tokenizerFolder(t, "tokenizer.json", map[string]string{"tokenizer.json": c.json,
			"tokenizer_config.json": orObject(c.config)})
		_, err := data.ReadVocabulary(path)
		var fault *data.FormatError
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	path := tokenizerFolder(t, "vocab.txt", map[string]string{"vocab.txt": "[UNK]\n[CLS]\n[SEP]\n",
		"tokenizer_config.json": `{"tokenizer_class":"BertJapaneseTokenizer"}`})
	if _, err := data.ReadVocabulary(path); err == nil ||
		!strings.Contains(err.Error(), "tokenizer_class: got BertJapaneseTokenizer, want BertTokenizer") {
		t.Errorf("%v", err)
	}
}

func orObject(text string) string {
	if text == "" {
		return "{}"
	}
	return text
}

func TestTextsWithoutAVocabularyAskForOne(t *testing.T) {
	path := tokenizerFolder(t, "t.csv", map[string]string{"t.csv": "text,label\na,0\nb,1\nc,1\n"})
	folder := t.TempDir()
	for o, want := range map[*data.Options]string{
		{Dir: folder}: "data: vocabulary of the texts in " + path + " not found in " + folder + "; put " +
			"bert-base-uncased/vocab.txt into " + folder + ", or name a vocabulary with --vocab",
		{}: "data: vocabulary of the texts in " + path + ": no folder to look in; name one that holds " +
			"bert-base-uncased/vocab.txt with --data-dir or LOCKSTEP_DATA, or name a vocabulary with --vocab",
	} {
		if s, _, err := data.Load(t.Context(), path, *o); err != nil || s.Texts.Vocabulary != 7 {
			t.Errorf("trained: %v, want two letters", err) // the third is held out
		}
		o.EvalOnly = true
		_, _, err := data.Load(t.Context(), path, *o)
		if err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

func TestRelabel(t *testing.T) {
	s := &data.Set{Classes: []string{"a", "b"}, Labels: []int32{0, 1, 1}}
	other, err := s.Relabel([]string{"b", "c", "a"}, []int{2, 0})
	if err != nil || !slices.Equal(other.Labels, []int32{2, 0, 0}) || s.Labels[0] != 0 {
		t.Errorf("%v, %+v", err, other)
	}
	if _, err := s.Relabel(make([]string, 70_000), []int{2, 65536}); err == nil ||
		!strings.Contains(err.Error(), `class "b" has number 65536, want at most 65535`) {
		t.Errorf("%v", err)
	}
}
