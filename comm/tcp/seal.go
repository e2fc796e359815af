package tcp

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// Note: sealed links
//
// A link between hosts begins with a TLS 1.3 handshake in which both sides check that the other's certificate
// is of the expected rank. The keys of the link come from it by the exporter (RFC 8446, section 7.5), as
// those of SRTP come from DTLS (RFC 5764); the hello is part of what they are derived from, so both sides
// have seen the same one. The link then carries records:
//
//	0  length of the data, little-endian, 1 to maxData
//	4  the data, sealed with AES-128-GCM: as long as the data, and a tag of 16 bytes
//
// The length is authenticated with the data. The nonce is the number of the record in its direction, added
// to a secret as in TLS 1.3 (RFC 8446, section 5.3), so records cannot be left out, repeated or exchanged;
// and each direction has a key of its own, which is replaced after renewAfter records (section 5.5 has the
// bound, some 2^24). The end of a link is always an error of the layer above, so cutting it short gains
// nothing.
//
// The records are not those of crypto/tls because a tls.Conn allocates for every read, copies what it
// sends twice, and has no way to wait with poll(2) for both directions of many links. Here bytes are read
// once and written once: from a body into the record, and from the record into a body.
const (
	keySize, nonceSize, tagSize = 16, 12, 16
	renewAfter                  = 1 << 22 // records, 64 GiB

	maxData     = 16 << 10
	lengthSize  = 4
	overhead    = lengthSize + tagSize
	bufferBytes = 4 * (maxData + overhead) // of one direction: what one system call moves
)

// wire is what records travel on. It moves what it can without blocking; EAGAIN says that it can nothing.
type wire interface {
	send(head, body []byte) (int, error)
	receive(head, body []byte) (int, error) // 0 and no error: the end
}

// seal encrypts one link.
type seal struct {
	out, in half

	buffer []byte // records that the wire has not taken yet
	sent   int    // how many bytes of buffer it has taken
	held   int    // how many of the next bytes to send are in buffer already

	arrived  []byte // memory for records
	from, to int    // what of it has arrived and is not opened
	opened   []byte // opened and not yet received by the caller; in arrived, before from
}

// half is one direction of a link.
type half struct {
	secret     []byte // from which key, start and the next secret are derived
	aead       cipher.AEAD
	start      [nonceSize]byte // the nonce of record 0
	nonce      [nonceSize]byte
	number     uint64 // of the next record
	renewAfter uint64 // records that one key is for
}

// SealError reports bytes that were changed on a sealed link, or come from somebody else.
type SealError struct {
	Record uint64 // number of the record on the link
}

// Error implements error.
func (e *SealError) Error() string {
	return fmt.Sprintf("record %d is not authentic: its bytes were changed in transit", e.Record)
}

// newSeal returns the seal of the link that begins with a handshake after the hello.
func newSeal(state tls.ConnectionState, hello []byte, isDialer bool) (*seal, error) {
	secrets, err := state.ExportKeyingMaterial("EXPORTER-lockstep-link", hello, 2*sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("tcp: keys of a link: %w", err)
	}
	dialer, acceptor := secrets[:sha256.Size], secrets[sha256.Size:]
	if isDialer {
		return sealWith(dialer, acceptor)
	}
	return sealWith(acceptor, dialer)
}

// sealWith returns the seal with the secrets of both directions.
func sealWith(out, in []byte) (*seal, error) {
	s := &seal{buffer: make([]byte, 0, bufferBytes), arrived: make([]byte, bufferBytes)}
	s.out.renewAfter, s.in.renewAfter = renewAfter, renewAfter
	return s, errors.Join(s.out.use(out), s.in.use(in))
}

// use derives the key of the records that follow, and the next secret, as in RFC 8446, section 7.2.
func (h *half) use(secret []byte) error {
	const nextSize = sha256.Size
	keys, err := hkdf.Expand(sha256.New, secret, "lockstep link", keySize+nonceSize+nextSize)
	if err != nil {
		return fmt.Errorf("tcp: keys of a link: %w", err)
	}
	block, err := aes.NewCipher(keys[:keySize])
	if err != nil {
		return fmt.Errorf("tcp: keys of a link: %w", err)
	}
	copy(h.start[:], keys[keySize:])
	h.secret = keys[keySize+nonceSize:]
	if h.aead, err = cipher.NewGCM(block); err != nil {
		return fmt.Errorf("tcp: keys of a link: %w", err)
	}
	return nil
}

// next returns the key and the nonce of the next record.
func (h *half) next() (cipher.AEAD, []byte, error) {
	if h.number > 0 && h.number%h.renewAfter == 0 {
		if err := h.use(h.secret); err != nil {
			return nil, nil, err
		}
	}
	h.nonce = h.start
	last := h.nonce[nonceSize-8:]
	binary.BigEndian.PutUint64(last, binary.BigEndian.Uint64(last)^h.number)
	h.number++
	return h.aead, h.nonce[:], nil
}

