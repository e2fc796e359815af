// Package host measures the machine of a run.
//
// [Describe] describes the machine. [Meter] measures what this process uses in each step of
// training, [CoresNow] the processor time of all processes, [WatchEnergy] what the processors
// take. Figures that the system does not provide are zero. [Starving] measures for how long this
// process has work and no core. No function of this package fails. All except the methods of a
// Meter and of an Energy may be called from any goroutine.
package host
