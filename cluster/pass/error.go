package pass

import "errors"

const makeAnother = "make one with export LOCKSTEP_TOKEN=$(lockstep token)"

// The reasons why a process may not join. The launcher and the process see the same one.
var (
	ErrExpired   = errors.New("the token has expired")
	ErrTooLong   = errors.New("the token is valid for too long")
	ErrOtherRun  = errors.New("the token is of another run; give all processes the same token")
	ErrSecret    = errors.New("the token has a wrong secret; give all processes the same token")
	ErrAuthority = errors.New("the certificate of the launcher is not of the authority of the token: " +
		"another program answers at its address, or the processes have different tokens")
	ErrVersion = errors.New("different versions of lockstep; install the same on all hosts")
	// ErrStranger is the error about the other side of a connection that speaks another protocol.
	ErrStranger = errors.New("the other side is not lockstep")
	// ErrClocks says that a certificate that was just made is not valid by the clock of this host.
	ErrClocks = errors.New("the clocks of the two hosts differ by more than an hour; set them")
	// ErrRank says that a certificate is of another rank than the one that was expected.
	ErrRank = errors.New("the certificate is of another rank")
	// ErrNotDerived says that rank 0 has a token that only admits, and does not make an authority.
	ErrNotDerived = errors.New("the token admits to the run of another launcher, or was changed; " +
		makeAnother)
)

// IsFinal reports whether an error of Enter, other than one of the connection, ends the attempt to join:
// another one would get the same.
func IsFinal(err error) bool {
	for _, reason := range []error{ErrExpired, ErrTooLong, ErrOtherRun, ErrSecret, ErrAuthority, ErrVersion,
		ErrStranger, ErrClocks} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}
