package model

import "strconv"

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
