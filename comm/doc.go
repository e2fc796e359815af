// Package comm runs collectives over links between ranks.
//
// A [Mesh] is one rank's ends of its links. [NewLocal] makes meshes within a process, package
// comm/shm between the processes of a host, and comm/tcp between hosts; [Combine] joins two meshes
// where a [Topology] has hosts of several ranks. A [Group] runs collectives over a mesh: blocking
// ([Group.AllReduce]), in the background ([Group.Start]), or prepared once for repeated exchanges
// ([Group.Prepare]). Each algorithm is a [Schedule]: a pure function of plan, rank and size, tested
// without any link. One executor runs all schedules and drives every link of the rank from one
// thread.
//
// [Group.SetPlan] lets shards move from rank to rank between two collectives.
//
// A [Post] is the alternative to a Group: it drives a mesh to carry messages from rank to rank
// ([Letter]), each identified by a tag, outside collectives.
//
// # Exactness
//
// The terms of a sum are shards, not ranks. Each rank contributes its pieces, the sums over the
// maximal subtrees of its run of shards, and the algorithms add pieces along the fixed tree of
// package shard. So all algorithms but "ring" give the same bits, for any number of ranks. "ring"
// gives the same bits on all ranks of one group only. See [IsExact].
//
// With a [Call].Codec, all-reduces transfer encoded vectors. A lossless [Codec] changes no bit.
// With a lossy one, all ranks of a group get the same bits, but the bits depend on the number of
// ranks, on the hosts and on the algorithm; "auto" then selects by sizes and topology alone, so a
// run can be repeated.
//
// # Cost
//
// All-reduce of n elements over p ranks with one piece each. k is the largest power of two not
// above p; "sent" is that of the busiest rank where p divides n. [Theory] has the formula of each
// rank for every n, [Schedule.Cost] counts the elements of a schedule, and [Group.Counters] the
// actual traffic.
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
// 2n(p-1)/p is the lower bound (Patarasuk and Yuan 2009). A rank with several pieces sends each of
// them in the first half. On H hosts of L ranks, each rank sends 2n(H-1)/(HL) elements to other
// hosts with hierarchical, and 2n(H-1)/H with direct. A group caches schedules and scratch;
// repeating a collective of the same size allocates nothing.
//
// # Threads
//
// Collectives are executed in the order in which they were issued: by the group's own goroutine,
// which is locked to its thread, or by the goroutine of a caller that waits while the group's is
// idle. The links' system calls bypass Go's network poller. Still, GOMAXPROCS must exceed the
// number of compute threads, so that the group's goroutine can run. All methods are safe for
// concurrent use; all ranks must issue the same collectives in the same order.
//
// [Group.Standing] returns which peer a collective waits for, in which call, and for how many
// bytes.
//
// A collective fails with a *[PeerError] on every rank if a peer closes its link, moves no byte for
// [Config].Timeout, or sends an unexpected frame. The rank that notices first reports the loss to
// the others, which fail at once. The cause is io.EOF or the system's error, [ErrTimeout], a
// *[FrameError] or *[BodyError], or a *[ReportError] if another rank noticed. Headers have a
// checksum on every link, bodies on the links of a [Checker], which leave the host.
//
// To report a loss, a rank finishes the frames it is sending, sends the report, and discards what
// its peers send until their reports arrive. That takes as long as the slowest peer takes to read,
// at most half a second after the last byte. A peer's report takes precedence over what a rank
// concludes from the end of another link. The group is unusable afterwards. A time-out names the
// rank that owes bytes; in a ring, where every rank waits for its neighbour, that rank may itself
// be waiting for the lost one.
//
// After Close, calls return [ErrClosed]. A call with invalid arguments (a wrong length, say) is
// refused before anything is sent; the group remains usable.
package comm
