//go:build cuda && linux && amd64

package gpu

import "embed"

// compiled holds the PTX, which generate makes.
//
//go:generate go run -tags cuda ./generate
//go:embed kernel/*.ptx
var compiled embed.FS
