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
// The data is neither encrypted nor protected against changes on the way: use it within a host
// or a trusted network.
package tcp
