package trace

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// Note: the file of a rank's spans
//
// A header has the magic, the rank and the wall-clock time of the origin, from which times count. Blocks
// follow: a byte with the kind, and what that kind has. All numbers are varints; signed ones are in zigzag
// form.
//
//	track  number, length of the name, name
//	spans  number of the track, length of the rest, spans
//	end    whether the clock is known, its offset, its error, number of tracks, spans dropped by track
//
// A span is the number of its name in the table of its track, times 2, plus 1 if it is an exchange; if the
// table ends there, length and bytes of a new name; its number less that of the last span of the name; its
// end less that of the last span of the track; its length. An exchange has also the time in which it was
// queued, waited, added and coded, and the peer. Times are in nanoseconds. A file without an end is of a
// rank that was killed.
const (
	magic     = "LSPN\x01"
	headBytes = len(magic) + 4 + 8

	blockTrack = 1
	blockSpans = 2
	blockEnd   = 3

	maxName   = 100
	maxNames  = 1 << 12
	maxTracks = 1 << 10
	maxSpans  = 4 << 20
	maxSpan   = 10*binary.MaxVarintLen64 + maxName // bytes of a span
	maxBlock  = bufferBytes + maxSpan
)

func appendHeader(b []byte, rank int, origin time.Time) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, magic...), uint32(rank))
	return binary.LittleEndian.AppendUint64(b, uint64(origin.UnixNano()))
}

// appendTrack appends the track unless the file has it.
func appendTrack(b []byte, l *Track) []byte {
	if l.isKnown {
		return b
	}
	l.isKnown = true
	name := l.name[:min(len(l.name), maxName)]
	b = binary.AppendUvarint(append(b, blockTrack), uint64(l.number))
	return append(binary.AppendUvarint(b, uint64(len(name))), name...)
}

// appendBlock appends the head of a block of spans of a track, and before its first one the track.
func appendBlock(b []byte, l *Track) []byte {
	b = appendTrack(b, l)
	b = binary.AppendUvarint(append(b, blockSpans), uint64(l.number))
	return binary.AppendUvarint(b, uint64(len(l.buffer)))
}

func appendEnd(b []byte, c Skew, tracks []*Track) []byte {
	isKnown := uint64(0)
	if c.IsKnown {
		isKnown = 1
	}
	for _, l := range tracks {
		b = appendTrack(b, l)
	}
	b = binary.AppendUvarint(append(b, blockEnd), isKnown)
	b = binary.AppendVarint(binary.AppendVarint(b, int64(c.Offset)), int64(c.Error))
	b = binary.AppendUvarint(b, uint64(len(tracks)))
	for _, l := range tracks {
		b = binary.AppendUvarint(b, uint64(l.dropped))
	}
	return b
}

// encode appends a span.
func (l *Track) encode(b []byte, name string, number int, end, length int64, x *Exchange) []byte {
	at, kind := l.indexOf(name), uint64(0)
	if x != nil {
		kind = 1
	}
	b = binary.AppendUvarint(b, uint64(at)<<1|kind)
	if at == len(l.names) {
		l.names = append(l.names, named{name: name})
		name = name[:min(len(name), maxName)]
		b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
	}
	b = binary.AppendVarint(b, int64(number-l.names[at].number))
	b = binary.AppendVarint(b, end-l.end)
	b = binary.AppendUvarint(b, uint64(max(0, length)))
	l.names[at].number, l.end = number, end
	if x != nil {
		for _, d := range [...]time.Duration{x.Queued, x.Waited, x.Added, x.Coded} {
			b = binary.AppendUvarint(b, uint64(max(0, d)))
		}
		b = binary.AppendVarint(b, int64(x.Peer))
	}
	return b
}

// indexOf returns the place of a name in the table, or its end.
func (l *Track) indexOf(name string) int {
	for i := range l.names {
		if l.names[i].name == name {
			return i
		}
	}
	return len(l.names)
}

