package ps_test

import (
	"fmt"

	"lockstep/ps"
)

// Two workers, of which the second one is slow: the first goes on, until its next update would make
// the gradient of the second too stale.
func ExampleLedger() {
	ledger, err := ps.NewLedger(ps.LedgerConfig{Workers: 2, PerEpoch: 10, To: 10, Staleness: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	decide := func() {
		for d, ok := ledger.Decide(); ok; d, ok = ledger.Decide() {
			switch d.Kind {
			case ps.Lend:
				fmt.Printf("worker %d computes batch %d from version %d\n", d.Worker, d.Batch, d.Version)
			case ps.Apply:
				fmt.Printf("batch %d is update %d, staleness %d\n", d.Batch, d.Update(), d.Staleness)
			}
		}
	}
	ledger.Take(0)
	ledger.Take(1)
	decide()
	for _, batch := range []int{0, 2, 3} {
		ledger.Commit(0, batch)
		ledger.Take(0)
		decide()
	}
	fmt.Println("batch 3 waits")
	ledger.Commit(1, 1)
	decide()
	// Output:
	// worker 0 computes batch 0 from version 0
	// worker 1 computes batch 1 from version 0
	// batch 0 is update 0, staleness 0
	// worker 0 computes batch 2 from version 1
	// batch 2 is update 1, staleness 0
	// worker 0 computes batch 3 from version 2
	// batch 3 waits
	// batch 1 is update 2, staleness 2
	// batch 3 is update 3, staleness 1
	// worker 0 computes batch 4 from version 4
}
