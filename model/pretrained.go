package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Pretrained is the config.json from which Hugging Face's transformers builds the same network.
type Pretrained struct {
	Architectures    []string          `json:"architectures"`
	ModelType        string            `json:"model_type"`
	Words            int               `json:"vocab_size"`
	Features         int               `json:"hidden_size"`
	Layers           int               `json:"num_hidden_layers"`
	Heads            int               `json:"num_attention_heads"`
	Intermediate     int               `json:"intermediate_size"`
	Activation       string            `json:"hidden_act"`
	Dropout          float64           `json:"hidden_dropout_prob"`
	AttentionDropout float64           `json:"attention_probs_dropout_prob"`
	Positions        int               `json:"max_position_embeddings"`
	Kinds            int               `json:"type_vocab_size"`
	Eps              float64           `json:"layer_norm_eps"`
	Deviation        float64           `json:"initializer_range"`
	Padding          *int              `json:"pad_token_id"` // null if there is none
	Type             string            `json:"torch_dtype"`
	Labels           map[string]string `json:"id2label"` // by number
	Numbers          map[string]int    `json:"label2id"`
	PositionType     string            `json:"position_embedding_type,omitempty"` // "": absolute
	IsDecoder        bool              `json:"is_decoder,omitempty"`
	Problem          string            `json:"problem_type,omitempty"` // "": one class of several
}

// Pretrained describes a network that reads texts. labels are the names of its classes.
func (n Network) Pretrained(labels []string) Pretrained {
	b := n.bert
	p := Pretrained{Architectures: []string{"BertForSequenceClassification"}, ModelType: "bert",
		Words: b.words, Features: b.size.features, Layers: b.size.layers, Heads: b.size.heads,
		Intermediate: 4 * b.size.features, Activation: "gelu", Dropout: b.dropout,
		AttentionDropout: b.dropout, Positions: bertPositions, Kinds: bertKinds, Eps: bertEps,
		Deviation: bertDeviation, Type: "float32", Labels: map[string]string{}, Numbers: map[string]int{}}
	for i, label := range labels {
		p.Labels[strconv.Itoa(i)], p.Numbers[label] = label, i
	}
	return p
}

// Differences lists what decides the outputs of the network that a config.json describes and is not so in n,
// a network that reads texts: "hidden_act: got relu, want gelu". What the file leaves out has the value of
// transformers' BertConfig. The number of words and the classes are left out: n takes those of its weights.
func (n Network) Differences(config []byte) ([]string, error) {
	var got struct {
		Pretrained
		Labels  json.RawMessage `json:"id2label"` // see ClassNames
		Numbers json.RawMessage `json:"label2id"`
	}
	base := bertSize{12, 768, 12}
	got.Pretrained = Network{bert: &bert{size: base}}.Pretrained(nil)
	if err := json.Unmarshal(config, &got); err != nil {
		return nil, err
	}
	want := n.Pretrained(nil)
	var differences []string
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"model_type", got.ModelType, want.ModelType},
		{"hidden_size", got.Features, want.Features},
		{"num_hidden_layers", got.Layers, want.Layers},
		{"num_attention_heads", got.Heads, want.Heads},
		{"intermediate_size", got.Intermediate, want.Intermediate},
		{"hidden_act", got.Activation, want.Activation},
		{"max_position_embeddings", got.Positions, want.Positions},
		{"type_vocab_size", got.Kinds, want.Kinds},
		{"layer_norm_eps", got.Eps, want.Eps},
		{"position_embedding_type", cmp.Or(got.PositionType, "absolute"), "absolute"},
		{"is_decoder", got.IsDecoder, want.IsDecoder},
		{"problem_type", cmp.Or(got.Problem, oneOfSeveral), oneOfSeveral},
	} {
		if c.got != c.want {
			differences = append(differences, fmt.Sprintf("%s: got %v, want %v", c.name, c.got, c.want))
		}
	}
	return differences, nil
}

// oneOfSeveral is the problem_type of a head that tells one class of several.
const oneOfSeveral = "single_label_classification"

// ClassNames returns the names of the classes in a config.json by their numbers, nil if it has none: those of
// id2label or, where that has none or those that transformers gives to classes without names, of label2id.
func ClassNames(config []byte) ([]string, error) {
	var got struct {
		Labels  map[string]any         `json:"id2label"`
		Numbers map[string]json.Number `json:"label2id"`
	}
	if err := json.Unmarshal(config, &got); err != nil {
		return nil, err
	}
	byNumber, byLabel := map[string]string{}, map[string]string{}
	for number, label := range got.Labels {
		byNumber[number] = strings.TrimSpace(fmt.Sprint(label))
	}
	for label, number := range got.Numbers {
		label = strings.TrimSpace(label) // as labels of samples are
		if other, isThere := byLabel[number.String()]; isThere {
			return nil, fmt.Errorf("label2id: %.60q and %.60q are both number %s", other, label, number)
		}
		byLabel[number.String()] = label
	}
	labels, err := inOrder("id2label", byNumber)
	if err != nil {
		return nil, err
	}
	others, err := inOrder("label2id", byLabel)
	switch {
	case err != nil:
		return nil, err
	case AreGeneric(labels) && !AreGeneric(others):
		return others, nil
	case !AreGeneric(others) && !slices.Equal(labels, others):
		return nil, fmt.Errorf("id2label has the classes %.200q, label2id %.200q", labels, others)
	}
	return labels, nil
}

// inOrder returns labels by number, which must be those from 0.
func inOrder(key string, byNumber map[string]string) ([]string, error) {
	var labels []string
	for i := range len(byNumber) {
		label, isThere := byNumber[strconv.Itoa(i)]
		if !isThere {
			return nil, fmt.Errorf("%s: %d classes, and none is number %d", key, len(byNumber), i)
		}
		if slices.Contains(labels, label) {
			return nil, fmt.Errorf("%s: %.60q names two classes", key, label)
		}
		labels = append(labels, label)
	}
	return labels, nil
}

// AreGeneric reports whether labels name no class: there are none, or each is what transformers calls a class
// without a name, LABEL_0, LABEL_1, ...
func AreGeneric(labels []string) bool {
	for i, label := range labels {
		if label != "LABEL_"+strconv.Itoa(i) {
			return false
		}
	}
	return true
}
