// Package compute runs tasks on a fixed set of threads with one instruction set.
//
// Open gives a CPU: an instruction set (ISA), a way to compute products (Math) and worker threads.
// graph.NewHost, optim.New and train.Config take one. An operation of your own is a Task, work that can be
// cut into parts, and runs on CPU.Run.
//
// # Guarantees
//
// The order of every floating-point sum is a function of the shape alone, and every ISA rounds where the
// others do. So everything that Lockstep computes has the same bits for any number of threads, at any
// address, by any ISA, on any processor, but for what comes of infinite values and NaN, and the sign of some
// zeros (docs/design/0041). Each Math may give bits of its own.
//
// A CPU belongs to one goroutine at a time; separate CPUs are independent. A call returns when all of its
// parts are done, whichever thread did them.
//
// # Errors
//
// Open, ParseISA and ParseMath return errors. A CPU that Open has returned stays usable until Close.
package compute
