// Package wordpiece tokenizes text for BERT models.
//
// [Read] reads a vocabulary, one token per line; [Tokenizer.Encode] appends a text's tokens. The
// result is identical to the reference's (tokenizers.BertWordPieceTokenizer, release 0.23.3):
// control characters are removed, all kinds of spaces separate words, letters become lower case and
// lose their accents, and punctuation marks and ideographs are words of their own. Each remaining
// word is split from the left into the longest pieces in the vocabulary. The names of special
// tokens, such as [MASK], mean those tokens when they occur in a text. After Wu et al. 2016 and
// Devlin et al. 2018.
//
// The treatment of characters is in tables taken from the reference (testdata/reference.py), so it
// does not follow the Unicode version of the Go release. One thing is omitted: the reference also
// sorts combining marks, which affects only the order of the few that are not accents, and no
// vocabulary of BERT contains those.
//
// A Tokenizer is safe for concurrent use. Encoding allocates only to grow dst. Errors of Read are
// *[LineError].
package wordpiece
