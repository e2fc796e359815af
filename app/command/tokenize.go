package command

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"lockstep/data"
	"lockstep/internal/spelling"
)

// maxTextBytes bounds a text on a line of the standard input.
const maxTextBytes = 16 << 20

func dataTokenizeCommand(a *app) *cobra.Command {
	var vocabulary string
	var isJSON bool
	c := &cobra.Command{
		Use:   "tokenize --vocab FILE [flags]",
		Short: "Print the token numbers of texts",
		Long: `Print the token numbers of texts.

Reads texts from standard input, one a line, and prints a JSON array for each, from [CLS] to
[SEP]: the token numbers of BERT models. Capitals are kept if tokenizer.json, or for vocab.txt a
tokenizer_config.json beside it, says so or, without such a file, if the vocabulary has capitals.
With --json the output is one array of arrays.`,
		Example: `  echo "hello world" | lockstep data tokenize --vocab bert-base-uncased/vocab.txt`,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if vocabulary == "" {
				return usagef("lockstep data tokenize wants --vocab FILE, a vocabulary such as vocab.txt")
			}
			return tokenize(a.stdout, vocabulary, isJSON)
		},
	}
	c.Flags().StringVar(&vocabulary, "vocab", "", "WordPiece vocabulary, vocab.txt or tokenizer.json: `FILE`")
	addJSON(c, &isJSON)
	return c
}

// tokenize writes the tokens of each line of the standard input to w, as arrays, or as one array of arrays.
func tokenize(w io.Writer, vocabulary string, isOne bool) error {
	tokenizer, err := data.ReadVocabulary(vocabulary)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	encoder, all := json.NewEncoder(out), [][]int32{}
	err = eachLine(func(line string) error {
		ids, _ := tokenizer.Encode(nil, line, 0)
		if isOne {
			all = append(all, ids)
			return nil
		}
		return encoder.Encode(ids)
	})
	if isOne && err == nil {
		err = encoder.Encode(all)
	}
	return errors.Join(err, out.Flush())
}

// eachLine calls visit with each line of the standard input.
func eachLine(visit func(line string) error) error {
	lines, n := bufio.NewScanner(os.Stdin), 1
	lines.Buffer(nil, maxTextBytes)
	for ; lines.Scan(); n++ {
		if err := visit(lines.Text()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return &data.FormatError{File: "the standard input", Offset: -1, Line: n, Err: err,
			Reason: "want lines of at most " + spelling.Size(maxTextBytes), Next: "cut it"}
	}
	return nil
}
