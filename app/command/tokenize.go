package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"lockstep/data"
)

// maxTextBytes bounds a line of text to tokenize.
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
			return tokenize(a.stdout, os.Stdin, vocabulary, isJSON)
		},
	}
	c.Flags().StringVar(&vocabulary, "vocab", "", "WordPiece vocabulary, vocab.txt or tokenizer.json: `FILE`")
	addJSON(c, &isJSON)
	return c
}

// tokenize writes the tokens of each line of r to w, as arrays, or as one array of arrays.
func tokenize(w io.Writer, r io.Reader, vocabulary string, isOne bool) error {
	tokenizer, err := data.ReadVocabulary(vocabulary)
	if err != nil {
		return err
	}
	first, next, last := "", "", "" // what stands before an array and at the end
	if isOne {
		first, next, last = "[\n", ",", "]\n"
	}
	out := bufio.NewWriter(w)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxTextBytes)
	var (
		ids  []int32
		text []byte
		n    int
	)
	for ; lines.Scan(); n++ {
		ids, _ = tokenizer.Encode(ids[:0], lines.Text(), 0)
		text = text[:0]
		for i, id := range ids {
			if i > 0 {
				text = append(text, ',')
			}
			text = strconv.AppendInt(text, int64(id), 10)
		}
		before := next
		if n == 0 {
			before = first
		}
		if _, err := fmt.Fprintf(out, "%s[%s]\n", before, text); err != nil {
			return err
		}
	}
	if n == 0 {
		fmt.Fprint(out, first)
	}
	fmt.Fprint(out, last) // Flush returns what fails
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return errors.Join(out.Flush(), &data.FormatError{File: "standard input", Line: n + 1,
			Reason: fmt.Sprintf("longer than %d bytes", maxTextBytes)})
	}
	return errors.Join(lines.Err(), out.Flush())
}
