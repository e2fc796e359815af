package pass

import (
	"crypto"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net/url"
	"strconv"
	"time"
)

// certificateLife is how long the certificate of a rank is valid, before and after it was made: links are
// made within minutes, and clocks differ.
const certificateLife = MaxSkew

// Authority certifies the ranks of one run. It may be used concurrently.
type Authority struct {
	token  Token
	key    ed25519.PrivateKey
	root   *x509.Certificate
	server *tls.Config // of the rendezvous
}

// NewAuthority returns a random authority whose token is valid for life, at most MaxLife. Its key never
// leaves it.
func NewAuthority(life time.Duration) (*Authority, error) {
	if life > MaxLife {
		return nil, fmt.Errorf("pass: an authority for %v, want at most %v", life, MaxLife)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	t := Token{run: newRun(time.Now().Add(life)), hash: hashOf(key.Public())}
	rand.Read(t.secret[:])
	return newAuthority(t, key)
}

// Authority derives the authority from the token's secret, for rank 0 of processes that got the same
// token from elsewhere. The error is ErrNotDerived unless NewToken has made the token.
func (t Token) Authority() (*Authority, error) {
	key, err := t.derive()
	if err != nil {
		return nil, err
	}
	if hashOf(key.Public()) != t.hash {
		return nil, ErrNotDerived
	}
	return newAuthority(t, key)
}

// derive returns the key that the secret and the run give. So neither can be changed alone.
func (t Token) derive() (ed25519.PrivateKey, error) {
	seed, err := hkdf.Key(sha256.New, t.secret[:], nil, "lockstep authority "+string(t.run),
		ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("pass: derive the authority: %w", err)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// hashOf returns the hash of a public key as certificates have it.
func hashOf(public crypto.PublicKey) [sha256.Size]byte {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		panic(fmt.Sprintf("pass: hash of a %T", public)) // only Ed25519 keys come here
	}
	return sha256.Sum256(der)
}

func newAuthority(t Token, key ed25519.PrivateKey) (*Authority, error) {
	a := &Authority{token: t, key: key}
	until := t.run.Until()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lockstep run " + string(t.run)},
		NotBefore: until.Add(-MaxLife - MaxSkew), NotAfter: until.Add(2 * MaxSkew),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("pass: certificate of the authority: %w", err)
	}
	if a.root, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("pass: certificate of the authority: %w", err)
	}
	own := NewKey()
	c, err := a.certify(launcher, own.Public())
	if err != nil {
		return nil, err
	}
	a.server = &tls.Config{MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true,
		Certificates: []tls.Certificate{{Certificate: [][]byte{c.Leaf, c.Root}, PrivateKey: own.private}}}
	return a, nil
}

// Token returns the token that admits to the authority's run.
func (a *Authority) Token() Token { return a.token }

// launcher is the name of the rendezvous in its certificate, where others have a rank.
const launcher = "launcher"

// nameOf returns the name of a rank or of the launcher in its certificate: lockstep://RUN/RANK.
func nameOf(run Run, who string) *url.URL {
	return &url.URL{Scheme: "lockstep", Host: string(run), Path: "/" + who}
}

// Certificate is what a rank shows its peers. Both parts are DER.
type Certificate struct {
	Leaf []byte `json:"leaf"` // of the rank
	Root []byte `json:"root"` // of the authority
}

// Certify returns a certificate for a rank with the public key of its Key.
func (a *Authority) Certify(rank int, public []byte) (*Certificate, error) {
	if len(public) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("public key of %d bytes, want %d", len(public), ed25519.PublicKeySize)
	}
	return a.certify(strconv.Itoa(rank), public)
}

func (a *Authority) certify(who string, public []byte) (*Certificate, error) {
	now := time.Now()
	name := nameOf(a.token.run, who)
	var serial [16]byte
	rand.Read(serial[:])
	serial[0] &= 0x7f // positive
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial[:]), Subject: pkix.Name{CommonName: name.String()},
		NotBefore: now.Add(-certificateLife), NotAfter: now.Add(certificateLife),
		URIs: []*url.URL{name}, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(nil, template, a.root, ed25519.PublicKey(public), a.key)
	if err != nil {
		return nil, fmt.Errorf("pass: certificate of %s: %w", who, err)
	}
	return &Certificate{Leaf: der, Root: a.root.Raw}, nil
}
