// Package wordpiece turns text into the token numbers that uncased BERT models were trained on.
//
// [Read] takes a vocabulary, one token a line; [Tokenizer.Encode] appends a text's tokens. The
// result is the reference's (tokenizers.BertWordPieceTokenizer, release 0.23.3), number by number:
// control characters go, spaces of all kinds separate, letters become small and lose their
// accents, punctuation marks and ideographs stand alone; what is left are words, and each is cut
// from the left into the longest pieces that the vocabulary has. The names of special tokens, such
// as [MASK], mean those tokens when they stand in a text. After Wu et al. 2016 and Devlin et al.
// 2018.
//
// What happens to a character is in tables taken from the reference (testdata/reference.py), so
// it does not follow the Unicode version of the Go release. One thing is left out: the reference
// also sorts combining marks, which can be seen only in the order of the few that are no accents,
// and no vocabulary of BERT has those.
//
// A Tokenizer is read-only and safe for concurrent use. Encoding allocates nothing but the room
// that dst lacks. Errors of Read are *[LineError].
package wordpiece
