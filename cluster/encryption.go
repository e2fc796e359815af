package cluster

import (
	"slices"

	"lockstep/comm/tcp"
)

// Encryption says whether the links between workers are encrypted.
type Encryption string

// The kinds of encryption. A LaunchConfig without one asks for TLS between hosts.
const (
	EncryptTLS  Encryption = "tls"
	EncryptNone Encryption = "none"
	// EncryptNotNeeded is what comes of it on one host, unless TLS was asked for.
	EncryptNotNeeded Encryption = "not needed (one host)"
)

// MaxStreams is the largest number of connections of a link by TCP.
const MaxStreams = tcp.MaxStreams

// MaxSocketBuffer is the largest buffer of their sockets that can be asked for, in bytes.
const MaxSocketBuffer = tcp.MaxSocketBuffer

// encryption decides whether the data links of a run are encrypted.
func (s *supervisor) encryption(hosts []string) Encryption {
	isOneHost := s.Meeting != nil && s.Meeting.socket != "" ||
		s.Meeting == nil && len(slices.Compact(slices.Clone(hosts))) == 1
	switch {
	case s.Encryption == EncryptTLS:
		return EncryptTLS
	case isOneHost:
		return EncryptNotNeeded
	case s.Encryption == EncryptNone:
		return EncryptNone
	}
	return EncryptTLS
}
