package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// shares is how many mutations of each kind are drawn: a hundred. Drawn evenly, half of them would be constants and statements.
var shares = []struct {
	kind string
	n    int
}{
	{"condition", 18}, {"statement", 18}, {"boundary", 12}, {"equality", 8}, {"logic", 10}, {"branch", 10}, {"constant", 8},
	{"error", 8}, {"arithmetic", 6}, {"jump", 2},
}

// draw draws mutations that compile and can be found again, at most one of a function.
func draw(c *code, seed uint64, compiles func(*site) bool) ([]mutation, error) {
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(c.sites))
	taken := map[string]bool{}
	var drawn []mutation
	for _, share := range shares {
		left := share.n
		for _, i := range order {
			s := &c.sites[i]
			if left == 0 || s.Kind != share.kind || taken[s.Function] {
				continue
			}
			if found := locate([]mutation{s.mutation}, c.sites)[0]; found.site != s || !compiles(s) {
				continue
			}
			taken[s.Function] = true
			m := s.mutation
			m.Number = len(drawn) + 1
			drawn = append(drawn, m)
			left--
		}
		if left > 0 {
			return nil, fmt.Errorf("%d mutations of the kind %q are missing", left, share.kind)
		}
	}
	return drawn, nil
}

// checker checks the types of mutated packages, without compiling them.
type checker struct {
	code    *code
	fset    *token.FileSet
	imports types.Importer
	parsed  map[string]*ast.File
}

func newChecker(ctx context.Context, c *code, folder string) (*checker, error) {
	list := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./...")
	list.Dir = folder
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[name] = file
	}
	k := &checker{code: c, fset: token.NewFileSet(), parsed: map[string]*ast.File{}}
	k.imports = importer.ForCompiler(k.fset, "gc", func(name string) (io.ReadCloser, error) { return os.Open(exports[name]) })
	for name, source := range c.sources {
		if k.parsed[name], err = parser.ParseFile(k.fset, name, source, 0); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// compiles says whether the package of a site does with the mutation in it.
func (k *checker) compiles(s *site) bool {
	mutated, err := parser.ParseFile(k.fset, s.file, s.apply(k.code.sources[s.file]), 0)
	if err != nil {
		return false
	}
	files := []*ast.File{mutated}
	for name, file := range k.parsed {
		if name != s.file && filepath.Dir(name) == filepath.Dir(s.file) {
			files = append(files, file)
		}
	}
	_, err = (&types.Config{Importer: k.imports}).Check(mutated.Name.Name, k.fset, files, nil)
	return err == nil
}

// apply is a file with the mutation in it.
func (s *site) apply(source []byte) []byte {
	return []byte(string(source[:s.start]) + s.New + string(source[s.end:]))
}
