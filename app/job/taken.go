package job

import "lockstep/app/host"

// takenOf returns what went elsewhere on the machine of rank 0; nil if that is not known. Workers of one
// process have the time of that process each.
func takenOf(ranks []RankStat, isOneProcess bool) *host.Taken {
	own := 0.0
	for _, r := range ranks {
		if isOneProcess {
			own = max(own, r.Cores.Own)
		} else if r.Host == ranks[0].Host {
			own += r.Cores.Own
		}
	}
	return ranks[0].Cores.Taken(own)
}
