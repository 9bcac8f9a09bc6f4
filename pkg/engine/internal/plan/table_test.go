package plan_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of passes into docs/architecture.md")

// page holds the table of passes, between these lines.
const (
	page       = "../../../../docs/architecture.md"
	tableBegin = "<!-- passes: printed by go test ./pkg/engine/internal/plan -run Table -update -->\n"
	tableEnd   = "<!-- end of passes -->\n"
)

// TestPlan_Table_IsWhatTheDriverRuns: the page lists the passes in the order in which the driver runs them, with what each is given and gives
// besides the draft, as their signatures and comments say.
func TestPlan_Table_IsWhatTheDriverRuns(t *testing.T) {
	t.Parallel()
	want := tableOf(t)
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(raw), tableBegin)
	got, after, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		t.Fatal("the page has no place for the table")
	}
	if *update {
		err = os.WriteFile(page, []byte(before+tableBegin+want+tableEnd+after), 0o600)
	} else if got != want {
		t.Errorf("the table is not the driver's (-update writes it):\n%s", want)
	}
	if err != nil {
		t.Error(err)
	}
}

func tableOf(t *testing.T) string {
	t.Helper()
	var table strings.Builder
	table.WriteString("| pass | function | is given, besides draft and request | gives, besides the draft | what it does |\n|---|---|---|---|---|\n")
	driver, err := parser.ParseFile(token.NewFileSet(), "plan.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	passes := 0
	ast.Inspect(driver, func(n ast.Node) bool {
		step, ok := n.(*ast.CompositeLit)
		if !ok || len(step.Elts) != 2 {
			return true
		}
		name, ok := step.Elts[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		call, of := passCall(step.Elts[1])
		dir, ok := of.X.(*ast.Ident)
		if !ok {
			t.Fatalf("step %s calls no function of a pass", name.Value)
		}
		fn, gives := declared(t, dir.Name, of.Sel.Name)
		words, _ := strconv.Unquote(name.Value)
		fmt.Fprintf(&table, "| %s | `%s.%s` | %s | %s | %s |\n", words, dir.Name, of.Sel, strings.Join(besides(call), ", "), gives, firstSentence(fn.Doc.Text(), fn.Name.Name))
		passes++
		return false
	})
	if passes < 10 {
		t.Fatalf("the driver runs %d passes", passes)
	}
	return table.String()
}

// passCall is the call of a pass within a step: it is given the draft, or the composition of it, last of all that a step calls.
func passCall(step ast.Expr) (call *ast.CallExpr, of *ast.SelectorExpr) {
	ast.Inspect(step, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if s, ok := c.Fun.(*ast.SelectorExpr); ok && len(c.Args) > 0 && s.Sel.Name != "take" {
			call, of = c, s
		}
		return true
	})
	return call, of
}

// besides are the arguments of a pass but for what every pass is given.
func besides(call *ast.CallExpr) (out []string) {
	for _, arg := range call.Args {
		s, ok := arg.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		path := s.Sel.Name
		if inner, ok := s.X.(*ast.SelectorExpr); ok {
			path = inner.Sel.Name + "." + path
		}
		if path != "Given" && path != "Draft" && path != "Composed" {
			out = append(out, path)
		}
	}
	return out
}

// declared is a function of a pass, and what its result holds besides the draft.
func declared(t *testing.T, dir, name string) (found *ast.FuncDecl, gives string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	structs := map[string]*ast.StructType{}
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == name {
					found = n
				}
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok {
					structs[n.Name.Name] = s
				}
			}
			return true
		})
	}
	if found == nil {
		t.Fatalf("no %s in %s", name, dir)
	}
	var fields []string
	switch first := found.Type.Results.List[0].Type.(type) {
	case *ast.SelectorExpr:
	case *ast.Ident:
		if first.Name == "error" {
			return found, "a refusal"
		}
		for _, field := range structs[first.Name].Fields.List {
			for _, n := range field.Names {
				fields = append(fields, n.Name)
			}
		}
	}
	return found, strings.Join(fields, ", ")
}

// firstSentence is the first sentence of a comment, without the name that it begins with.
func firstSentence(doc, name string) string {
	text := strings.Join(strings.Fields(doc), " ")
	if i := strings.Index(text, ". "); i > 0 {
		text = text[:i]
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, name+" "), ".")
	return strings.ReplaceAll(text, "|", `\|`)
}
