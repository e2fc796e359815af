package compare

// Price is what an hour of a rented machine cost on a day.
type Price struct {
	Machine string
	GPU     string  // what the driver calls those of the machine; "": its processors are rented
	Devices int     // logical processors, or GPUs, that the machine has
	Hour    float64 // US dollars for the machine, not for a device
	Date    string  // when the price was valid or read, year and month
	Source  string  // where it is written
}

// Prices is the dated price table; reports use the first for processors. Prices change and differ by region;
// a figure made from them carries machine, date and source.
func Prices() []Price {
	const hyperscalers = "row of the machine in 109-gpu-pricing/hyperscalers.json of " +
		"github.com/datareceipts/data-receipts, retrieved there on 9 November 2026"
	return []Price{
		{"AWS EC2 c5.2xlarge, Linux on demand, US East (N. Virginia)", "", 8, 0.34, "2026-11",
			"example table of the EC2 Auto Scaling guide, docs.aws.amazon.com/autoscaling/ec2/userguide, " +
				"page \"Spot price per unit hour\""},
		{"AWS EC2 p4d.24xlarge, on demand, us-east-1", "NVIDIA A100-SXM4-40GB", 8, 21.957642, "2026-11",
			hyperscalers},
		{"AWS EC2 p4de.24xlarge, on demand, us-east-1", "NVIDIA A100-SXM4-80GB", 8, 27.44705, "2026-11",
			hyperscalers},
		{"AWS EC2 p5.48xlarge, on demand, us-east-1", "NVIDIA H100 80GB HBM3", 8, 55.04, "2026-11",
			hyperscalers},
	}
}

// PriceOf returns the price of a machine with GPUs, by the driver's names of them, if all are of one kind.
func PriceOf(gpus []string) (p Price, isKnown bool) {
	for _, p := range Prices() {
		if len(gpus) == 1 && gpus[0] != "" && p.GPU == gpus[0] {
			return p, true
		}
	}
	return Price{}, false
}

// Device returns dollars per hour of one core, or of one GPU with its part of the machine.
func (p Price) Device() float64 { return p.Hour / float64(p.Devices) }

// Cost returns what seconds on a number of devices cost at a price per hour of one:
// seconds / 3600 * devices * hour.
func Cost(seconds, devices, hour float64) float64 { return seconds / 3600 * devices * hour }

// DeviceMinutes returns the time that devices are taken, summed over them: seconds / 60 * devices.
func DeviceMinutes(seconds, devices float64) float64 { return seconds / 60 * devices }
