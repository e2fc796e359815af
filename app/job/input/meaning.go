package input

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/job"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/data"
	"lockstep/internal/regular"
	"lockstep/internal/spelling"
	"lockstep/model"
)

// meaning is what weights say that they are, in their file and in those beside it. Whatever a run has to know
// of them it asks here.
type meaning struct {
	checkpoint.Description
	path    string
	config  []byte             // config.json; nil: there is none
	tensors *checkpoint.Reader // which may be closed
}

// maxConfig bounds the bytes of a config.json.
const maxConfig = 16 << 20

// describe returns what the weights in r, opened from path, say that they are. The names of classes in a
// config.json go before those in the metadata, because that is where people and other programs change them.
func describe(r *checkpoint.Reader, path string) (*meaning, error) {
	m := &meaning{path: path, tensors: r}
	var err error
	if m.Description, err = r.Describe(); err != nil {
		return nil, err
	}
	if config := checkpoint.Beside(path, checkpoint.ConfigFile); config != "" {
		f, err := regular.Open(config)
		if err != nil {
			return nil, &checkpoint.ReadError{Err: err}
		}
		defer f.Close()
		if m.config, err = io.ReadAll(io.LimitReader(f, maxConfig)); err != nil {
			return nil, &checkpoint.ReadError{Err: err}
		}
		names, err := model.ClassNames(m.config)
		if err != nil {
			return nil, m.refuse("%v", err)
		}
		if !model.AreGeneric(names) || m.Classes == nil {
			m.Classes = names
		}
	}
	return m, nil
}

// Explain adds to the metadata of r, which was opened from path, the classes that the files beside it name.
func Explain(r *checkpoint.Reader, path string) error {
	m, err := describe(r, path)
	if err == nil && !model.AreGeneric(m.Classes) {
		maps.Copy(r.Metadata, m.Metadata())
	}
	return err
}

// refuse says what is wrong with the config.json.
func (m *meaning) refuse(format string, args ...any) error {
	return &checkpoint.FormatError{File: checkpoint.Beside(m.path, checkpoint.ConfigFile), Offset: -1,
		Reason: fmt.Sprintf(format, args...)}
}

// meaning returns what the weights that the run begins with mean; nil without weights, and for an ONNX file
// that does not say it. n is the network of that file, with its own input and classes, where there are no
// other weights.
func (b Start) meaning(c setting.Config) (m *meaning, n model.Network, err error) {
	switch {
	case b.Weights != nil:
		err = job.WithFile(b.Weights.Path, func(r *checkpoint.Reader) error {
			m, err = describe(r, b.Weights.Path)
			return err
		})
	case model.IsFile(c.Model):
		n, err = c.Models().Named(c.Model, 0, nil)
		if said := n.Metadata(); said != nil {
			m = &meaning{path: c.Model}
			m.Description, err = (&checkpoint.Reader{Path: c.Model, Metadata: said}).Describe()
			scale, offset := n.Scale()
			for i := range min(len(scale), len(m.Values)) { // the file says those of its own outputs
				m.Values[i].Mean, m.Values[i].Std = offset[i], scale[i]
			}
		}
	}
	return m, n, err
}

// rows returns the number of rows of n's matrix called name; 0 if the file lacks it.
func (m *meaning) rows(n model.Network, name string) int {
	if m.tensors == nil {
		return 0
	}
	if t, ok := m.tensors.Weight(name, n.Parameters()); ok && len(t.Shape) > 1 {
		return t.Shape[0]
	}
	return 0
}

// stem returns the stem of n: that of c, or by auto that of the weights; auto if n has no choice or they do
// not tell.
func (m *meaning) stem(c setting.Config, n model.Network) string {
	if c.Stem != model.StemAuto || m == nil || m.tensors == nil {
		return c.Stem
	}
	t, _ := m.tensors.Weight(model.StemFilters, n.Parameters())
	return n.StemOf(t.Shape)
}

// check refuses weights of a network that computes otherwise than n.
func (m *meaning) check(n model.Network) error {
	if m.config == nil || !n.IsBERT() {
		return nil
	}
	differences, err := n.Differences(m.config)
	if err != nil {
		return m.refuse("%v", err)
	}
	if len(differences) > 0 {
		return m.refuse("describes another network than %s: %s", n.Name, strings.Join(differences, "; "))
	}
	return nil
}

// wordTable is the matrix with a row for each word that a network for texts knows.
const wordTable = "bert.embeddings.word_embeddings.weight"

