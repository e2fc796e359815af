// Package compute runs tasks on a fixed set of threads with one instruction set.
//
// Open gives a CPU: an instruction set (ISA), a way to compute products (Math) and worker threads.
// graph.NewHost, optim.New and train.Config take one. An operation of your own is a Task, work that can be
// cut into parts, and runs on CPU.Run.
//
// # Guarantees
//
// The order of every floating-point sum is a function of the shape and the ISA alone. So everything that
// Lockstep computes has the same bits for any number of threads, at any address, on any processor that has
// the ISA. Each ISA may give bits of its own, and so may each Math.
//
// A CPU belongs to one goroutine at a time; separate CPUs are independent. A call returns when all of its
// parts are done, whichever thread did them.
//
// # Errors
//
// Open, ParseISA and ParseMath return errors. A CPU that Open has returned stays usable until Close.
package compute
