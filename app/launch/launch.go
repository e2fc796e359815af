package launch

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lockstep/app/doctor"
	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/launch/agent"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/internal/spelling"
)

// Survey is what a command line would do.
type Survey struct {
	Configs []setting.Config  // that it would run; none: it trains nothing
	Given   map[string]string // its flags config, plan, resume and out, and those that it lacks as ""
	Name    string            // of what it runs: a recipe, or the command
}

// isTraining reports whether it is one run.
func (s Survey) isTraining() bool {
	return len(s.Configs) == 1 && s.Name != "bench" && s.Name != "commbench"
}

// Command is a command line of lockstep for hosts, and the world around it.
type Command struct {
	Arguments []string
	Hosts     []agent.Host
	Console   agent.Console

	Restarts, MinHosts int // how often it is started again, while so many hosts are left; 0: all

	// Survey says what a command line would do in an environment. The error is that with which it would
	// refuse its arguments.
	Survey func(ctx context.Context, args []string, e cluster.Environment) (Survey, error)

	Environment    cluster.Environment
	Stdout, Stderr io.Writer
	Columns        int                     // of the terminal that Stderr is; 0: it is none
	Show           func(launcher.Progress) // is told of data on their way
	Signals        <-chan os.Signal        // that ask to stop
	IsPreemption   func(os.Signal) bool    // by a scheduler
}

// Outcome says how a command on hosts has ended.
type Outcome struct {
	Status     int              // exit status
	IsWithheld bool             // it was not started again after all, and no attempt has said where it stands
	Arguments  []string         // of the first attempt
	Directory  string           // of the run on this machine
	Restarts   []record.Restart // of the run
}

// launching is a command on hosts that are connected.
type launching struct {
	Command
	agents  []*agent.Connection
	roster  []cluster.RosterHost
	plan    Survey
	found   string   // by the preflight, encoded
	args    []string // of the command
	dataDir string   // of the command, if the first host is this machine; "": that of its environment
	freight *freight
	release func() // lets others use the folder that waits for results; may be nil
	folder  string // name of the job's folder
	outcome Outcome
}

// Run connects to the hosts, examines them, sends them what they need, runs the command on the first of them,
// starts it again if it has lost a worker or a host and may do so, and fetches its results.
func Run(ctx context.Context, c Command) (Outcome, error) {
	l := &launching{Command: c}
	if err := l.check(ctx); err != nil {
		return Outcome{}, err
	}
	err := interruptible(ctx, c.Signals, l.prepare)
	defer func() { CloseAll(l.agents) }()
	defer func() {
		if l.release != nil {
			l.release()
		}
	}()
	if err != nil {
		return Outcome{}, err
	}
	err = l.work(ctx)
	return l.outcome, err
}

// check refuses what can be refused before a host is reached.
func (l *launching) check(ctx context.Context) (err error) {
	if l.Restarts == 0 && l.MinHosts > 0 {
		return setting.Refuse("--min-hosts %d: without --max-restarts, no host may be lost", l.MinHosts)
	}
	for _, h := range l.Hosts {
		l.roster = append(l.roster, cluster.RosterHost{Name: h.Name, Address: "127.0.0.1", Slots: h.Slots})
	}
	l.plan, err = l.Survey(ctx, l.Arguments, l.Environment.With(l.environment()))
	if err == nil && !l.plan.isTraining() && l.Restarts > 0 {
		err = setting.Refuse("--max-restarts: is for train and for recipes that train; a benchmark goes " +
			"on with bench --resume")
	}
	return err
}

// interruptible calls do with a context that ends when a signal comes meanwhile.
func interruptible(ctx context.Context, signals <-chan os.Signal, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	})
	defer watch.Wait()
	defer cancel()
	return do(ctx)
}

// prepare connects to the hosts, examines them, and sends them what they need.
func (l *launching) prepare(ctx context.Context) (err error) {
	if l.agents, err = DialAll(ctx, l.Console, l.Hosts); err != nil {
		return err
	}
	if err = l.examine(ctx); err != nil {
		return err
	}
	l.args = slices.Clone(l.Arguments)
	if err = l.sendData(ctx); err != nil {
		return err
	}
	if l.freight, err = load(l.plan, !isHere(l.agents[0])); err != nil {
		return err
	}
	if len(l.plan.Configs) > 0 && (l.freight.isAway || l.Restarts > 0) {
		l.freight.directFree(l.plan.folderName())
	}
	if l.release, err = l.freight.reserve(); err != nil {
		return err
	}
	l.args = append(l.args, l.freight.extra...)
	// Processes of several containers have the same number.
	l.folder = fmt.Sprintf("%s-%.8s", time.Now().UTC().Format("20060102-150405"), rand.Text())
	err = agent.Each(l.agents, func(k int, c *agent.Connection) error {
		if k == 0 && !l.freight.isAway {
			return nil // the command runs in the current folder
		}
		return agent.Claim(ctx, c, l.folder)
	})
	if err != nil {
		return err
	}
	return l.freight.send(ctx, l.Console, l.agents, l.folder)
}

