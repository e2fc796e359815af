package pass

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Key is the key of a process, which it makes itself and never sends.
type Key struct{ private ed25519.PrivateKey }

// NewKey returns a random key.
func NewKey() Key {
	seed := make([]byte, ed25519.SeedSize)
	rand.Read(seed) // never fails: it ends the program when the system has no entropy
	return Key{ed25519.NewKeyFromSeed(seed)}
}

// Public returns the public part, which an authority certifies.
func (k Key) Public() []byte { return k.private.Public().(ed25519.PublicKey) }

// Identity is a certified rank. It may be used concurrently.
type Identity struct {
	chain tls.Certificate
	root  *x509.Certificate
	run   Run
}

// Identity returns the identity that the certificate gives the holder of the key. It returns an error if
// the certificate is for another key or malformed.
func (k Key) Identity(c *Certificate) (*Identity, error) {
	leaf, err := x509.ParseCertificate(c.Leaf)
	if err != nil {
		return nil, fmt.Errorf("pass: certificate: %w", err)
	}
	root, err := x509.ParseCertificate(c.Root)
	if err != nil {
		return nil, fmt.Errorf("pass: certificate of the authority: %w", err)
	}
	public, ok := leaf.PublicKey.(ed25519.PublicKey)
	if !ok || !bytes.Equal(public, k.Public()) || len(leaf.URIs) != 1 {
		return nil, errors.New("pass: the certificate is not for this key")
	}
	return &Identity{run: Run(leaf.URIs[0].Host), root: root, chain: tls.Certificate{Leaf: leaf,
		Certificate: [][]byte{c.Leaf}, PrivateKey: k.private}}, nil
}

// TLS returns the configuration of both sides of a link to the rank peer: TLS 1.3 with certificates of
// the run's authority on both sides. The handshake fails unless the other side's is for that rank.
func (i *Identity) TLS(peer int) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true,
		Certificates: []tls.Certificate{i.chain}, ClientAuth: tls.RequireAnyClientCert,
		InsecureSkipVerify: true, // VerifyConnection does that: names of runs and ranks are no host names
		VerifyConnection: func(s tls.ConnectionState) error {
			return verify(s, i.root, i.run, strconv.Itoa(peer), time.Now())
		},
	}
}

// verify checks that the other side has a certificate of the authority for who in the run, which is valid
// now.
func verify(s tls.ConnectionState, root *x509.Certificate, run Run, who string, now time.Time) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("pass: no certificate")
	}
	leaf, roots := s.PeerCertificates[0], x509.NewCertPool()
	roots.AddCert(root)
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Errorf("%w (%v)", ErrClocks, err)
	case err != nil:
		return fmt.Errorf("%w (%v)", ErrAuthority, err)
	}
	if want := nameOf(run, who).String(); len(leaf.URIs) != 1 || leaf.URIs[0].String() != want {
		return fmt.Errorf("%w: %v, want %s", ErrRank, leaf.URIs, want)
	}
	return nil
}
