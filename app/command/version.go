package command

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"lockstep/app/doctor"
	"lockstep/compute"

	"github.com/spf13/cobra"
)

// version describes this binary and the kernel paths that it has on this processor.
type version struct {
	Version  string   `json:"version"`
	Revision string   `json:"revision"` // of the source; "" if built without version control
	Go       string   `json:"go"`
	Platform string   `json:"platform"`
	ISA      []string `json:"isa"` // kernel paths of this processor, the best last
}

func versionCommand(a *app) *cobra.Command {
	return a.answering(&cobra.Command{
		Use:     "version [flags]",
		Short:   "Print the version and the kernel paths of this processor",
		Example: "  lockstep version --json",
		Args:    noArguments,

		Annotations: map[string]string{anywhere: "true"},
	}, func(*cobra.Command, []string) (answer, error) {
		v := describeVersion()
		return answer{v, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s\n%s %s\nkernels: %s\n", strings.TrimSpace("lockstep "+v.Version+" "+
				v.Revision), v.Go, v.Platform, strings.Join(v.ISA, ", "))
			return err
		}}, nil
	})
}

func describeVersion() version {
	v := version{Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	v.Version, v.Revision = doctor.Version()
	for _, isa := range compute.Supported() {
		v.ISA = append(v.ISA, isa.String())
	}
	return v
}

// source names the source from which this program was built.
func (v version) source() string { return strings.TrimSpace(v.Version + " " + v.Revision) }
