// Package pass decides who may join a run.
//
// Each run has an [Authority] of its own: a key that certifies the ranks of this run and of no other.
// A [Token] admits to the run. It names the run with the time until which processes may join, and has
// the hash of the authority's key, and a secret:
//
//	ls1.RUN.HASH.SECRET
//
// [Token.Enter] and [Authority.Admit] are the two sides of joining: TLS 1.3, in which the joiner checks
// that the other side's certificate is of the authority whose hash it has, before anything that depends on
// the secret goes out. It then proves the secret by a hash over it and this one connection, so a
// recorded join is worth nothing. The authority certifies each admitted rank ([Authority.Certify]), and
// from then on every link between two ranks is TLS 1.3 with a certificate on both sides, which must
// name the expected rank ([Identity.TLS]).
//
// Two kinds of token exist. A launcher that starts all processes itself makes a random authority that
// never leaves it ([NewAuthority]). Where another launcher starts the processes on several hosts,
// all of them, rank 0 too, get the same token ([NewToken]) before any of them runs; rank 0 derives the
// authority from the secret ([Token.Authority]). Whoever has such a token can pose as the launcher;
// recorded connections stay secret all the same, because TLS 1.3 keys die with them.
//
// # Limits
//
// Before a process has proved the secret, at most [MaxStranger] bytes are read from it. All functions that
// take a connection rely on its deadline.
//
// # Errors
//
// Each reason not to join is an error of its own, the Err variables, with the next command; a *tls.Conn
// and the connection give others. No error and no formatted Token contains the secret.
package pass
