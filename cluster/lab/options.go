package lab

import (
	"io"
	"os"

	"lockstep/cluster"
)

// Options is what Run needs of the world around it.
type Options struct {
	Program     string   // path of the command's and of this process's program
	Command     []string // arguments of the command on the first host, its name first
	Again       []string // those of this process, for another one with more privileges
	Environment cluster.Environment
	Signals     <-chan os.Signal // are passed on to the command
	Started     func(*Report)    // is told before the command starts what it runs on; nil: not

	Stdin          io.Reader
	Stdout, Stderr io.Writer // of the command
}
