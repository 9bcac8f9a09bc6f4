package main

import (
	"fmt"
	"runtime"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// versionCommand is `sidecar version`.
type versionCommand struct{}

// Run prints what a bug report should say.
func (versionCommand) Run(line *commandLine) error {
	_, err := fmt.Fprintf(line.stdout, "palimpsest %s\ngo         %s %s/%s\napi        %s\nrenderer   %d\n",
		version, runtime.Version(), runtime.GOOS, runtime.GOARCH, pb.File_palimpsest_v1_error_proto.Package(), provider.RendererVersion)
	return err
}
