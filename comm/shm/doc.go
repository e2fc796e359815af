// Package shm links the ranks of a group on one host by shared memory.
//
// [Create] makes a segment, a file without a name that all ranks inherit as an open descriptor, so
// nothing is left behind when the last of them ends, however it ends. [Connect] maps it: one ring
// buffer per ordered pair of ranks, each with one writer and one reader, who share nothing but two
// counters of bytes. Sending and receiving are copies and cost no system call. On Linux a rank also
// has an arena that the others can read: of a long message that lies there only a descriptor travels,
// and the receiver copies the message from the arena, once. A rank that has nothing to do sleeps on a
// futex (elsewhere than on Linux it looks again after a short nap), and is woken only if it sleeps.
//
// The end of a link is marked in the segment by whoever ends it. A process that dies marks nothing,
// so a rank that waits looks every [checkEvery] whether its peers still live. Whoever holds the
// descriptor is trusted like a process of the same user; counters are checked nevertheless, so a
// damaged segment is an error and never a wild copy.
package shm
