package agent

import (
	"errors"
	"os"
	"os/exec"
	"time"

	"lockstep/cluster"
	"lockstep/internal/tail"
)

// carrier is a process over whose standard input and output a line goes: an agent, or an ssh to it.
type carrier struct {
	command *exec.Cmd
	in      *os.File  // written by this process
	out     *os.File  // read by this process
	words   *tail.End // what it says on its standard error
	ended   chan struct{}
}

// leaveTime is the time that a carrier has to end after its input has ended.
const leaveTime = 3 * time.Second

// carry starts a carrier in a session of its own, without terminal: it can neither ask questions nor receive
// the terminal's Ctrl-C.
func carry(argv []string, e cluster.Environment) (*carrier, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close(), childIn.Close())
	}
	c := &carrier{command: exec.Command(argv[0], argv[1:]...), in: in, out: out, words: &tail.End{},
		ended: make(chan struct{})}
	c.command.Env = e.Pairs()
	c.command.Stdin, c.command.Stdout, c.command.Stderr = childIn, childOut, c.words
	c.command.WaitDelay = time.Second // a process that ssh has left behind may hold its standard error
	if err := cluster.StartChild(c.command, func(error) { close(c.ended) }); err != nil {
		return nil, errors.Join(err, in.Close(), out.Close(), childIn.Close(), childOut.Close())
	}
	childIn.Close() // the child has its own descriptors
	childOut.Close()
	return c, nil
}

// close ends the input of the process, waits for it to end, and kills it if it does not.
func (c *carrier) close() {
	c.in.Close() // an error means that it was closed before
	select {
	case <-c.ended:
	case <-time.After(leaveTime):
		c.kill()
	}
	c.out.Close()
}

// kill kills the process with its children, such as the ssh to a jump host.
func (c *carrier) kill() {
	cluster.KillGroup(c.command.Process)
	<-c.ended
}
