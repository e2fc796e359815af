package host

import (
	"lockstep/app/record"

	"github.com/shirou/gopsutil/v4/cpu"
)

// CoresNow returns the times since the machine started; zero if the system does not tell.
func CoresNow() record.CoreTimes {
	list, err := cpu.Times(false)
	if err != nil || len(list) == 0 {
		return record.CoreTimes{}
	}
	t := list[0]
	busy := t.User + t.Nice + t.System + t.Irq + t.Softirq
	return record.CoreTimes{All: busy + t.Steal + t.Idle + t.Iowait, Busy: busy, Stolen: t.Steal,
		Own: processTime().Seconds()}
}

// CoresSince returns what has gone by since start, which CoresNow returned.
func CoresSince(start record.CoreTimes) record.CoreTimes {
	t := CoresNow()
	return record.CoreTimes{All: t.All - start.All, Busy: t.Busy - start.Busy,
		Stolen: t.Stolen - start.Stolen, Own: t.Own - start.Own}
}
