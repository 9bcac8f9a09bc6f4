// Command properties prints the arguments with which go test runs every property of the module and nothing else: the tests that call
// proptest.Check, themselves or through functions that they call.
package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

func main() {
	if err := run(os.DirFS("."), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "properties:", err)
		os.Exit(1)
	}
}

func run(module fs.FS, stdout io.Writer) error {
	c, err := read(module)
	if err != nil {
		return err
	}
	tests, folders := c.properties()
	if len(tests) == 0 {
		return fmt.Errorf("no test calls %s.Check", proptest)
	}
	for i, folder := range folders {
		folders[i] = "./" + folder
	}
	_, err = fmt.Fprintf(stdout, "-run\n^(%s)$\n%s\n", strings.Join(tests, "|"), strings.Join(folders, "\n"))
	return err
}

// properties are the names of the tests that reach proptest, and the folders that they are in, in order.
func (c calls) properties() (tests, folders []string) {
	reached := map[function]bool{}
	for _, check := range []string{"Check", "CheckN"} {
		c.reach(function{proptest, check}, reached)
	}
	for f := range reached {
		if f.folder != proptest && strings.HasPrefix(f.name, "Test") {
			tests, folders = append(tests, f.name), append(folders, f.folder)
		}
	}
	slices.Sort(tests)
	slices.Sort(folders)
	return slices.Compact(tests), slices.Compact(folders)
}

// reach notes a function and all that call it.
func (c calls) reach(f function, reached map[function]bool) {
	if reached[f] {
		return
	}
	reached[f] = true
	for _, caller := range c[f] {
		c.reach(caller, reached)
	}
}
