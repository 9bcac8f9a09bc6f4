package main

import (
	_ "embed"
	"fmt"
	"io"
	"runtime"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/command"
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// versionCommand is `sidecar version`.
type versionCommand struct {
	Licenses bool `help:"Print the licenses of all that is linked in instead."`
}

// thirdPartyLicenses are written by tools/licenses.
//
//go:embed THIRD_PARTY_LICENSES
var thirdPartyLicenses string

// Run prints what a bug report should say.
func (c *versionCommand) Run(out *command.Output) error {
	if c.Licenses {
		_, err := io.WriteString(out.Stdout, thirdPartyLicenses)
		return err
	}
	_, err := fmt.Fprintf(out.Stdout, "palimpsest %s\ngo         %s %s/%s\napi        %s\nrenderer   %d\n",
		version, runtime.Version(), runtime.GOOS, runtime.GOARCH, pb.File_palimpsest_v1_error_proto.Package(), provider.RendererVersion)
	return err
}
