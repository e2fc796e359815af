package cluster

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// remoteFleet is the processes of a launch on the other hosts of its roster. Its state belongs to mu.
type remoteFleet struct {
	run     string // name of the launch
	where   placement
	conn    net.Conn // to the agent of this host, which passes envelopes on
	post    func(event)
	log     func(rank int) string
	reading sync.WaitGroup
	writing sync.Mutex

	mu     sync.Mutex
	ended  []bool // by rank
	left   int    // processes that have not ended
	logged []int  // by rank: bytes of the end of its log that are kept
}

// newRemoteFleet returns the fleet of the ranks that where places on other hosts, before it is started.
func newRemoteFleet(where placement, conn net.Conn, post func(event), log func(int) string) *remoteFleet {
	world := len(where.hosts)
	var name [8]byte
	rand.Read(name[:]) // never fails
	f := &remoteFleet{run: hex.EncodeToString(name[:]), where: where, conn: conn, post: post, log: log,
		ended: make([]bool, world), logged: make([]int, world)}
	for _, host := range where.hosts {
		if host > 0 {
			f.left++
		}
	}
	return f
}

// encode returns the orders to start the processes, by host. It starts none.
func (f *remoteFleet) encode(starts map[int]*Start) (map[int][]byte, error) {
	orders := map[int][]byte{}
	for host, s := range starts {
		var err error
		if orders[host], err = encodeOrder(host, Order{Run: f.run, Start: s}); err != nil {
			return nil, fmt.Errorf("cluster: start %s on %s: %w", f.where.list(f.where.ranksOn(host)),
				f.where.roster[host].Name, err)
		}
	}
	return orders, nil
}

// start sends the orders and handles reports from then on. What fails is posted.
func (f *remoteFleet) start(orders map[int][]byte) {
	failed := map[int]error{}
	for host, text := range orders {
		if err := f.write(text); err != nil {
			failed[host] = err
		}
	}
	f.reading.Go(func() {
		for host, err := range failed {
			f.lose(host, true, err.Error())
		}
		f.follow()
	})
}

// encodeOrder returns an order as a line.
func encodeOrder(host int, o Order) ([]byte, error) {
	text, err := json.Marshal(o)
	if err == nil {
		text, err = json.Marshal(Envelope{Host: host, Order: text})
	}
	if err == nil && len(text) >= MaxOrder {
		err = fmt.Errorf("the order has %d bytes, at most %d fit", len(text), MaxOrder-1)
	}
	return append(text, '\n'), err
}

// send gives an order. An error means that the agents are gone, which follow notices.
func (f *remoteFleet) send(host int, o Order) {
	if text, err := encodeOrder(host, o); err == nil {
		f.write(text)
	}
}

func (f *remoteFleet) write(text []byte) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := f.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	_, err := f.conn.Write(text)
	return err
}

// follow handles reports until all processes have ended or nothing more can be heard of them. What has been
// read by then of later reports concerns no process of this launch; it reads their last line to its end.
func (f *remoteFleet) follow() {
	reader := bufio.NewReaderSize(f.conn, MaxOrder)
	for f.count() > 0 || reader.Buffered() > 0 {
		text, err := reader.ReadSlice('\n')
		if err != nil {
			for host := range f.where.roster {
				f.lose(host, false, fmt.Sprintf("the agent of the first host does not answer: %v", err))
			}
			return
		}
		var e Envelope
		var r Report
		if json.Unmarshal(text, &e) == nil && json.Unmarshal(e.Report, &r) == nil &&
			e.Host > 0 && e.Host < len(f.where.roster) {
			f.handle(e.Host, r)
		}
	}
}

// handle handles one report about a host.
func (f *remoteFleet) handle(host int, r Report) {
	switch {
	case r.Lost != "":
		f.lose(host, false, r.Lost)
	case r.Run != f.run:
	case r.Refused != "":
		f.lose(host, true, r.Refused)
	case r.Output != nil && f.has(host, r.Output.Rank):
		f.keep(host, *r.Output)
	case r.Exit != nil && f.has(host, r.Exit.Rank):
		f.end(r.Exit.Rank, &exit{pid: r.Exit.PID, signal: r.Exit.Signal, status: r.Exit.Status,
			text: r.Exit.Text, cause: r.Exit.Cause})
	}
}