// Span is a named interval of time.
type Span struct {
	// Name says what took the time, such as "forward".
	Name string
	// Number says which one: a step, a bucket, a shard.
	Number int
	// Start and Length are in nanoseconds; Start counts from the origin of the file.
	Start, Length int64
	// Exchange says what an exchange went into; nil: it is none.
	Exchange *Exchange
}

// End returns when it ended, in nanoseconds from the origin.
func (s *Span) End() int64 { return s.Start + s.Length }

// File is what the file of a rank's spans says but for the spans.
type File struct {
	// Rank is the rank that recorded.
	Rank int
	// Origin is the wall-clock time of the spans' zero, by the rank's clock.
	Origin time.Time
	Skew   Skew
	// Tracks are the names of the tracks, Dropped the number of spans of each that did not fit.
	Tracks  []string
	Dropped []int
	// IsCut says that the file has no end: the rank was killed, or is at work.
	IsCut bool
}

// FormatError says what is wrong with a file of spans, and where.
type FormatError struct {
	Offset int64 // in bytes, near which it is
	Reason string
}

// Error says what is wrong and where.
func (e *FormatError) Error() string {
	return fmt.Sprintf("trace: spans: damaged near byte %d: %s", e.Offset, e.Reason)
}

// Scan reads the file of a rank's spans and calls visit with every span and the number of its track, in the
// order in which the spans of a track ended. The span is visit's until it returns; its Exchange too. A file
// that was cut is no error, see File.IsCut; one that was damaged is a *FormatError. Scan holds one block of
// the file at a time, and reads no more than a recorder writes.
func Scan(r io.Reader, visit func(track int, s *Span)) (File, error) {
	in := &scanner{r: bufio.NewReaderSize(io.LimitReader(r, MaxBytes+maxBlock+1<<16), maxBlock), visit: visit}
	err := in.scan()
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		in.file.IsCut = true
		if in.at < int64(headBytes) {
			return in.file, &FormatError{in.at, "it has no whole header"}
		}
	case err != nil:
		return in.file, err
	}
	in.file.Dropped = append(in.file.Dropped, make([]int, len(in.file.Tracks))...)[:len(in.file.Tracks)]
	return in.file, nil
}

// scanner is the state of Scan.
type scanner struct {
	r      *bufio.Reader
	at     int64 // bytes of whole parts
	visit  func(track int, s *Span)
	file   File
	tables []table // by track
	spans  int
	block  []byte
	span   Span
	x      Exchange
}

// table is what a track's spans refer to.
type table struct {
	names []named
	end   int64
}

func (in *scanner) bad(format string, args ...any) error {
	return &FormatError{in.at, fmt.Sprintf(format, args...)}
}

func (in *scanner) scan() error {
	head := make([]byte, headBytes)
	if _, err := io.ReadFull(in.r, head); err != nil {
		return err
	}
	if string(head[:len(magic)]) != magic {
		return in.bad("it begins with %q, want %q", head[:len(magic)], magic)
	}
	in.file.Rank = int(binary.LittleEndian.Uint32(head[len(magic):]))
	in.file.Origin = time.Unix(0, int64(binary.LittleEndian.Uint64(head[len(magic)+4:])))
	in.at = int64(headBytes)
	for {
		kind, err := in.r.ReadByte()
		if err != nil {
			return err
		}
		switch kind {
		case blockTrack:
			err = in.addTrack()
		case blockSpans:
			err = in.addSpans()
		case blockEnd:
			return in.end()
		default:
			return in.bad("block of kind %d", kind)
		}
		if err != nil {
			return err
		}
	}
}

// bytes reads a length of at most some bytes, and these. They are valid until the next call.
func (in *scanner) bytes(most int) ([]byte, error) {
	n, err := binary.ReadUvarint(in.r)
	if err != nil {
		return nil, err
	}
	if n > uint64(most) {
		return nil, in.bad("%d bytes, want at most %d", n, most)
	}
	if in.block == nil {
		in.block = make([]byte, maxBlock)
	}
	_, err = io.ReadFull(in.r, in.block[:n])
	in.at += int64(n)
	return in.block[:n], err
}

