package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// passDir is what the passes of a plan share; passes are the folders beside it that hold them.
const passDir = planDir + "/pass"

var passes = []string{"compact", "deduplicate", "erase", "expire", "fit", "legal", "pruning", "recall", "retain", "usage", "window"}

const (
	maxPlanLines = 300
	// maxMethods is how many methods a type of the engine has at most, with those of what it embeds.
	maxMethods = 30
)

func isPass(dir string) bool {
	return path.Dir(dir) == planDir && slices.Contains(passes, path.Base(dir))
}

// checkPassesApart: no pass knows another, or the driver.
func checkPassesApart(t *tree) (found []string) {
	for _, f := range t.code() {
		if !isPass(f.dir) {
			continue
		}
		for _, spec := range f.syntax.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			imported := strings.TrimPrefix(name, module)
			if err == nil && imported != f.dir && (imported == planDir || isPass(imported)) {
				found = append(found, fmt.Sprintf("%s: a pass imports %s: what two passes need is a room of its own", f.path, imported))
			}
		}
	}
	return found
}

// checkDraftWriter: the driver's take alone makes the next draft, and nobody gets a draft to write in.
func checkDraftWriter(t *tree) (found []string) {
	writers := 0
	t.functionsThatKnowTheDraft(func(f *file, local string, fn *ast.FuncDecl) {
		for _, field := range fieldsOf(fn) {
			if star, ok := field.Type.(*ast.StarExpr); ok && names(star.X, local, "Draft") {
				found = append(found, fmt.Sprintf("%s:%d: %s can write the draft that it is given", f.path, t.line(fn), fn.Name.Name))
			}
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if _, pointer := call.Args[0].(*ast.UnaryExpr); !ok || !pointer || selector.Sel.Name != "With" {
				return true
			}
			if writers++; f.dir != planDir || writers > 1 {
				found = append(found, fmt.Sprintf("%s:%d: %s writes the draft: the driver's take alone does", f.path, t.line(n), fn.Name.Name))
			}
			return true
		})
	})
	return found
}

// functionsThatKnowTheDraft visits the functions of all files that know the draft. local is what these call its package: its folder, within the package itself.
func (t *tree) functionsThatKnowTheDraft(visit func(f *file, local string, fn *ast.FuncDecl)) {
	for _, f := range t.code() {
		local := f.localName(module + passDir)
		if f.dir == passDir {
			local = passDir
		}
		for _, decl := range f.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && local != "" {
				visit(f, local, fn)
			}
		}
	}
}

// fieldsOf are the receiver and the parameters of a function.
func fieldsOf(fn *ast.FuncDecl) []*ast.Field {
	fields := slices.Clone(fn.Type.Params.List)
	if fn.Recv != nil {
		fields = append(fields, fn.Recv.List...)
	}
	return fields
}

// names says whether an expression names a type of a package, which local is the name of; within the package itself it is the package's folder.
func names(x ast.Expr, local, name string) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return local == passDir && x.Name == name
	case *ast.SelectorExpr:
		of, ok := x.X.(*ast.Ident)
		return ok && of.Name == local && x.Sel.Name == name
	default:
		return false
	}
}

// checkDraftMethods counts the methods of the draft. A function that takes a draft and is no pass counts as one.
func checkDraftMethods(t *tree) (found []string) {
	var all []string
	t.functionsThatKnowTheDraft(func(f *file, local string, fn *ast.FuncDecl) {
		isThePass := isPass(f.dir) && fn.Recv == nil && fn.Name.IsExported()
		if !isThePass && slices.ContainsFunc(fieldsOf(fn), func(field *ast.Field) bool { return names(field.Type, local, "Draft") }) {
			all = append(all, f.path+": "+fn.Name.Name)
		}
	})
	if len(all) > maxMethods {
		found = append(found, fmt.Sprintf("the draft has %d methods, at most %d: %s", len(all), maxMethods, strings.Join(all, ", ")))
	}
	return found
}

func checkPlanFileLength(t *tree) (found []string) {
	for _, f := range t.code() {
		if n := bytes.Count(f.source, []byte("\n")); n > maxPlanLines && (f.dir == planDir || strings.HasPrefix(f.dir, planDir+"/")) {
			found = append(found, fmt.Sprintf("%s: %d lines, at most %d in a plan", f.path, n, maxPlanLines))
		}
	}
	return found
}

// structure is a type with its methods and with what it embeds.
type structure struct {
	methods int
	embeds  []string
}

// checkMethods: no type of the engine but the facade has more methods than a reader can keep in mind, whether its own or embedded.
func checkMethods(t *tree) (found []string) {
	types := map[string]*structure{}
	at := func(name string) *structure {
		if types[name] == nil {
			types[name] = &structure{}
		}
		return types[name]
	}
	for _, f := range t.code() {
		if f.dir != "pkg/engine" && !strings.HasPrefix(f.dir, "pkg/engine/") {
			continue
		}
		for _, decl := range f.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv != nil {
				at(f.typeName(fn.Recv.List[0].Type)).methods++
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					if len(field.Names) == 0 {
						own := at(f.dir + "." + spec.Name.Name)
						own.embeds = append(own.embeds, f.typeName(field.Type))
					}
				}
			}
			return true
		})
	}
	var count func(name string) int
	count = func(name string) int {
		s, n := types[name], 0
		if s == nil {
			return 0
		}
		for _, e := range s.embeds {
			n += count(e)
		}
		return n + s.methods
	}
	for name := range types {
		if n := count(name); n > maxMethods && name != "pkg/engine.Engine" {
			found = append(found, fmt.Sprintf("%s has %d methods, at most %d", name, n, maxMethods))
		}
	}
	slices.Sort(found)
	return found
}

// typeName is a type as its folder and its name.
func (f *file) typeName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return f.typeName(x.X)
	case *ast.IndexExpr:
		return f.typeName(x.X)
	case *ast.Ident:
		return f.dir + "." + x.Name
	case *ast.SelectorExpr:
		of, _ := x.X.(*ast.Ident)
		for _, spec := range f.syntax.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err == nil && of != nil && (path.Base(name) == of.Name || spec.Name != nil && spec.Name.Name == of.Name) {
				return strings.TrimPrefix(name, module) + "." + x.Sel.Name
			}
		}
	}
	return ""
}