// folderName returns what the name of the directory of a command says besides the time.
func (s Survey) folderName() string {
	if c := s.Configs[0]; s.isTraining() {
		return fmt.Sprintf("%s-%s-w%d", c.Model, c.Strategy, c.Workers)
	}
	return s.Name
}

// examine chooses an address for each host, shows what it has found, and refuses hosts on which no job can
// run.
func (l *launching) examine(ctx context.Context) error {
	if !slices.ContainsFunc(l.agents, func(c *agent.Connection) bool { return !isHere(c) }) {
		return nil // over the loopback interface
	}
	found, err := Preflight(ctx, l.agents)
	if err != nil {
		return err
	}
	refused, shown := doctor.Refuse(found.Findings), *found
	shown.Findings = slices.DeleteFunc(slices.Clone(found.Findings), func(f record.Finding) bool {
		return f.Level == record.LevelError // the error says them
	})
	if err := errors.Join(refused, doctor.Text(l.Stderr, &shown)); err != nil {
		return err
	}
	for k, facts := range found.Hosts {
		l.roster[k].Address, l.roster[k].Cores = facts.Address, facts.Affinity
	}
	l.found = doctor.Encode(found)
	return nil
}

// environment returns the variables that the command gets from here.
func (l *launching) environment() cluster.Environment {
	e := cluster.RosterEnvironment(l.roster)
	e[cluster.EnvPreflight] = l.found
	for name, value := range l.Environment {
		if strings.HasPrefix(name, cluster.EnvTrain) || name == cluster.EnvISA ||
			name == cluster.EnvNoColor || name == cluster.EnvTerm {
			e[name] = value
		}
	}
	if l.dataDir != "" {
		e[cluster.EnvData] = l.dataDir
	}
	if l.Columns > 0 {
		e[cluster.EnvTerminal] = strconv.Itoa(l.Columns)
	}
	return e
}

// work runs the command on the hosts, which are prepared, and fetches its results.
func (l *launching) work(ctx context.Context) error {
	again := &Restarts{Most: l.Restarts, Stderr: l.Stderr}
	err := l.follow(ctx, again)
	if err != nil {
		l.outcome.Status = 0 // of an attempt before
	}
	if agent.IsLost(err) {
		return l.withoutFirst(err)
	}
	l.outcome.Arguments, l.outcome.Directory, l.outcome.Restarts = l.args, l.freight.local, again.Done
	return errors.Join(err, l.bring())
}

// follow runs the command, and starts it again if it has lost a worker or a host and may do so.
func (l *launching) follow(ctx context.Context, again *Restarts) error {
	args, o := l.args, &l.outcome
	var stands record.Standing
	for {
		ended, err := l.attempt(ctx, args, again)
		if err != nil {
			return err
		}
		o.Status = ended.Status
		if ended.IsAsked && ended.Signal != "" && len(again.Done) > 0 { // before it could hear signals
			o.IsWithheld, o.Status = true, statusAsked(ended.Signal != "SIGINT", stands)
			return nil
		}
		if !again.MayFollow(ended.Status) {
			o.IsWithheld = o.IsWithheld || ended.Signal != "" // it was killed and has said nothing
			return nil
		}
		if o.IsWithheld = true; ended.IsAsked {
			return nil
		}
		stands, err = l.stand(ctx)
		if errors.Is(err, context.Canceled) {
			return err
		}
		if err == nil {
			err = again.Asked(l.Signals, l.IsPreemption, stands, &o.Status)
		}
		if err != nil {
			again.Without(err)
			return nil
		}
		cause, ok := l.leave(ended.Lost)
		if !ok {
			return nil
		}
		o.IsWithheld = false
		again.Note(stands, cause, l.freight.directory)
		args = From(stands, l.args, l.freight.directory)
	}
}

