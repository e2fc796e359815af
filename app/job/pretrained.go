package job

import (
	"lockstep/app/setting"
	"lockstep/checkpoint"
)

// Files besides the weights that Hugging Face's from_pretrained reads.
const (
	pretrainedFile = "config.json"
	tokenizerFile  = "tokenizer_config.json"
)

// savePretrained writes the configuration of a text model and its vocabulary beside its weights.
func (w *worker) savePretrained() error {
	texts := w.task.train.Texts
	if texts == nil {
		return nil
	}
	p := w.task.network.Pretrained(w.task.train.Classes)
	if t := texts.Tokenizer; t != nil {
		if id, ok := t.Number("[PAD]"); ok {
			p.Padding = &id
		}
		if err := w.dir.Write(setting.VocabularyFile, t.Text()); err != nil {
			return err
		}
		err := w.dir.WriteJSON(tokenizerFile, map[string]any{"tokenizer_class": "BertTokenizer",
			"do_lower_case": !t.IsCased(), "model_max_length": p.Positions})
		if err != nil {
			return err
		}
	}
	return w.dir.WriteJSON(pretrainedFile, p)
}

// numWords returns the number of word embeddings in a file; 0 if it is not of a text model. Files of models
// without a classifier lack the prefix "bert." in their names.
func numWords(r *checkpoint.Reader) int {
	for _, prefix := range []string{"bert.", ""} {
		t, ok := r.Find(prefix + "embeddings.word_embeddings.weight")
		if ok && len(t.Shape) == 2 {
			return t.Shape[0]
		}
	}
	return 0
}

// fitWords sets the number of the network's word embeddings: that of the weights it starts from or, without
// weights, that of the vocabulary.
func (t *task) fitWords() error {
	texts, words := t.train.Texts, 0
	if texts == nil {
		return nil
	}
	if w := t.start.Weights; w != nil {
		words = w.Words
	}
	if words == 0 {
		words = texts.Vocabulary
	}
	if texts.Vocabulary > words {
		return setting.Refuse("vocab: %d tokens, but %s has embeddings for %d; "+
			"give the vocabulary it was made for", texts.Vocabulary, t.start.Weights.Path, words)
	}
	t.network = t.network.WithWords(words)
	return nil
}
