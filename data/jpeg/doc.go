// Package jpeg decodes a part of a baseline JPEG to the bytes that image/jpeg makes of it, in less time.
//
// A [Decoder] reads Huffman codes by tables of ten bits and transforms back only the blocks of the part that
// is wanted. It takes what cameras and data sets have most: eight bits, one or three components in one scan,
// 4:4:4, 4:2:2 or 4:2:0. Of everything else, such as a progressive or a damaged image, it reports that it is
// no such image, and image/jpeg has the word.
//
// Guarantees. Arithmetic is of integers: the same bytes on every processor, and those of image/jpeg. A
// Decoder belongs to one goroutine, allocates only while images grow, and reads nothing outside the text.
// Codes below the part are not read, so damage there goes unseen; that the image has its end is checked.
//
// Errors. There are none: see [Decoder.Decode].
package jpeg