// attempt runs the command once.
func (l *launching) attempt(ctx context.Context, args []string, again *Restarts) (agent.Outcome, error) {
	j := agent.Job{Arguments: args, Folder: l.folder, Stdout: l.Stdout, Stderr: l.Stderr, Signals: l.Signals,
		Environment: l.environment().With(again.Environment())}
	if l.freight.isAway {
		j.First = l.folder
	}
	ended, err := j.Run(ctx, l.agents)
	if k := l.other(err); k > 0 { // before the command began
		fmt.Fprintf(l.Stderr, "lockstep: %v\n", err)
		l.outcome.IsWithheld = len(again.Done) > 0
		return agent.Outcome{Status: job.ExitPeerLost, Lost: []int{k}}, nil
	}
	if err == nil && ended.Signal != "" {
		fmt.Fprintf(l.Stderr, "lockstep: host %s: the command was killed by signal %s\n",
			l.agents[0].Host.Name, ended.Signal)
	}
	return ended, err
}

// other returns the number of the host whose loss err is, if it is not the first one; else 0.
func (l *launching) other(err error) int {
	lost, isHost := errors.AsType[*agent.HostError](err)
	if !isHost || !lost.IsLost {
		return 0
	}
	return max(0, slices.IndexFunc(l.agents, func(c *agent.Connection) bool {
		return c.Host.Name == lost.Host
	}))
}

// stand asks the first host where the run can go on.
func (l *launching) stand(ctx context.Context) (s record.Standing, err error) {
	body, err := json.Marshal(l.there())
	if err != nil {
		return s, err
	}
	var answer json.RawMessage
	err = interruptible(ctx, l.Signals, func(ctx context.Context) (err error) {
		answer, err = l.agents[0].Ask(ctx, askStand, body)
		return err
	})
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(answer, &s)
}

// leave takes lost hosts off the list, and reports whether enough are left. It returns what was lost.
func (l *launching) leave(lost []int) (cause string, ok bool) {
	if len(lost) == 0 {
		return "lost a worker", true
	}
	var names []string
	for _, k := range lost {
		names = append(names, l.agents[k].Host.Name)
		l.agents[k].Close()
	}
	cause = "lost host " + strings.Join(names, ", ")
	least, left := cmp.Or(l.MinHosts, len(l.agents)), len(l.agents)-len(lost)
	if left < least {
		fmt.Fprintf(l.Stderr, "lockstep: no restart: %s, and %s left, of at least %d; --min-hosts %d "+
			"allows it\n", cause, spelling.Count(left, "host"), least, left)
		return cause, false
	}
	var agents []*agent.Connection
	var roster []cluster.RosterHost
	for k := range l.agents {
		if !slices.Contains(lost, k) {
			agents, roster = append(agents, l.agents[k]), append(roster, l.roster[k])
		}
	}
	l.agents, l.roster = agents, roster
	return cause, true
}

// withoutFirst adds to the error of a first host that is lost what that means for the run, and how to go on.
func (l *launching) withoutFirst(err error) error {
	if !l.freight.isAway {
		return err
	}
	first, text := l.agents[0].Host.Name, ""
	if l.Restarts > 0 {
		text = "no restart: the command ran on the first host, which has the checkpoints; the host that is " +
			"least likely to be lost should be the first\n"
	}
	there := l.there()
	text += fmt.Sprintf("what the run has written stays on %s for 30 days, in %s", first, there)
	if l.freight.directory != "" {
		text += fmt.Sprintf("; to go on: scp -r %s:%s . and lockstep launch --hosts ... -- train --resume %s",
			first, there, path.Base(there))
	}
	return fmt.Errorf("%w\n%s", err, text)
}

// there returns the directory of the run on the first host.
func (l *launching) there() string {
	if !l.freight.isAway {
		return l.freight.directory
	}
	return path.Join(l.agents[0].Hello.Jobs, l.folder, l.freight.directory)
}

// bring fetches the results and removes the folders of the job. A signal ends it.
func (l *launching) bring() error {
	return interruptible(context.Background(), l.Signals, func(ctx context.Context) error {
		if err := l.freight.bring(ctx, l.Console, l.agents[0], l.folder); err != nil {
			return err
		}
		agent.Each(l.agents, func(_ int, c *agent.Connection) error {
			return agent.Clear(ctx, c, l.folder) // of a lost host it stays
		})
		return nil
	})
}
