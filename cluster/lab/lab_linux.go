package lab

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"lockstep/cluster"
)

// The hosts' addresses, of the private range: 10.77.0.1 is host0's.
var subnet = [3]byte{10, 77, 0}

const (
	subnetBits   = 24
	firstAddress = 1
)

// host is a namespace with an interface.
type host struct {
	name    string
	address netip.Prefix
	space   namespace
}

// lab is a set of hosts and the network between them.
type lab struct {
	hosts []host
	links interface {
		finish() ([]Counts, error) // to be called once
		close() error
	}
}

// Run builds the network of c, which must be valid, runs the command on its first host, and returns the
// counters of the links, also with an *ExitError. If this process may not create namespaces, Run starts it
// again in a user namespace; the report is then nil, because that process has handled it.
func Run(c Config, o Options) (*Report, error) {
	l, err := build(c)
	if errors.Is(err, unix.EPERM) && o.Environment[cluster.EnvLabUser] == "" {
		return nil, o.again(err)
	}
	if err != nil {
		return nil, err
	}
	defer l.close() // the end of the process would do the same
	report := &Report{IsEmulated: c.isEmulated()}
	var hosts []cluster.LabHost
	for i, h := range l.hosts {
		hosts = append(hosts, cluster.LabHost{Name: h.name, Address: h.address.Addr().String(),
			Namespace: h.space.path()})
		report.Hosts = append(report.Hosts, HostReport{Name: h.name, Address: hosts[i].Address})
	}
	if o.Started != nil {
		o.Started(report)
	}
	command := &exec.Cmd{Path: o.Program, Args: o.Command,
		Env: o.Environment.With(cluster.LabEnvironment(hosts)).Pairs()}
	failed := o.follow(command, l.hosts[0].space.do)
	counts, err := l.links.finish()
	if err != nil {
		return nil, errors.Join(err, failed)
	}
	for i := range counts {
		report.Hosts[i].Counts = counts[i]
	}
	return report, failed
}

// build creates the hosts and, if the kernel cannot be the network between them, the emulator.
func build(c Config) (l *lab, err error) {
	l = &lab{}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.leave())
		}
	}()
	for i := range c.Hosts {
		space, err := newNamespace()
		if err != nil {
			return l, err
		}
		address := netip.AddrFrom4([4]byte{subnet[0], subnet[1], subnet[2], byte(firstAddress + i)})
		l.hosts = append(l.hosts, host{name: fmt.Sprintf("host%d", i),
			address: netip.PrefixFrom(address, subnetBits), space: space})
	}
	if c.isEmulated() {
		l.links, err = newEmulator(c, l.hosts)
	} else if l.links, err = newKernelNetwork(c, l.hosts); err != nil {
		err = missing("join the hosts", err, "with --delay 1us the lab carries the packets by itself")
	}
	return l, err
}

// leave releases the hosts; they vanish when no process uses them.
func (l *lab) leave() error {
	var failed []error
	for _, h := range l.hosts {
		failed = append(failed, h.space.close())
	}
	l.hosts = nil
	return errors.Join(failed...)
}

func (l *lab) close() error { return errors.Join(l.links.close(), l.leave()) }

// follow runs a command on the thread that on calls a function on, passes signals on to it, and returns nil
// or how it has ended. The command dies with the thread, so with this process.
func (o Options) follow(command *exec.Cmd, on func(func() error) error) error {
	command.Stdin, command.Stdout, command.Stderr = o.Stdin, o.Stdout, o.Stderr
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	command.SysProcAttr.Setpgid = true // a terminal's Ctrl-C comes from here, once
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		ended <- on(func() error {
			err := command.Start()
			started <- err
			if err == nil {
				err = command.Wait()
			}
			return err
		})
	}()
	if err := <-started; err != nil {
		<-ended
		return err
	}
	for {
		select {
		case s := <-o.Signals:
			command.Process.Signal(s) // an error means that it has ended
		case err := <-ended:
			return exitError(err)
		}
	}
}

// exitError describes how a command has ended.
func exitError(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	status := exit.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return &ExitError{Status: 128 + int(status.Signal())}
	}
	return &ExitError{Status: status.ExitStatus()}
}

// again runs this command line as the superuser of a new user namespace. refused is the error of the attempt
// without one.
func (o Options) again(refused error) error {
	command := &exec.Cmd{Path: o.Program, Args: o.Again,
		Env: o.Environment.With(cluster.Environment{cluster.EnvLabUser: "1"}).Pairs()}
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}}
	err := o.follow(command, onThread)
	if exit := (*ExitError)(nil); err == nil || errors.As(err, &exit) {
		return err
	}
	return fmt.Errorf("%w (nor in a user namespace: %w)", refused, err)
}

// hint says how to get what the kernel refuses.
const hint = "run it as root, or let users have user namespaces (sysctl user.max_user_namespaces, " +
	"user.max_net_namespaces, kernel.apparmor_restrict_unprivileged_userns=0); a container needs --privileged"
