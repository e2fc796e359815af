// Package comm runs collectives over links between ranks.
//
// A [Mesh] is one rank's ends of its links: [NewLocal] makes meshes within a process, package
// comm/shm between processes of one host, comm/tcp between hosts, and [Combine] makes one of two
// where a [Topology] has hosts of several ranks. A [Group] takes a mesh and offers
// the collectives, waiting ([Group.AllReduce]), in the background ([Group.Start]) or prepared once
// for exchanges that repeat ([Group.Prepare]). Each algorithm is a [Schedule]: a pure function of
// plan, rank and size, tested without any link. One executor runs all of them, driving every link
// of the rank at once from one thread.
//
// # Exactness
//
// What is summed are shards, not ranks: each rank contributes the sums over the maximal subtrees
// of its run of shards, its pieces, and the algorithms add pieces along the fixed tree of package
// shard. So all algorithms but "ring" give the same bits as each other and for
// any number of ranks. "ring" gives the same bits on all ranks of one group only. See [IsExact].
//
// With a [Call].Codec all-reduces travel in another form. A lossless [Codec] changes no bit; with a
// lossy one all ranks of a group get the same bits, but not those of other numbers of ranks, hosts or
// of another algorithm; "auto" then depends on sizes and topology alone, so a run can be repeated.
//
// # Cost
//
// All-reduce of n elements over p ranks with one piece each; k is the largest power of two up to
// p; sent by the busiest rank where p divides n. [Theory] has the formula of each rank for every n,
// [Schedule.Cost] the numbers of any plan and [Group.Counters] counts what happened.
//
//	algorithm         steps                  sent                    exact
//	direct            2                      2n(p-1)/p               yes
//	gather            2                      n(p-1)                  yes
//	halving-doubling  2 log2 k (+2 if k<p)   2n(k-1)/k (+n if k<p)   yes
//	hierarchical      4                      2n(p-1)/p               yes
//	one-shot          1                      n(p-1)                  yes
//	ring              2(p-1)                 2n(p-1)/p               no
//	tree              2 log2 p               n log2 p                yes
//
// 2n(p-1)/p is the lower bound (Patarasuk and Yuan 2009). A rank with several pieces sends each
// of them in the first half. Of what hierarchical sends, on H hosts of L ranks, 2n(H-1)/(HL) leave
// the host; of direct's 2n(H-1)/H do. A group keeps its schedules and scratch; a collective of a size seen
// before allocates nothing.
//
// # Threads
//
// Collectives are executed in the order in which they were issued, by the group's own goroutine,
// which is locked to its thread, or by a caller that waits while that goroutine is idle. The
// links' system calls do not go through Go's network poller; still, GOMAXPROCS must exceed the
// number of threads that compute, so that the group's goroutine finds a place to run. All methods
// may be called from any goroutine; all ranks must issue the same collectives in the same order.
//
// # Errors
//
// [Group.Standing] tells for which peer a collective waits, in which call, and for how many bytes.
//
// A peer that closes its link, moves no byte for [Config].Timeout or sends anything but the frame
// expected ends the collective with a *[PeerError] on every rank: whoever notices first tells
// the others, who fail at once. The cause is io.EOF or the system's error, [ErrTimeout], a
// *[FrameError] or *[BodyError], or a *[ReportError] if another rank noticed. Headers carry a checksum on
// every link, bodies on those of a [Checker], which leave the host. To tell the others, a rank
// first finishes what it is sending, and it reads what they send until they have told it; that takes
// no longer than they take to read on, at most half a second after the last byte. What a
// peer reports beats what a rank concludes from the end of another link. The group is
// unusable afterwards. A time-out names the rank that owes bytes; in a ring, where everybody waits
// for a neighbour, that may be another victim. [ErrClosed] is returned after Close. A call that
// does not fit the group (a wrong length, say) is refused before anything is sent and harms
// nothing.
package comm
