// Command sidecar is Palimpsest: it owns an agent's conversation and says, before each model call, what the model should see.
package main

import (
	"context"
	"io"
	"os"
)

// version is stamped by the build (-ldflags "-X main.version=...").
var version = "dev"

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // what was asked for did not work
	exitUsage  = 2 // the command line, the environment or the configuration file is wrong
)

// run is the whole command, but for the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return newCommandLine(stdout, stderr).run(ctx, args)
}
