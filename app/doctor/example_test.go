package doctor_test

import (
	"fmt"
	"time"

	"lockstep/app/doctor"
)

func ExampleDescribe() {
	f := doctor.Describe()
	fmt.Println(f.UsableCores >= 1, f.Disks[0].Use, time.Since(time.Unix(0, f.ClockNanos)) < time.Minute)
	// Output: true job true
}
