// Package host measures the machine of a run.
//
// [Describe] tells what the machine is. [Meter] tells what this process takes for each step of
// training, [CoresNow] what all processes of the machine take. What the system does not tell is
// zero; no function of this package fails, and all may be called from any goroutine, but for the
// methods of a Meter.
package host
