package cluster

// fleet is the running processes of a launch, here or on other hosts. It has posted one event with the exit
// of each when wait returns. Ranks whose processes another launcher has started are not in it.
type fleet interface {
	kill()            // kills every process that still runs, with its children
	killOne(rank int) // kills one, if it still runs
	quit(rank int)    // ends one, which writes its stacks to its output if it can
	pid(rank int) int // its number on its host; 0 if unknown
	// state says what keeps a process from working that it cannot tell itself, such as "stopped by a signal";
	// "" if nothing is known. Of another host it is what the agent has said since the state was first asked.
	state(rank int) string
	isHere(rank int) bool
	wait() // until all have ended
}

// mixedFleet is processes of this host and of others.
type mixedFleet struct {
	local  *localFleet
	remote *remoteFleet
}

// of returns the fleet that has a rank.
func (f mixedFleet) of(rank int) fleet {
	if f.remote.isHere(rank) {
		return f.local
	}
	return f.remote
}

func (f mixedFleet) kill() {
	f.remote.kill()
	f.local.kill()
}

func (f mixedFleet) killOne(rank int) { f.of(rank).killOne(rank) }
func (f mixedFleet) quit(rank int)    { f.of(rank).quit(rank) }
func (f mixedFleet) pid(rank int) int { return f.of(rank).pid(rank) }
func (f mixedFleet) state(rank int) string {
	return f.of(rank).state(rank)
}
func (f mixedFleet) isHere(rank int) bool { return f.remote.isHere(rank) }

func (f mixedFleet) wait() {
	f.local.wait()
	f.remote.wait()
}
