package launcher_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/input"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/data"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/nn"
)

// write writes files to a folder, which it makes.
func write(t *testing.T, folder string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// opinions returns a folder of texts of two kinds with these labels, each kind unless its label is "".
func opinions(t *testing.T, good, bad string) string {
	t.Helper()
	text := "text\tlabel\n"
	for i := range 24 {
		if label := [...]string{good, bad}[i%2]; label != "" {
			kind := [...]string{"good", "bad"}[i%2]
			text += "a " + kind + strings.Repeat(" film", i/2%4) + "\t" + label + "\n"
		}
	}
	return write(t, t.TempDir(), map[string]string{"train.tsv": text, "dev.tsv": text})
}

// learned trains a network for texts to tell both kinds, and returns its run.
func learned(t *testing.T, change ...func(*setting.Config)) (setting.Config, string) {
	t.Helper()
	c := texts(t, 5)
	for _, f := range change {
		f(&c)
	}
	c.Data, c.Sequence, c.Batch = opinions(t, "positive", "negative"), 8, 24
	c.Epochs, c.Optimizer.LR = 12, 1e-3
	c.Vocab = filepath.Join(write(t, t.TempDir(), map[string]string{
		"vocab.txt": "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngood\nbad\nfilm\n##s\na\n"}), "vocab.txt")
	s := run(t, c, launcher.Options{})
	if *s.TestAccuracy != 1 {
		t.Fatalf("accuracy %v: too little training for this test", *s.TestAccuracy)
	}
	c.Vocab, c.EvalOnly, c.CheckpointEvery = "", true, ""
	return c, s.Directory
}

// copied copies the files of a run beside its weights, with others in their place; "" leaves one out.
func copied(t *testing.T, run string, instead map[string]string) string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{"model.safetensors", "config.json", "vocab.txt", "tokenizer_config.json"} {
		text, err := os.ReadFile(filepath.Join(run, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	maps.Copy(files, instead)
	maps.DeleteFunc(files, func(_, text string) bool { return text == "" })
	return write(t, t.TempDir(), files)
}

// configWith returns the config.json of a run with other values.
func configWith(t *testing.T, run string, values map[string]any) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(run, "config.json"))
	config := map[string]any{}
	if err == nil {
		err = json.Unmarshal(text, &config)
	}
	maps.Copy(config, values)
	changed, failed := json.Marshal(config)
	if errors.Join(err, failed) != nil {
		t.Fatal(err, failed)
	}
	return string(changed)
}

// evaluated evaluates weights on data and returns what it said, but for the line about the data.
func evaluated(t *testing.T, c setting.Config, weights, set string) (*record.Summary, string, error) {
	t.Helper()
	var said bytes.Buffer
	c.Weights, c.Data, c.Out = weights, set, filepath.Join(t.TempDir(), "run")
	s, err := launcher.Run(t.Context(), c, launcher.Options{Stderr: &said})
	return s, withoutData(said.String()), err
}

// A checkpoint of a run has the vocabulary and the classes of its run, before that has ended too, and so have
// weights that were exported.
func TestCheckpointsAndExportsMeanWhatTheirRunDoes(t *testing.T) {
	c, trained := learned(t, func(c *setting.Config) { c.CheckpointEvery = "4" })
	good := write(t, t.TempDir(), map[string]string{"my.csv": "text,label\na good film,positive\n" +
		"good films,positive\na bad film,negative\n"})
	exported := filepath.Join(copied(t, trained, map[string]string{"model.safetensors": "",
		"config.json": ""}), "weights.safetensors")
	steps, err := filepath.Glob(filepath.Join(trained, "checkpoints", "step-*"))
	if err != nil || len(steps) == 0 {
		t.Fatal(steps, err)
	}
	newest := slices.MaxFunc(steps, func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) })
	r, err := checkpoint.Open(newest)
	if err != nil {
		t.Fatal(err)
	}
	delete(r.Metadata, "lockstep.classes") // that other programs do not write
	err = input.Explain(r, newest)
	if _, failed := checkpoint.Export(exported, r); errors.Join(err, failed, r.Close()) != nil {
		t.Fatal(err, failed)
	}
	for _, weights := range []string{newest, filepath.Join(newest, "model.safetensors"), exported} {
		s, said, err := evaluated(t, c, weights, filepath.Join(good, "my.csv"))
		if err != nil || *s.TestAccuracy != 1 || strings.Contains(said, "no vocabulary") {
			t.Errorf("%s: %v, %+v, %s", weights, err, s, said)
		}
	}
}