// add appends a record with head, and body as far as it fits, to the buffer and returns the number of their
// bytes in it.
func (s *seal) add(head, body []byte) (int, error) {
	n := min(len(head)+len(body), maxData)
	at := len(s.buffer)
	record := s.buffer[at : at+lengthSize+n]
	length, data := record[:lengthSize], body[:min(n, len(body))]
	binary.LittleEndian.PutUint32(length, uint32(n))
	if len(head) > 0 {
		data = record[lengthSize:]
		copy(data[copy(data, head):], body)
	}
	aead, nonce, err := s.out.next()
	if err != nil {
		return 0, err
	}
	s.buffer = s.buffer[:at+n+overhead]
	aead.Seal(record[lengthSize:lengthSize], nonce, data, length)
	return n, nil
}

// flush sends what is in the buffer and reports whether nothing is left.
func (s *seal) flush(w wire) (isAll bool, err error) {
	for s.sent < len(s.buffer) {
		n, err := w.send(s.buffer[s.sent:], nil)
		if err == syscall.EAGAIN || err == syscall.EINTR {
			return false, nil
		}
		if n == 0 || err != nil {
			return false, err
		}
		s.sent += n
	}
	s.buffer, s.sent = s.buffer[:0], 0
	return true, nil
}

// send sends head followed by body as far as possible and returns the number of bytes sent. What is sealed
// must go out as it is. So if the wire takes only a part of it, all but one byte count as sent: the caller
// knows that they are under way, and comes again with the last byte until the wire has taken all.
func (s *seal) send(w wire, head, body []byte) (n int, err error) {
	if isAll, err := s.flush(w); !isAll || err != nil {
		return 0, err
	}
	n, s.held = s.held, 0
	for {
		head, body := after(n, head, body)
		if len(head)+len(body) == 0 {
			return n, nil
		}
		for len(head)+len(body) > 0 && cap(s.buffer)-len(s.buffer) >= maxData+overhead {
			k, err := s.add(head, body)
			if err != nil {
				return 0, err
			}
			head, body = after(k, head, body)
			n += k
		}
		if isAll, err := s.flush(w); err != nil {
			return 0, err
		} else if !isAll {
			s.held = 1
			return n - 1, nil
		}
	}
}

// after returns what follows the first n bytes of head and body.
func after(n int, head, body []byte) ([]byte, []byte) {
	if n < len(head) {
		return head[n:], body
	}
	return nil, body[n-len(head):]
}

// receive fills head and then body with what has arrived and returns the number of bytes.
func (s *seal) receive(w wire, head, body []byte) (n int, err error) {
	for {
		k := copy(head, s.opened)
		k += copy(body, s.opened[k:])
		s.opened = s.opened[k:]
		head, body = after(k, head, body)
		if n += k; len(head)+len(body) == 0 {
			return n, nil
		}
		k, isOpen, err := s.open(head, body)
		if err != nil {
			return 0, err
		}
		if isOpen {
			head, body = after(k, head, body)
			n += k
			continue
		}
		if n > 0 {
			return n, nil // the caller comes again
		}
		if err := s.read(w); err != nil {
			return 0, err
		}
	}
}

// open opens the next record if all of it has arrived: into body if it fits there and head is empty, else
// into s.opened. It returns the number of bytes in body.
func (s *seal) open(head, body []byte) (n int, isOpen bool, err error) {
	if s.to-s.from < lengthSize {
		return 0, false, nil
	}
	length := s.arrived[s.from : s.from+lengthSize]
	size := binary.LittleEndian.Uint32(length)
	if size == 0 || size > maxData {
		return 0, false, &SealError{s.in.number}
	}
	end := s.from + overhead + int(size)
	if s.to < end {
		return 0, false, nil
	}
	sealed := s.arrived[s.from+lengthSize : end]
	dst, isDirect := sealed[:0], len(head) == 0 && len(body) >= int(size)
	if isDirect {
		dst = body[:0]
	}
	number := s.in.number
	aead, nonce, err := s.in.next()
	if err != nil {
		return 0, false, err
	}
	opened, err := aead.Open(dst, nonce, sealed, length)
	if err != nil {
		return 0, false, &SealError{number}
	}
	s.from = end
	if isDirect {
		return len(opened), true, nil
	}
	s.opened = opened
	return 0, true, nil
}

// read reads once what the wire has, behind the part of a record that is there.
func (s *seal) read(w wire) error {
	s.to, s.from = copy(s.arrived, s.arrived[s.from:s.to]), 0
	n, err := w.receive(s.arrived[s.to:], nil)
	if err == nil && n == 0 {
		err = io.EOF
	}
	s.to += n
	return err
}

// isReady reports whether receive would give something without a read.
func (s *seal) isReady() bool {
	if len(s.opened) > 0 {
		return true
	}
	if s.to-s.from < lengthSize {
		return false
	}
	return s.to-s.from >= overhead+int(min(binary.LittleEndian.Uint32(s.arrived[s.from:]), maxData))
}