func (in *scanner) addTrack() error {
	number, err := binary.ReadUvarint(in.r)
	if err != nil {
		return err
	}
	name, err := in.bytes(maxName)
	if err != nil {
		return err
	}
	if number >= maxTracks {
		return in.bad("track %d, want at most %d", number, maxTracks)
	}
	for uint64(len(in.tables)) <= number { // tracks appear in the order of their first blocks
		in.file.Tracks, in.tables = append(in.file.Tracks, ""), append(in.tables, table{})
	}
	in.file.Tracks[number] = string(name)
	return nil
}

func (in *scanner) addSpans() error {
	number, err := binary.ReadUvarint(in.r)
	if err != nil {
		return err
	}
	if number >= uint64(len(in.tables)) {
		return in.bad("spans of track %d of %d", number, len(in.tables))
	}
	b, err := in.bytes(maxBlock)
	if err != nil {
		return err
	}
	for len(b) > 0 {
		if b = in.decode(&in.tables[number], b); b == nil {
			return in.bad("a span that is none")
		}
		if in.spans++; in.spans > maxSpans {
			return in.bad("more than %d spans", maxSpans)
		}
		in.visit(int(number), &in.span)
	}
	return nil
}

// decode reads one span and returns the rest of the block, or nil if it is damaged.
func (in *scanner) decode(t *table, b []byte) (rest []byte) {
	d := decoder{b: b}
	name := d.unsigned()
	at := name >> 1
	if at == uint64(len(t.names)) && at < maxNames {
		n := d.unsigned()
		if n > uint64(len(d.b)) || n > maxName {
			return nil
		}
		t.names = append(t.names, named{name: string(d.b[:n])})
		d.b = d.b[n:]
	}
	if at >= uint64(len(t.names)) {
		return nil
	}
	t.names[at].number += int(d.signed())
	t.end += d.signed()
	length := int64(d.unsigned())
	in.span = Span{Name: t.names[at].name, Number: t.names[at].number, Start: t.end - length, Length: length}
	if name&1 != 0 {
		in.x = Exchange{Queued: d.time(), Waited: d.time(), Added: d.time(), Coded: d.time(),
			Peer: int(d.signed())}
		in.span.Exchange = &in.x
	}
	if d.isBad || length < 0 {
		return nil
	}
	return d.b
}

// decoder reads numbers.
type decoder struct {
	b     []byte
	isBad bool
}

func (d *decoder) unsigned() uint64 {
	v, n := binary.Uvarint(d.b)
	d.skip(n)
	return v
}

func (d *decoder) signed() int64 {
	v, n := binary.Varint(d.b)
	d.skip(n)
	return v
}

func (d *decoder) time() time.Duration { return time.Duration(d.unsigned()) }

func (d *decoder) skip(n int) {
	if n <= 0 {
		d.isBad, n = true, len(d.b)
	}
	d.b = d.b[n:]
}

// end reads the last block.
func (in *scanner) end() error {
	isKnown, err := binary.ReadUvarint(in.r)
	var offset, wrong int64
	var tracks uint64
	if err == nil {
		offset, err = binary.ReadVarint(in.r)
	}
	if err == nil {
		wrong, err = binary.ReadVarint(in.r)
	}
	if err == nil {
		tracks, err = binary.ReadUvarint(in.r)
	}
	if err != nil {
		return err
	}
	if tracks > maxTracks || wrong < 0 {
		return in.bad("%d tracks, clock to %d ns", tracks, wrong)
	}
	for range tracks {
		n, err := binary.ReadUvarint(in.r)
		if err != nil {
			return err
		}
		in.file.Dropped = append(in.file.Dropped, int(n))
	}
	in.file.Skew = Skew{Offset: time.Duration(offset), Error: time.Duration(wrong), IsKnown: isKnown == 1}
	if _, err := in.r.ReadByte(); err == nil {
		return in.bad("there is more behind its end")
	}
	return nil
}
