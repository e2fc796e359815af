package analysis

// Price is what an hour of a rented machine cost on a day.
type Price struct {
	Machine string
	Cores   int     // logical processors that the machine has
	Hour    float64 // US dollars for the machine, not for a core
	Date    string  // when the price was valid or read, year and month
	Source  string  // where it is written
}

// Prices is the dated price table, the one that reports use first. Prices change and differ by region; a
// figure made from them carries machine, date and source.
func Prices() []Price {
	return []Price{
		{"AWS EC2 c5.2xlarge, Linux on demand, US East (N. Virginia)", 8, 0.34, "2026-11",
			"example table of the EC2 Auto Scaling guide, docs.aws.amazon.com/autoscaling/ec2/userguide, " +
				"page \"Spot price per unit hour\""},
	}
}

// Core returns dollars per hour of one core.
func (p Price) Core() float64 { return p.Hour / float64(p.Cores) }

// Cost returns what seconds on a number of devices cost at a price per hour of one:
// seconds / 3600 * devices * hour.
func Cost(seconds, devices, hour float64) float64 { return seconds / 3600 * devices * hour }

// DeviceMinutes returns the time that devices are taken, summed over them: seconds / 60 * devices.
func DeviceMinutes(seconds, devices float64) float64 { return seconds / 60 * devices }
