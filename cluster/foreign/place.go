package foreign

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"lockstep/cluster"
)

// environment is the variables of a process, and flags by their names, such as "--workers".
type environment cluster.Environment

// errorf returns an *cluster.EnvironmentError.
func errorf(format string, args ...any) error {
	return &cluster.EnvironmentError{Text: fmt.Sprintf(format, args...)}
}

// Place reads which process of a job this is from the variables of all known launchers: Lockstep's
// own, torchrun's, those of Kubeflow for torchrun (PET_*), Slurm's, Open MPI's, PMI's and PMIx's, and
// those of indexed Kubernetes jobs. Flags may be added to e by their names, such as "--workers"; they
// count as the first source.
//
// Each number comes from the first source that gives it. It is a pure function of e. The error is an
// *EnvironmentError: a value is malformed or out of range, two sources disagree, or a rank comes
// without a number of processes. A source that numbers the hosts, such as srun when it starts one
// torchrun per host, does not disagree with one that numbers the processes.
func Place(of cluster.Environment) (cluster.Place, error) {
	e := environment(of)
	var all reading
	for _, s := range sources() {
		r, err := s.read(e)
		if err != nil {
			return cluster.Place{}, err
		}
		if r.isEmpty() || all.isInside(r) {
			continue
		}
		if err := all.merge(r); err != nil {
			return cluster.Place{}, err
		}
	}
	if err := all.completeNodes(); err != nil {
		return cluster.Place{}, err
	}
	if isAlone, err := all.isAlone(); isAlone || err != nil {
		return cluster.Place{World: 1}, err
	}
	if err := all.check(); err != nil {
		return cluster.Place{}, err
	}
	return all.place(e)
}

// CheckAlone returns an *EnvironmentError if another launcher started this process as one of
// several, or if its variables contradict each other. It is for commands that cannot join: each
// process would do all of the work. It ignores the variables of Launch.
func CheckAlone(of cluster.Environment) error {
	e := environment(of)
	p, err := Place(of)
	if err != nil || !p.IsSeveral() {
		return err
	}
	return errorf("%s: %s started this command as one of %d processes, and it cannot share "+
		"its work with them; start it once, or run it as env %s lockstep ... if each is to work on its own",
		p.Source, p.Launcher, p.World, e.unset())
}

// unset returns the options of env that remove the variables of all launchers.
func (e environment) unset() string {
	var options []string
	for _, s := range sources() {
		for _, name := range s.names() {
			if e[name] != "" && !strings.HasPrefix(name, "--") {
				options = append(options, "-u "+name)
			}
		}
	}
	return strings.Join(options, " ")
}

// given is a number with the variable that gave it; the zero value is a number that is not given.
type given struct {
	value        int
	name, text   string
	launcher     string
	isPerProcess bool // of a rank or a world: of processes that were started, not of workers wanted
}

func (g given) isSet() bool { return g.name != "" }

// String returns the variable and its value as it was given.
func (g given) String() string { return g.name + "=" + g.text }

// The numbers of a reading, by index.
const (
	theRank = iota
	theWorld
	theLocalRank
	theLocalWorld
	theNode
	theNodes
	numQuantities
)

// reading is what one source, or all of them, say.
type reading [numQuantities]given

func (r *reading) isEmpty() bool { return !slices.ContainsFunc(r[:], given.isSet) }

// isInside reports whether other numbers the hosts of r: its ranks are the nodes of r.
func (r *reading) isInside(other reading) bool {
	rank, world, node, nodes := other[theRank], other[theWorld], r[theNode], r[theNodes]
	return r[theRank].isSet() && rank.isSet() && node.isSet() && nodes.isSet() && rank.value == node.value &&
		(!world.isSet() || world.value == nodes.value)
}

// merge adds the numbers that r does not have yet and compares the others.
func (r *reading) merge(other reading) error {
	for i, g := range other {
		switch {
		case !g.isSet():
		case !r[i].isSet():
			r[i] = g
		case r[i].value != g.value:
			return errorf("%s says %v but %s says %v; leave out, or unset, one of them",
				r[i].launcher, r[i], g.launcher, g)
		case !r[i].isPerProcess:
			r[i] = g // the same, from what has started the processes
		}
	}
	return nil
}

// completeNodes numbers the processes of a launcher that starts one on each host.
func (r *reading) completeNodes() error {
	node, nodes, each := r[theNode], r[theNodes], r[theLocalWorld]
	if r[theRank].isSet() || !node.isSet() || !nodes.isSet() || nodes.value == 1 {
		return nil
	}
	if each.isSet() && each.value != 1 {
		return errorf("%v %v %v: this process was started for its whole host; "+
			"`lockstep run` in place of `lockstep` starts the %d workers of the host", nodes, node, each,
			each.value)
	}
	r[theRank], r[theWorld] = node, nodes
	return nil
}

