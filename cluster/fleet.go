package cluster

// fleet is the running processes of a launch. It has posted one event with the exit of each when wait
// returns. Ranks whose processes another launcher has started are not in it.
type fleet struct {
	*localFleet              // of this host
	remote      *remoteFleet // of others; nil: there are none
}

// kill kills every process that still runs, with its children.
func (f fleet) kill() {
	if f.remote != nil {
		f.remote.kill()
	}
	f.localFleet.kill()
}

// killOne kills one process, if it still runs.
func (f fleet) killOne(rank int) {
	if f.isHere(rank) {
		f.localFleet.killOne(rank)
	} else {
		f.remote.killOne(rank)
	}
}

// quit ends one process, which writes its stacks to its output if it can.
func (f fleet) quit(rank int) {
	if f.isHere(rank) {
		f.localFleet.quit(rank)
	} else {
		f.remote.quit(rank)
	}
}

// wait returns when all have ended.
func (f fleet) wait() {
	f.localFleet.wait()
	if f.remote != nil {
		f.remote.wait()
	}
}
