package job

import "lockstep/app/record"

// takenOf returns the share of core time that others took on the machine of rank 0; nil if unknown. Each
// rank of one process reports the time of the whole process. All hosts of a lab are that machine.
func takenOf(ranks []record.RankStat, servers []record.ServerStat, isOneProcess, isLab bool) *record.Taken {
	t := ranks[0].Cores
	if t.Own == 0 {
		return nil
	}
	isHere := func(name string) bool { return isLab || name == ranks[0].Host }
	own := 0.0
	for _, r := range ranks {
		if isOneProcess {
			own = max(own, r.Cores.Own)
		} else if isHere(r.Host) {
			own += r.Cores.Own
		}
	}
	for _, s := range servers {
		if !isOneProcess && isHere(s.Host) {
			own += s.Cores.Own
		}
	}
	return t.TakenBut(own)
}