// isAlone reports whether no other process belongs to the job. The error says that the variables
// leave it open.
func (r *reading) isAlone() (bool, error) {
	rank, world := r[theRank], r[theWorld]
	switch {
	case !rank.isSet() && r[theNode].isSet() && r[theNodes].isSet():
		return true, nil // of one host: completeNodes has seen to the others
	case !rank.isSet() && r.isAnyOver(1, theLocalWorld, theNodes), !rank.isSet() &&
		r.isAnyOver(0, theLocalRank, theNode), !rank.isSet() && world.isPerProcess && world.value > 1:
		return false, errorf("%s: one of several processes, but nothing says which; set %s",
			r, cluster.EnvRank)
	case !rank.isSet():
		return true, nil
	case !world.isSet():
		return false, errorf("%v: one of several processes, but nothing says of how many; set %s",
			rank, cluster.EnvWorld)
	case !world.isPerProcess:
		return false, errorf("%v: nothing says how many processes were started; set %s, which "+
			"must agree with %v", rank, cluster.EnvWorld, world)
	}
	return false, nil
}

// isAnyOver reports whether one of the numbers is given and above least.
func (r *reading) isAnyOver(least int, numbers ...int) bool {
	return slices.ContainsFunc(numbers, func(i int) bool { return r[i].isSet() && r[i].value > least })
}

// String lists what is given.
func (r *reading) String() string {
	var texts []string
	for _, g := range r {
		if g.isSet() {
			texts = append(texts, g.String())
		}
	}
	return strings.Join(texts, " ")
}

// check refuses numbers that contradict each other.
func (r *reading) check() error {
	for _, pair := range [][2]int{{theRank, theWorld}, {theLocalRank, theLocalWorld}, {theNode, theNodes}} {
		number, count := r[pair[0]], r[pair[1]]
		if number.isSet() && count.isSet() && number.value >= count.value {
			return errorf("%v of %v: numbers go from 0 to %d", number, count, count.value-1)
		}
	}
	for _, pair := range [][2]int{{theLocalRank, theRank}, {theLocalWorld, theWorld}, {theNode, theRank},
		{theNodes, theWorld}} {
		part, whole := r[pair[0]], r[pair[1]]
		if part.isSet() && part.value > whole.value {
			return errorf("%v is more than %v", part, whole)
		}
	}
	return nil
}

// place puts the numbers together and adds address and job.
func (r *reading) place(e environment) (cluster.Place, error) {
	p := cluster.Place{Launcher: r[theRank].launcher, Source: r[theRank].String() + " " +
		"" + r[theWorld].String(),
		Rank: r[theRank].value, World: r[theWorld].value, LocalRank: r[theLocalRank].value,
		LocalWorld: r[theLocalWorld].value, Node: r[theNode].value, Nodes: r[theNodes].value}
	switch {
	case p.LocalWorld == p.World:
		p.Node, p.Nodes = 0, 1
	case p.Nodes == 1:
		p.LocalRank, p.LocalWorld = p.Rank, p.World
	case p.Nodes == p.World, p.Nodes == 0 && p.LocalWorld == 1 && r[theNode].isSet():
		p.Node, p.Nodes, p.LocalRank, p.LocalWorld = p.Rank, p.World, 0, 1
	}
	var err error
	if p.Address, err = e.masterAddress(); err != nil {
		return cluster.Place{}, err
	}
	if text := e[envSlurmCores]; text != "" && p.Launcher == "Slurm" {
		cores, err := e.natural(envSlurmCores, text, 1)
		if err != nil {
			return cluster.Place{}, err
		}
		p.Cores = cores.value
	}
	for _, s := range sources() {
		if s.launcher == p.Launcher {
			p.Job = s.jobOf(e)
		}
	}
	if p.Job == "" && e[cluster.EnvMasterPort] != "" {
		p.Job = "port " + e[cluster.EnvMasterPort]
	}
	return p, nil
}

// masterAddress returns host:port of rank 0; "" if nothing gives a host. Flags, MASTER_ADDR and
// PET_MASTER_ADDR must agree. Else Slurm's first host is it, with a port derived from the job.
func (e environment) masterAddress() (string, error) {
	host, err := e.agreed("--master-addr", cluster.EnvMasterAddr, envPetMasterAddr)
	if err != nil {
		return "", err
	}
	port, err := e.agreed("--master-port", cluster.EnvMasterPort, envPetMasterPort)
	if err != nil {
		return "", err
	}
	if host == "" {
		return e.slurmAddress(port)
	}
	n := defaultPort
	if port != "" {
		if n, err = strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
			return "", errorf("port %.80q of the rendezvous: want a number up to 65535", port)
		}
	}
	if e[envTorchAgentStore] == "True" {
		n++ // torchrun's agent itself listens on the port that it gives
	}
	return net.JoinHostPort(host, strconv.Itoa(n)), nil
}

// defaultPort is torchrun's.
const defaultPort = 29500

// agreed returns the one text that the named variables have; "" if none is set.
func (e environment) agreed(names ...string) (string, error) {
	first := ""
	for _, name := range names {
		switch {
		case e[name] == "":
		case first == "":
			first = name
		case e[name] != e[first]:
			return "", errorf("%s=%s but %s=%s; leave out, or unset, one of them",
				first, e[first], name, e[name])
		}
	}
	return e[first], nil
}
