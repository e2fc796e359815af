// Package tcp links the ranks of a group by TCP connections.
//
// Each rank listens on one chosen interface and [Connect] makes a full mesh: a rank dials lower
// ranks and accepts higher ones. With [Config.TLS], both sides of a connection show certificates in a
// TLS 1.3 handshake, which must be of the expected ranks, and everything after it is encrypted: see Note:
// sealed links. Without, both sides prove that they know the job's token (HMAC-SHA256 over both
// sides' nonces, compared in constant time). Until then a stranger can make a rank read
// [MaxStranger] bytes, without TLS [HelloBytes], and no more, in a time bounded by [HelloTimeout], and
// cannot choose the size of any allocation. Certificates and proofs go with version, byte order,
// generation, world size and ranks. A refused connection is closed and counted; it never disturbs
// the mesh.
//
// A link has [Config.Streams] connections, over which its bytes are spread: see Note: streams.
//
// The mesh drives its sockets without blocking and outside Go's network poller: with all processors
// busy, the runtime polls the network only every 10 ms, while poll(2) on the group's own thread
// returns as soon as the kernel has data. One vectored system call writes or reads header and body
// of a frame; TCP_NODELAY is set. Package comm has the time-outs, the checks of frames and the
// errors that name lost peers.
//
// Every body on a link without TLS has a CRC-32C, which finds what TCP's 16-bit sum misses (Stone
// and Partridge 2000, "When the CRC and TCP checksum disagree"): a bit flipped by a network card, a
// switch or a proxy ends the collective with a *comm.PeerError and never reaches a gradient. The
// sender computes it once per frame and peer; the receiver as bytes arrive, while they are in its
// cache. Long messages travel in frames of 1 MiB, so that the link does not idle while the sender
// computes. Each end pays for every byte
//
//	go test ./comm -run - -bench Checksum    22 GB/s, 47 us for 1 MiB (one core of a Zen 3, SSE 4.2)
//
// which is 6 % of the 840 us that 1 MiB takes on a link of 10 Gbit/s, and 56 % of its time on one
// of 100 Gbit/s. Links within a host by package shm are not checked.
//
// Without TLS, data is neither encrypted nor protected against an adversary who changes it together
// with its checksum: such links are for one host or a trusted network.
package tcp
