package launcher_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/app/job/chooser"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
)

// texts writes a small set of texts, and a vocabulary of so many tokens, and returns a short run on them. It
// skips a short test: one worker has nothing for the race detector, and TestDrawnRunsEndWithTheSameBits draws
// texts for several.
func texts(t *testing.T, words int) setting.Config {
	t.Helper()
	if testing.Short() {
		t.Skip("trains one worker on texts")
	}
	c, folder := short(t), t.TempDir()
	c.Data, c.Vocab = filepath.Join(folder, "set"), filepath.Join(folder, "vocab.txt")
	var vocabulary strings.Builder
	vocabulary.WriteString("[UNK]\n[CLS]\n[SEP]\na\n")
	for i := 4; i < words; i++ {
		fmt.Fprintf(&vocabulary, "w%d\n", i)
	}
	if err := os.Mkdir(c.Data, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		c.Vocab:                            vocabulary.String(),
		filepath.Join(c.Data, "train.tsv"): "text\tlabel\na\tx\na a a a a\ty\na a a\tx\na a a a\tx\n",
		filepath.Join(c.Data, "dev.tsv"):   "text\tlabel\na\tx\na a a a a a\ty\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c.Model, c.Sequence, c.Optimizer.Name, c.Optimizer.LR = "bert-tiny", 5, "adamw", 1e-4
	c.LimitTrain, c.LimitTest, c.Batch, c.Shards, c.Epochs, c.Steps = -1, -1, 2, 2, 1, 0
	return c
}

// A scale of images changes no run on texts.
func TestTextsAreNotNormalized(t *testing.T) {
	want := run(t, texts(t, 5), launcher.Options{}).ParameterSHA256
	for _, scale := range []string{setting.NormalizeImageNet, setting.NormalizeData} {
		c := texts(t, 5)
		c.Normalize = scale
		if s := run(t, c, launcher.Options{}); s.ParameterSHA256 != want {
			t.Errorf("%s: parameters %s, want %s", scale, s.ParameterSHA256, want)
		}
	}
}

// val is what is evaluated after each epoch, test at the end alone, and every figure says which it is of.
func TestValidationAndTestAreTold(t *testing.T) {
	c := texts(t, 5)
	c.Epochs = 2
	both := "text\tlabel\na\tx\na a\tx\na a a\tx\na a a a a a\ty\n"
	if err := os.WriteFile(filepath.Join(c.Data, "test.tsv"), []byte(both), 0o644); err != nil {
		t.Fatal(err)
	}
	parts := func(s *record.Summary) (all []string) {
		for _, e := range s.Evaluations {
			all = append(all, fmt.Sprint(e.Part, " ", e.Steps, " ", e.Samples))
		}
		return all
	}
	var notes []string
	s := run(t, c, launcher.Options{Progress: func(p launcher.Progress) { notes = append(notes, p.Note) }})
	want := []string{"validation 2 2", "validation 4 2", "test 4 4"}
	if got := parts(s); !slices.Equal(got, want) || s.TestSamples != 4 ||
		*s.TestAccuracy != float64(s.Evaluations[2].Accuracy) || len(s.DataSHA256.Validation) != 64 {
		t.Errorf("evaluations %v, want %v; %d test samples", got, want, s.TestSamples)
	}
	const line = "set (training + validation + test): 2 classes, x: 3 + 1 + 3, y: 1 + 1 + 1, " +
		"together 4 + 2 + 4"
	if !slices.ContainsFunc(notes, func(note string) bool { return strings.HasSuffix(note, line) }) {
		t.Errorf("notes %q, want one with %q", notes, line)
	}
	if g := s.Guess; g == nil || g.Accuracy != 0.75 {
		t.Errorf("guessing gets %+v, want 0.75", g)
	}
	e := c
	e.Out, e.Weights, e.EvalOnly = filepath.Join(t.TempDir(), "e"), s.Directory, true
	if got := parts(run(t, e, launcher.Options{})); !slices.Equal(got, []string{"test 0 4"}) {
		t.Errorf("an evaluation is of %v, want the test", got)
	}
	if err := os.Remove(filepath.Join(c.Data, "test.tsv")); err != nil {
		t.Fatal(err)
	}
	c.Out = filepath.Join(t.TempDir(), "v")
	s = run(t, c, launcher.Options{})
	if got := parts(s); !slices.Equal(got, want[:2]) || record.Final(s.Evaluations).Of() != "validation" {
		t.Errorf("evaluations %v, want %v", got, want[:2])
	}
}

func TestSummaryCountsCutTexts(t *testing.T) {
	s := run(t, texts(t, 5), launcher.Options{})
	if want := (record.TextStat{Vocabulary: 5, TrainCut: 2, TestCut: 1}); s.Texts == nil || *s.Texts != want {
		t.Errorf("texts %+v, want %+v", s.Texts, want)
	}
	c := texts(t, 5)
	c.LimitTrain = 3 // the last one of those that are too long is not used
	s = run(t, c, launcher.Options{})
	if s.Texts.TrainCut != 1 {
		t.Errorf("%d of three texts are cut, want 1", s.Texts.TrainCut)
	}
	c = texts(t, 5)
	c.Weights, c.EvalOnly = s.Directory, true
	s = run(t, c, launcher.Options{})
	if want := (record.TextStat{Vocabulary: 5, TestCut: 1}); *s.Texts != want {
		t.Errorf("texts of an evaluation %+v, want %+v", *s.Texts, want)
	}
	if s.TTA != "none" || s.Evaluations[0].Views != 1 {
		t.Errorf("%s, %+v", s.TTA, s.Evaluations)
	}
}

// Embeddings may go on past the vocabulary that lies beside them: some programs fill them up to a round
// number.
func TestEmbeddingsPastTheVocabulary(t *testing.T) {
	c := texts(t, 8)
	folder := filepath.Dir(run(t, c, launcher.Options{}).Saved.Path)
	fewer, err := os.ReadFile(texts(t, 7).Vocab)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "vocab.txt"), fewer, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Vocab, c.Weights, c.EvalOnly, c.Out = "", folder, true, filepath.Join(t.TempDir(), "run")
	if s := run(t, c, launcher.Options{}); s.Texts.Vocabulary != 7 {
		t.Errorf("%+v, want 7 words", s.Texts)
	}
}

