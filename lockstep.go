package lockstep

import "lockstep/app/command"

// Main parses the command line, runs it and exits with the documented status. Workers are processes
// of the same program, so Main is the first call of main.
func Main() { command.Main() }
