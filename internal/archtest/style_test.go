package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	maxFileLines     = 500
	maxFunctionLines = 80
)

func checkFileLength(t *tree) (found []string) {
	for _, f := range t.code() {
		if n := bytes.Count(f.source, []byte("\n")); n > maxFileLines {
			found = append(found, fmt.Sprintf("%s: %d lines, at most %d", f.path, n, maxFileLines))
		}
	}
	return found
}

func checkFunctionLength(t *tree) (found []string) {
	for _, f := range t.code() {
		for _, decl := range f.syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := t.lines(fn); n > maxFunctionLines {
				found = append(found, fmt.Sprintf("%s:%d: %s has %d lines, at most %d", f.path, t.line(fn), fn.Name.Name, n, maxFunctionLines))
			}
		}
	}
	return found
}

func checkFormatted(t *tree) (found []string) {
	for _, f := range t.files {
		formatted, err := format.Source(f.source)
		if err != nil || !bytes.Equal(formatted, f.source) {
			found = append(found, f.path+": not as gofmt would have it (make fmt)")
		}
	}
	return found
}

func checkNoInit(t *tree) (found []string) {
	for _, f := range t.code() {
		for _, decl := range f.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				found = append(found, fmt.Sprintf("%s:%d: init: construct explicitly instead", f.path, t.line(fn)))
			}
		}
	}
	return found
}

func checkSkipReasons(t *tree) (found []string) {
	for _, f := range t.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			silent := selector.Sel.Name == "SkipNow" || (selector.Sel.Name == "Skip" && !saysSomething(call.Args))
			if f.test && silent {
				found = append(found, fmt.Sprintf("%s:%d: %s without a reason", f.path, t.line(n), selector.Sel.Name))
			}
			return true
		})
	}
	return found
}

func saysSomething(args []ast.Expr) bool {
	if len(args) == 0 {
		return false
	}
	first, ok := args[0].(*ast.BasicLit)
	return !ok || len(first.Value) > len(`""`)
}

// Folders that exist on somebody's machine and not in the repository. In
// prose and code alike a path starts after something that is no part of one.
var machinePath = regexp.MustCompile(`(^|[^a-zA-Z0-9_./-])/(work|root|Users)/[a-zA-Z0-9_.]`)

func checkMachinePaths(t *tree) (found []string) {
	for _, text := range t.texts {
		number := 0
		for line := range strings.Lines(text.content) {
			number++
			if machinePath.MatchString(line) {
				found = append(found, fmt.Sprintf("%s:%d: a path of one machine: %s", text.path, number, strings.TrimSpace(line)))
			}
		}
	}
	return found
}

func checkDocs(t *tree) (found []string) {
	documented := map[string]bool{}
	for _, f := range t.code() {
		if !within(f.dir, "pkg") {
			continue
		}
		documented[f.dir] = documented[f.dir] || f.syntax.Doc != nil
		for _, decl := range f.syntax.Decls {
			for _, bare := range undocumented(decl) {
				found = append(found, fmt.Sprintf("%s:%d: exported %s has no comment", f.path, t.line(bare), bare.Name))
			}
		}
	}
	for dir, ok := range documented {
		if !ok {
			found = append(found, dir+": the package has no comment")
		}
	}
	slices.Sort(found)
	return found
}

// undocumented returns the exported names of a declaration without a comment.
// One comment may stand above a group of constants or variables.
func undocumented(decl ast.Decl) (bare []*ast.Ident) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Doc == nil && decl.Name.IsExported() && exportedReceiver(decl) {
			bare = append(bare, decl.Name)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() && spec.Doc == nil && spec.Comment == nil && (decl.Doc == nil || len(decl.Specs) > 1) {
					bare = append(bare, spec.Name)
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					if name.IsExported() && spec.Doc == nil && spec.Comment == nil && decl.Doc == nil {
						bare = append(bare, name)
					}
				}
			}
		}
	}
	return bare
}

func exportedReceiver(fn *ast.FuncDecl) bool {
	if fn.Recv == nil {
		return true
	}
	exported := false
	ast.Inspect(fn.Recv.List[0].Type, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			exported = name.IsExported()
			return false
		}
		return true
	})
	return exported
}

// suites are what holds back ends to a contract: each folder under one but those that are none must call it.
var suites = []struct {
	under, name string
	not         []string
}{
	{"pkg/store", "storetest", []string{"record", "storetest", "move"}},
	{"pkg/memory", "memorytest", []string{"memorytest"}},
}

func checkBackEndsConform(t *tree) (found []string) {
	for _, suite := range suites {
		conforms := map[string]bool{}
		for _, f := range t.files {
			if path.Dir(f.dir) != suite.under || slices.Contains(suite.not, path.Base(f.dir)) {
				continue
			}
			conforms[f.dir] = conforms[f.dir] || (f.test && callsRunOf(f, suite.name))
		}
		for dir, ok := range conforms {
			if !ok {
				found = append(found, dir+": a back end must pass the conformance suite: no test calls "+suite.name+".Run")
			}
		}
	}
	slices.Sort(found)
	return found
}

func callsRunOf(f *file, suite string) bool {
	calls := false
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || selector.Sel.Name != "Run" && selector.Sel.Name != "RunCases" {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); ok && x.Name == suite {
			calls = true
		}
		return true
	})
	return calls
}

// checkNothingLeftOpen looks for notes to oneself in comments: what is open is
// an issue, not a comment.
func checkNothingLeftOpen(t *tree) (found []string) {
	for _, f := range t.files {
		if f.generated {
			continue
		}
		for _, group := range f.syntax.Comments {
			for _, comment := range group.List {
				if leftOpen.MatchString(comment.Text) {
					found = append(found, position(t, f, comment.Pos())+": "+comment.Text)
				}
			}
		}
	}
	return found
}

var leftOpen = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

func position(t *tree, f *file, pos token.Pos) string {
	return fmt.Sprintf("%s:%d", f.path, t.fset.Position(pos).Line)
}