// fitWords sets the number of the network's word embeddings: that of the weights it starts from or, without
// weights, that of the vocabulary. Words that are random have no vocabulary.
func (t *Task) fitWords(c setting.Config, m *meaning) error {
	texts, words := t.Train.Texts, 0
	if texts == nil {
		return nil
	}
	if m != nil {
		words = m.rows(t.Network, wordTable)
	}
	source := c.Model
	switch {
	case model.IsFile(c.Model):
		words = t.Network.Words
	case words == 0:
		words = texts.Vocabulary
	default:
		source = t.Start.Weights.Path
	}
	isTheirs := c.Vocab == "" && c.DataOptions(nil).Vocabulary != "" // which may fill up to a round number
	if n := texts.Vocabulary; n > words || n < words && texts.Tokenizer != nil && !isTheirs {
		return setting.Refuse("vocab: %d tokens, but %s has embeddings for %d; "+
			"give the vocabulary it was made for, beside it or with --vocab", n, source, words)
	}
	t.Network = t.Network.WithWords(words)
	return nil
}

// adopt lets the samples have the classes of weights that keep their head, under the numbers that they have
// there.
func (t *Task) adopt(c setting.Config, m *meaning) error {
	head := t.Network.Head()
	if m == nil || !t.Train.HasLabels() || c.FreshHead && t.Start.Resumed == nil {
		return nil
	}
	n := m.rows(t.Network, head)
	if m.tensors == nil {
		n = len(m.Classes)
	}
	switch {
	case n == 0 && head != "":
		return nil // the file has no head, which is refused when it is loaded
	case n == 0 && m.Classes == nil:
		return nil // the network has declared none, and nothing is known of the outputs
	case n == 0:
		n = len(m.Classes)
	case !model.AreGeneric(m.Classes) && len(m.Classes) != n:
		return &checkpoint.FormatError{File: m.path, Offset: -1, Reason: fmt.Sprintf(
			"%d classes are named, but %s has %d", len(m.Classes), head, n)}
	}
	if len(m.Classes) != n {
		m.Classes = nil // transformers gives names to two classes that nobody has counted
	}
	for _, set := range []**data.Set{&t.Train, &t.Validation, &t.Test} {
		if *set == nil {
			continue
		}
		adopted, said, err := m.relabel(*set, n, c.EvalOnly)
		if err != nil {
			return err
		}
		*set = adopted
		if said != "" && !slices.Contains(t.Said, said) {
			t.Said = append(t.Said, said)
		}
	}
	return nil
}

// relabel returns the set with the n classes of the weights, and what people must be told of how they were
// found: classes of the set are those of the same name, or numbers where none is a name, or all in their
// order where nothing names those of the weights. Where their number is another, loading the weights is
// refused, which an evaluation does not come to.
func (m *meaning) relabel(set *data.Set, n int, evaluates bool) (relabelled *data.Set, said string,
	err error) {
	byName := func(class string) int { return slices.Index(m.Classes, class) }
	byNumber := func(class string) int {
		if i, err := strconv.Atoi(class); err == nil && i < n && strconv.Itoa(i) == class {
			return i
		}
		return -1
	}
	names, isNamed := m.Classes, !model.AreGeneric(m.Classes)
	refuse := func(next, format string, args ...any) (*data.Set, string, error) {
		return nil, "", &data.FormatError{File: set.Name, Offset: -1, Next: next,
			Reason: fmt.Sprintf(format, args...)}
	}
	numbers, lacking := numbered(set.Classes, byName)
	if lacking == "" {
		relabelled, err = set.Relabel(names, numbers)
		return relabelled, "", err
	}
	isOfNames := isNamed && slices.ContainsFunc(set.Classes, func(c string) bool { return byName(c) >= 0 })
	if numbers, other := numbered(set.Classes, byNumber); other == "" && !isOfNames {
		if isNamed {
			said = fmt.Sprintf("%s: labels are taken as numbers of the classes of %s: %s", set.Name, m.path,
				spelling.Few(names))
		} else {
			names = numbersTo(n)
		}
		relabelled, err = set.Relabel(names, numbers)
		return relabelled, said, err
	}
	switch {
	case isNamed:
		next := "give data of those classes"
		if !evaluates && len(set.Classes) != n {
			next += ", or train a new last layer with --fresh-head"
		}
		return refuse(next, "label %.80q is none of the classes of %s: %s", lacking, m.path,
			spelling.Few(names))
	case len(set.Classes) == n:
		return set, fmt.Sprintf("%s names no classes: they are taken to be those of %s in this order: %s",
			m.path, set.Name, spelling.Few(set.Classes)), nil
	case evaluates:
		return refuse("give labels from 0, or name the classes in a config.json beside the weights",
			"classes: got %d, but %s has %d and names none", len(set.Classes), m.path, n)
	}
	return set, "", nil
}

// numbered returns the number of each class, and the first one that has none, if any.
func numbered(classes []string, by func(class string) int) (numbers []int, lacking string) {
	for _, class := range classes {
		i := by(class)
		if i < 0 {
			return nil, class
		}
		numbers = append(numbers, i)
	}
	return numbers, ""
}

// numbersTo returns 0, 1, ... as names of n classes.
func numbersTo(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}