// A network has an embedding for each word of its vocabulary. Its run directory is what Hugging Face's
// from_pretrained takes, and so does --weights, which finds the vocabulary there.
func TestRunOnTextsIsAPretrainedFolder(t *testing.T) {
	c := texts(t, 7)
	trained := run(t, c, launcher.Options{})
	folder := filepath.Dir(trained.Saved.Path)
	for file, want := range map[string]string{"vocab.txt": c.Vocab, "config.json": "testdata/config.json",
		"tokenizer_config.json": "testdata/tokenizer_config.json"} {
		got, err := os.ReadFile(filepath.Join(folder, file))
		wanted, wantErr := os.ReadFile(want)
		if err != nil || wantErr != nil || string(got) != string(wanted) {
			t.Errorf("%s: %s, %v, want %s, %v", file, got, err, wanted, wantErr)
		}
	}
	c.Vocab, c.Weights, c.EvalOnly, c.Out = "", folder, true, filepath.Join(t.TempDir(), "run")
	s := run(t, c, launcher.Options{})
	if s.Texts.Vocabulary != 7 || *s.TestAccuracy != *trained.TestAccuracy {
		t.Errorf("%+v, accuracy %v, want 7 words and %v", s.Texts, *s.TestAccuracy, *trained.TestAccuracy)
	}
	c.Vocab, c.Out = texts(t, 8).Vocab, filepath.Join(t.TempDir(), "run")
	_, err := launcher.Run(context.Background(), c, launcher.Options{})
	var usage *setting.UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "vocab: 8 tokens, but "+folder+
		" has embeddings for 7; give the vocabulary it was made for") {
		t.Errorf("%v", err)
	}
}

// Math bf16 ends with one hash for any number of workers and threads and every exact strategy, which is not
// that of float32. A network without a product that it rounds ends with float32's.
func TestBF16HasOneHash(t *testing.T) {
	c := texts(t, 5)
	var many strings.Builder
	many.WriteString("text\tlabel\n")
	for i := range 64 {
		fmt.Fprintf(&many, "%s\t%s\n", strings.Repeat("a ", 2+i%4), []string{"x", "y"}[i%2])
	}
	if err := os.WriteFile(filepath.Join(c.Data, "train.tsv"), []byte(many.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	c.Batch, c.Shards, c.Math = 64, 4, "bf16"
	want := run(t, c, launcher.Options{})
	if want.Math != "bf16" {
		t.Errorf("the summary names math %s", want.Math)
	}
	for _, way := range []struct {
		workers, threads int
		strategy         string
	}{{1, 2, "single"}, {2, 1, "ddp"}, {4, 1, "all-reduce"}, {3, 1, "gather-scatter"}, {2, 2, "ps"}} {
		c.Workers, c.Threads, c.Strategy, c.Out = way.workers, way.threads, way.strategy, t.TempDir()+"/run"
		if got := run(t, c, launcher.Options{}).ParameterSHA256; got != want.ParameterSHA256 {
			t.Errorf("%+v: parameters %s, want %s", way, got, want.ParameterSHA256)
		}
	}
	c.Workers, c.Threads, c.Strategy, c.Math, c.Out = 1, 1, "single", "fast", t.TempDir()+"/run"
	if got := run(t, c, launcher.Options{}).ParameterSHA256; got == want.ParameterSHA256 {
		t.Error("bf16 changed nothing")
	}
	c = short(t)
	fast := run(t, c, launcher.Options{})
	c.Math, c.Out = "bf16", t.TempDir()+"/run"
	if got := run(t, c, launcher.Options{}).ParameterSHA256; got != fast.ParameterSHA256 {
		t.Errorf("%s: parameters %s, want float32's %s", c.Model, got, fast.ParameterSHA256)
	}
}

// Views change what is counted, not what is trained, and the summary says so.
func TestSummaryNamesTestTimeAugmentation(t *testing.T) {
	plain := run(t, short(t), launcher.Options{})
	c := short(t)
	c.TTA, c.Workers = "flip-shift", 2
	s := run(t, c, launcher.Options{})
	if s.TTA != "flip-shift" || s.Evaluations[0].Views != 6 || s.Texts != nil ||
		s.ParameterSHA256 != plain.ParameterSHA256 || s.TestSamples != plain.TestSamples {
		t.Errorf("%+v", s)
	}
}

// Short runs before a run read the vocabulary beside its weights.
func TestShortRunsOfTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("makes short runs for some seconds")
	}
	first := texts(t, 7)
	run(t, first, launcher.Options{})
	c := texts(t, 7)
	c.Vocab, c.Weights = "", first.Out // with its vocabulary
	c.Out, c.LimitTest = t.TempDir(), 0
	c.Workers, c.Strategy, c.Link = 2, setting.Auto, "local"
	var said bytes.Buffer
	s := run(t, c, launcher.Options{Stderr: &said, Choose: chooser.Choose})
	if s.Texts == nil || s.Texts.Vocabulary != 7 || !strings.Contains(said.String(), "strategy auto: ") {
		t.Errorf("texts %+v: %s", s.Texts, said.String())
	}
}
