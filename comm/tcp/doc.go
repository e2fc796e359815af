// Package tcp links the ranks of a group by TCP connections.
//
// Each rank listens on one chosen interface and [Connect] makes a full mesh: a rank dials those
// below it and accepts those above. Both sides of a connection prove that they know the job's
// token (HMAC-SHA256 over both sides' nonces, compared in constant time) before anything else is
// read; up to then a stranger can make a rank read [HelloBytes] and no more, in a time bounded by
// [HelloTimeout], and cause no allocation whose size it chooses. Version, byte order, generation,
// world size and ranks are part of what is proved. A refused connection is closed and counted;
// it never disturbs the mesh.
//
// The mesh drives its sockets without waiting and outside Go's network poller: with all
// processors busy computing, the runtime looks at its poller only every 10 ms, while poll(2) on
// the group's own thread wakes as soon as the kernel has data. Frames are written and read with
// one vectored system call for header and body; TCP_NODELAY is set. Time-outs, frame checks and
// the naming of lost peers are the group's; see package comm.
//
// Every body is checked by CRC-32C, which finds what TCP's sum of 16 bits misses (Stone and Partridge
// 2000, "When the CRC and TCP checksum disagree"): a bit that a network card, a switch or a proxy flips
// ends the collective with a *comm.PeerError and never reaches a gradient. The sender computes it once
// per frame and peer, the receiver as bytes arrive, while they are in its cache; long messages travel in
// frames of 1 MiB, so that the link does not wait for the sender's. Each end pays for every byte
//
//	go test ./comm -run - -bench Checksum    22 GB/s, 47 us for 1 MiB (one core of a Zen 3, SSE 4.2)
//
// which is 6 % of the 840 us that a link of 10 Gbit/s takes for it, and 56 % of what one of 100 Gbit/s
// does. Links within a host by package shm are not checked.
//
// The data is neither encrypted nor protected against an adversary who changes it and its checksum: use
// it within a host or a trusted network.
package tcp
