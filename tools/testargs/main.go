// Command testargs prints the arguments with which go test runs the tests that call some functions, themselves or through functions
// that they call, and no other test.
//
//	testargs internal/proptest.Check internal/testlane.Speed...
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
	if err := run(os.DirFS("."), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "testargs:", err)
		os.Exit(1)
	}
}

func run(module fs.FS, called []string, stdout io.Writer) error {
	c, err := read(module)
	if err != nil {
		return err
	}
	tests, folders := c.tests(called)
	if len(tests) == 0 {
		return fmt.Errorf("no test calls any of %q", called)
	}
	for i, folder := range folders {
		folders[i] = "./" + folder
	}
	_, err = fmt.Fprintf(stdout, "-run\n^(%s)$\n%s\n", strings.Join(tests, "|"), strings.Join(folders, "\n"))
	return err
}

// tests are the names of the tests that reach any of some functions, and the folders that they are in, in order. The tests of those
// functions, beside them, are none of them.
func (c calls) tests(called []string) (tests, folders []string) {
	reached, own := map[function]bool{}, map[string]bool{}
	for _, one := range called {
		folder, name, _ := strings.Cut(one, ".")
		own[folder] = true
		c.reach(function{folder, name}, reached)
	}
	for f := range reached {
		if !own[f.folder] && strings.HasPrefix(f.name, "Test") {
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