// has reports whether the host has the rank, which may be any number.
func (f *remoteFleet) has(host, rank int) bool {
	return rank >= 0 && rank < len(f.where.hosts) && f.where.hosts[rank] == host
}

// lose ends all processes of a host of which nothing more will be heard, or that started none.
func (f *remoteFleet) lose(host int, isRefused bool, why string) {
	f.mu.Lock()
	ranks := slices.DeleteFunc(f.where.ranksOn(host), func(rank int) bool { return f.ended[rank] })
	f.mu.Unlock()
	if host == 0 || len(ranks) == 0 {
		return
	}
	f.post(event{rank: ranks[0], host: &HostError{Host: f.where.roster[host].Name, Ranks: ranks,
		Names: f.where.list(ranks), IsRefused: isRefused, Reason: why}})
	for _, rank := range ranks {
		f.end(rank, &exit{status: 1, text: why, isLost: true})
	}
}

// end posts the exit of a rank, once.
func (f *remoteFleet) end(rank int, x *exit) {
	f.mu.Lock()
	isEnd := !f.ended[rank]
	if isEnd {
		f.ended[rank] = true
		f.left--
	}
	f.mu.Unlock()
	if isEnd {
		f.post(event{rank: rank, exit: x})
	}
}

// keep appends a part of a log to the file that the rank's log has here. Without it the error about the rank
// has one line.
func (f *remoteFleet) keep(host int, o Output) {
	if f.logged[o.Rank] >= maxOutput {
		return // its agent sends no more
	}
	file, err := os.OpenFile(f.log(o.Rank), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return
	}
	defer file.Close()
	if f.logged[o.Rank] == 0 {
		fmt.Fprintf(file, "the end of %s on %s:\n", o.Path, f.where.roster[host].Name)
	}
	f.logged[o.Rank] += len(o.Text)
	file.WriteString(o.Text)
}

func (f *remoteFleet) kill() {
	for host := range f.where.roster {
		if len(f.where.ranksOn(host)) > 0 && host > 0 {
			f.send(host, Order{Run: f.run, KillAll: true})
		}
	}
}

func (f *remoteFleet) killOne(rank int) {
	f.send(f.where.hosts[rank], Order{Run: f.run, Kill: &rank})
}

func (f *remoteFleet) quit(rank int) {
	f.send(f.where.hosts[rank], Order{Run: f.run, Quit: &rank})
}

// count returns how many processes have not ended.
func (f *remoteFleet) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.left
}

// wait closes the connection when all processes have ended.
func (f *remoteFleet) wait() {
	f.reading.Wait()
	f.conn.Close()
}

// LogFolder is the folder below an agent's own with the logs of its processes.
const LogFolder = "logs"

// remoteStarts returns what to order of each other host that has ranks.
func (c LaunchConfig) remoteStarts(processes []process, where placement, run string) map[int]*Start {
	starts := map[int]*Start{}
	threads := c.threads()
	for rank, p := range processes {
		host := where.hosts[rank]
		if host == 0 {
			continue
		}
		if starts[host] == nil {
			starts[host] = &Start{Environment: p.environment.travelling(), SharesMemory: c.SharedMemory}
		}
		starts[host].Processes = append(starts[host].Processes, StartProcess{Rank: rank, Name: p.name,
			Arguments: p.command[1:], Threads: threads[rank],
			Log: path.Join(LogFolder, run, filepath.Base(p.log))})
	}
	return starts
}

// travelling returns the variables that mean the same on every host. Ranks differ within a host.
func (e Environment) travelling() Environment {
	stays := []string{EnvRank, EnvData, EnvHosts, EnvAgent, EnvPreflight, EnvRestarts,
		EnvMayRestart, EnvLab,
		EnvLabFlags, EnvLabUser,
		envControl, envSegment}
	others := []string{envTorchWorld, EnvMasterAddr, EnvMasterPort, EnvMaxProcs, EnvNoColor, "GODEBUG",
		"GOGC", "GOMEMLIMIT", "GOTRACEBACK"}
	travelling := Environment{}
	for name, value := range e {
		isOurs := strings.HasPrefix(name, "LOCKSTEP_") && !strings.HasPrefix(name, EnvTrain) &&
			!slices.Contains(stays, name)
		if isOurs || slices.Contains(others, name) {
			travelling[name] = value
		}
	}
	return travelling
}
