// Package worker is one replica of a run, as a process of its own or as a goroutine of the launcher's.
//
// [Work] is the body of a process that the launcher has started, [Guest] one that another launcher has,
// such as mpirun; both carry out an [Assignment]. A [Worker] loads its data, links up with its peers,
// joins the exchange of its strategy, trains, and tells its figures. [Sample] writes what another program
// needs to begin the same run.
package worker
