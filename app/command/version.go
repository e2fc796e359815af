package command

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

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
	var isJSON bool
	c := &cobra.Command{
		Use:     "version [flags]",
		Short:   "Print the version and the kernel paths of this processor",
		Example: "  lockstep version --json",
		Args:    noArguments,

		Annotations: map[string]string{anywhere: "true"},
		RunE: func(*cobra.Command, []string) error {
			v := describeVersion()
			if isJSON {
				return writeJSON(a, v)
			}
			_, err := fmt.Fprintf(a.stdout, "%s\n%s %s\nkernels: %s\n",
				strings.TrimSpace("lockstep "+v.Version+" "+v.Revision), v.Go, v.Platform,
				strings.Join(v.ISA, ", "))
			return err
		},
	}
	addJSON(c, &isJSON)
	return c
}

func describeVersion() version {
	v := version{Version: "(devel)", Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Version = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	for _, isa := range compute.Supported() {
		v.ISA = append(v.ISA, isa.String())
	}
	return v
}
