// Command licenses writes the licenses of all that is linked into the sidecar, and of what its image holds beside it, to standard
// output. It reads the modules that the build reads, and nothing else. It fails if a module has no license, or one that it does not
// know: whoever adds the module must look.
package main

import (
	"fmt"
	"io"
	"os"
)

// roots are what ships: the program, and what the image holds beside it.
var roots = []root{
	{dir: ".", pattern: "./cmd/sidecar"},
	{dir: "tools/image", pattern: "golang.org/x/crypto/x509roots/fallback/bundle"},
}

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	var all []module
	for _, r := range roots {
		linked, err := r.modules()
		if err != nil {
			return err
		}
		all = append(all, linked...)
	}
	modules, err := merge(all)
	if err != nil {
		return err
	}
	return write(out, modules)
}
