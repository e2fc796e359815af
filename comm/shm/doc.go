// Package shm links the ranks of a group on one host by shared memory.
//
// [Create] makes a segment: a file without a name that all ranks inherit as an open descriptor, so
// nothing is left behind when the last of them ends, however it ends. [Connect] maps it. It holds
// one ring buffer per ordered pair of ranks, with one writer and one reader that share two byte
// counters and no lock. Sending and receiving are copies without a system call. On Linux each rank
// also has an arena that the others can read: a long message in the arena is sent as a descriptor,
// and the receiver copies the message from the arena, so it is copied once. A rank with nothing to
// do sleeps on a futex and is woken only if it sleeps. On other systems it polls with short naps.
//
// A rank that closes a link marks the end in the segment. A process that is killed marks nothing,
// so a waiting rank checks every [checkEvery] that its peers are alive. Whoever holds the
// descriptor is trusted like a process of the same user. Counters are checked nevertheless, so a
// damaged segment is an error and never an access outside it.
package shm