func TestLabelsAreTheClassesOfTheWeightsByName(t *testing.T) {
	c, trained := learned(t)
	type object = map[string]any
	config := func(labels, numbers any) string {
		return configWith(t, trained, object{"id2label": labels, "label2id": numbers})
	}
	named := func(zero, one string) string {
		return config(object{"0": zero, "1": one}, object{zero: 0, one: 1})
	}
	for name, k := range map[string]struct {
		config, good, bad string
		want              float64
		said, refused     string
	}{
		"as trained":        {named("negative", "positive"), "positive", "negative", 1, "", ""},
		"in another order":  {named("zzz", "aaa"), "aaa", "zzz", 1, "", ""},
		"quoted":            {config(nil, object{"n": "0", "p": "1"}), "p", "n", 1, "", ""},
		"label2id alone":    {config(nil, object{"zzz": 0, "aaa": 1}), "aaa", "zzz", 1, "", ""},
		"the other way":     {named("a", "b"), "a", "b", 0, "", ""},
		"in the file alone": {"", "positive", "negative", 1, "", ""},
		"unnamed beside":    {named("LABEL_0", "LABEL_1"), "positive", "negative", 1, "", ""},
		"one class":         {named("negative", "positive"), "positive", "", 1, "", ""},
		"numbers":           {named("no", "yes"), "1", "0", 1, "labels are taken as numbers of", ""},
		"one number":        {named("no", "yes"), "1", "", 1, "labels are taken as numbers", ""},
		"numbers as names":  {named("1", "2"), "2", "1", 1, "", ""},
		"no such number":    {named("1", "2"), "1", "0", 0, "", `label "0" is none of`},
		"spaces":            {named("negative ", "positive"), "positive", "negative", 1, "", ""},
		"another spelling":  {named("no", "yes"), "Yes", "no", 0, "", `label "Yes" is none of`},
		"one that lacks":    {named("no", "yes"), "great", "", 0, "", `label "great" is none of`},
		"a great number":    {named("no", "yes"), "2", "1", 0, "", `label "1" is none of`},
		"three names": {config(object{"0": "a", "1": "b", "2": "c"}, nil), "a", "b", 0, "",
			"3 classes are named, but classifier.weight has 2"},
		"a name twice": {config(object{"0": "a", "1": "a"}, nil), "a", "b", 0, "", `"a" names two classes`},
		"apart": {config(object{"0": "a", "1": "b"}, object{"a": 1, "b": 0}), "", "b", 0, "",
			"label2id"},
		"no class 0": {config(object{"1": "a", "2": "b"}, nil), "a", "b", 0, "", "none is number 0"},
	} {
		weights := copied(t, trained, map[string]string{"config.json": k.config})
		s, said, err := evaluated(t, c, weights, opinions(t, k.good, k.bad))
		switch {
		case k.refused != "":
			if job.ExitCode(err) != job.ExitData || !strings.Contains(err.Error(), k.refused) ||
				strings.Contains(err.Error(), "fresh-head") {
				t.Errorf("%s: %v, want %s", name, err, k.refused)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case *s.TestAccuracy != k.want || s.Classes != 2:
			t.Errorf("%s: accuracy %v of %d classes, want %v", name, *s.TestAccuracy, s.Classes, k.want)
		case k.said == "" && said != "" || !strings.Contains(said, k.said):
			t.Errorf("%s: said %q, want %q", name, said, k.said)
		}
	}
}

// Weights of another program may name no class.
func TestLabelsOfUnnamedClasses(t *testing.T) {
	c, trained := learned(t)
	weights := copied(t, trained, map[string]string{"config.json": ""})
	err := withoutMetadata(filepath.Join(weights, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	s, said, err := evaluated(t, c, weights, opinions(t, "x", "a"))
	want := " names no classes: they are taken to be those of "
	if err != nil || *s.TestAccuracy != 1 || !strings.Contains(said, want) {
		t.Errorf("%v, %q", err, said)
	}
	if s, _, err = evaluated(t, c, weights, opinions(t, "1", "")); err != nil || *s.TestAccuracy != 1 {
		t.Errorf("class number 1: %v", err)
	}
	_, _, err = evaluated(t, c, weights, opinions(t, "x", ""))
	if job.ExitCode(err) != job.ExitData || !strings.Contains(err.Error(), "classes: got 1, but ") {
		t.Errorf("one name: %v", err)
	}
	// Training goes on with the head, or with a new one.
	three := write(t, t.TempDir(), map[string]string{"train.csv": "text,label\ngood,x\nbad,y\nfilm,z\na,z\n"})
	c.EvalOnly, c.Data, c.Weights = false, three, weights
	c.Out = filepath.Join(t.TempDir(), "run")
	if _, err = launcher.Run(t.Context(), c, launcher.Options{}); !strings.Contains(fmt.Sprint(err),
		"--fresh-head") {
		t.Errorf("a head of another size: %v", err)
	}
	c.FreshHead, c.Data = true, opinions(t, "x", "a")
	c.Out = filepath.Join(t.TempDir(), "run")
	fresh := []string{"classifier.weight", "classifier.bias"}
	if s := run(t, c, launcher.Options{}); !slices.Equal(s.Weights.Fresh, fresh) {
		t.Errorf("%+v", s.Weights)
	}
}

// withoutMetadata writes a file again as another program would.
func withoutMetadata(path string) error {
	r, err := checkpoint.Open(path)
	if err != nil {
		return err
	}
	r.Metadata = nil
	_, err = checkpoint.Export(path+"2", r)
	return errors.Join(err, r.Close(), os.Rename(path+"2", path))
}

func TestOtherNetworksAreRefusedByName(t *testing.T) {
	c := texts(t, 7)
	trained := run(t, c, launcher.Options{}).Directory
	c.Vocab, c.EvalOnly = "", true
	for name, value := range map[string]any{
		"num_attention_heads": 4, "hidden_act": "relu", "layer_norm_eps": 1e-5, "model_type": "roberta",
		"position_embedding_type": "relative_key", "is_decoder": true, "problem_type": "regression",
		"num_hidden_layers": 4, "hidden_size": 256, "type_vocab_size": 1, "max_position_embeddings": 128,
	} {
		config := configWith(t, trained, map[string]any{name: value})
		_, _, err := evaluated(t, c, copied(t, trained, map[string]string{"config.json": config}), c.Data)
		want := fmt.Sprintf("describes another network than bert-tiny: %s: got %v, want ", name, value)
		if job.ExitCode(err) != job.ExitData || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, wrong := range []string{"", "[]", `{"hidden_size":"x"}`} {
		folder := copied(t, trained, nil)
		if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := evaluated(t, c, folder, c.Data)
		if job.ExitCode(err) != job.ExitData || !strings.Contains(err.Error(), "config.json: ") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// The words are those of the weights, never those of the data folder for a like number of tokens.
func TestTextsAreCutByTheVocabularyOfTheWeights(t *testing.T) {
	c, trained := learned(t)
	shared := write(t, t.TempDir(), map[string]string{
		"bert-base-uncased/vocab.txt": "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nbad\ngood\nfilm\n##s\na\n"})
	c.DataDir = shared
	tokenizer, err := os.ReadFile("../../../data/testdata/tokenizer.json") // of the words that learned uses
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]struct {
		files map[string]string
		want  float64
	}{
		"vocab.txt":      {nil, 1},
		"tokenizer.json": {map[string]string{"vocab.txt": "", "tokenizer.json": string(tokenizer)}, 1},
		"none":           {map[string]string{"vocab.txt": ""}, 0},
	} {
		s, said, err := evaluated(t, c, copied(t, trained, k.files), c.Data)
		if err != nil || *s.TestAccuracy != k.want || said != "" {
			t.Errorf("%s: %v, said %q", name, err, said)
		}
	}
	c.Vocab = write(t, t.TempDir(), map[string]string{
		"vocab.txt": "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngood\nbad\nfilm\n"}) + "/vocab.txt"
	_, _, err = evaluated(t, c, trained, c.Data)
	if err == nil || !strings.Contains(err.Error(), "8 tokens, but ") ||
		!strings.Contains(err.Error(), "embeddings for 10") {
		t.Errorf("%v", err)
	}
}

// colours returns a folder of images of plain colours, by the names of their classes.
func colours(t *testing.T, byName map[string]color.NRGBA) string {
	t.Helper()
	files := map[string]string{}
	for name, c := range byName {
		for i := range 6 {
			img := image.NewNRGBA(image.Rect(0, 0, 32, 32))
			for at := range 32 * 32 {
				img.SetNRGBA(at%32, at/32, color.NRGBA{c.R, c.G, c.B + uint8(i), 255})
			}
			var text bytes.Buffer
			if err := png.Encode(&text, img); err != nil {
				t.Fatal(err)
			}
			for _, part := range []string{"train", "val"} {
				files[fmt.Sprintf("%s/%s/%d.png", part, name, i)] = text.String()
			}
		}
	}
	return write(t, t.TempDir(), files)
}

func TestImagesHaveTheClassesOfTheWeights(t *testing.T) {
	blue, red := color.NRGBA{20, 20, 200, 255}, color.NRGBA{220, 30, 30, 255}
	c := short(t)
	c.Data = colours(t, map[string]color.NRGBA{"blue": blue, "red": red})
	c.Batch, c.Shards, c.Epochs = 12, 1, 20
	c.LimitTrain, c.LimitTest = -1, -1
	s := run(t, c, launcher.Options{})
	if *s.TestAccuracy != 1 {
		t.Fatalf("accuracy %v: too little training for this test", *s.TestAccuracy)
	}
	weights := s.Saved.Path
	c.EvalOnly, c.Epochs = true, 1
	s, _, err := evaluated(t, c, weights, colours(t, map[string]color.NRGBA{"red": red}))
	if err != nil || *s.TestAccuracy != 1 || s.Classes != 2 {
		t.Errorf("red alone: %v", err)
	}
	_, _, err = evaluated(t, c, weights, colours(t, map[string]color.NRGBA{"blue": blue, "Red": red}))
	if fault := (*data.FormatError)(nil); !errors.As(err, &fault) ||
		!strings.Contains(err.Error(), `label "Red" is none of the classes of `+weights+": blue, red") {
		t.Errorf("another spelling: %v", err)
	}
}

// A network of one's own need not declare its head; only the names of classes tell then how many there are.
func TestClassesOfANetworkWithoutADeclaredHead(t *testing.T) {
	models, err := model.Catalog{}.With("plain", func(x *graph.Node, classes int) *graph.Node {
		return nn.Linear{Out: classes}.Apply("fc", graph.Flatten(x))
	})
	if err != nil {
		t.Fatal(err)
	}
	c := short(t)
	c.Catalog, c.Model, c.Link = &setting.Catalog{Models: models}, "plain", "local"
	weights := run(t, c, launcher.Options{}).Saved.Path
	c.EvalOnly = true
	few := colours(t, map[string]color.NRGBA{"3": {}, "7": {}})
	if s, _, err := evaluated(t, c, weights, few); err != nil || s.Classes != 10 {
		t.Errorf("two of its classes: %v", err)
	}
	if err := withoutMetadata(weights); err != nil {
		t.Fatal(err)
	}
	if _, said, err := evaluated(t, c, weights, c.Data); err != nil || said != "" {
		t.Errorf("unnamed: %v, %q", err, said)
	}
}
