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
	c := &cobra.Command{
		Use:   "tokenize --vocab FILE",
		Short: "Print the token numbers of texts",
		Long: `Print the token numbers of texts.

Reads texts from standard input, one a line, and prints a JSON array for each, from [CLS] to
[SEP]: the numbers that uncased BERT models are trained on.`,
		Example: `  echo "hello world" | lockstep data tokenize --vocab bert-base-uncased/vocab.txt`,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if vocabulary == "" {
				return usagef("lockstep data tokenize wants --vocab FILE, a vocabulary such as vocab.txt")
			}
			return tokenize(a.stdout, os.Stdin, vocabulary)
		},
	}
	c.Flags().StringVar(&vocabulary, "vocab", "", "WordPiece vocabulary, one token a line: `FILE`")
	return c
}

// tokenize writes the tokens of each line of r to w.
func tokenize(w io.Writer, r io.Reader, vocabulary string) error {
	tokenizer, err := data.ReadVocabulary(vocabulary)
	if err != nil {
		return err
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
		if _, err := fmt.Fprintf(out, "[%s]\n", text); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return errors.Join(out.Flush(), &data.FormatError{File: "standard input", Line: n + 1,
			Reason: fmt.Sprintf("longer than %d bytes", maxTextBytes)})
	}
	return errors.Join(lines.Err(), out.Flush())
}
