package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

const module = "github.com/palimpsest-context/palimpsest/"

// function is one by its folder and name. Methods have a dot before it; those of one name in a folder count as one.
type function struct{ folder, name string }

// calls are who names a function, by the function: whoever names one may call it.
type calls map[function][]function

func read(files fs.FS) (calls, error) {
	c := calls{}
	return c, fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		source, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		c.add(path.Dir(name), syntax)
		return nil
	})
}

func (c calls) add(folder string, file *ast.File) {
	imported := importsOf(file)
	for _, decl := range file.Decls {
		caller, ok := decl.(*ast.FuncDecl)
		if !ok || caller.Body == nil {
			continue
		}
		by := function{folder, caller.Name.Name}
		if caller.Recv != nil {
			by.name = "." + by.name
		}
		ast.Walk(visitor(func(visit ast.Visitor, n ast.Node) ast.Visitor {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if ok && imported[x.Name] != "" {
					c.note(function{imported[x.Name], n.Sel.Name}, by)
				} else {
					c.note(function{folder, "." + n.Sel.Name}, by)
					ast.Walk(visit, n.X)
				}
				return nil
			case *ast.Ident:
				c.note(function{folder, n.Name}, by)
			}
			return visit
		}), caller.Body)
	}
}

// visitor is a function that walks a tree, and is told itself.
type visitor func(ast.Visitor, ast.Node) ast.Visitor

// Visit implements ast.Visitor.
func (v visitor) Visit(n ast.Node) ast.Visitor { return v(v, n) }

func (c calls) note(f, by function) {
	if f != by {
		c[f] = append(c[f], by)
	}
}

// importsOf are the folders of this module that a file imports, by the names they have in it.
func importsOf(file *ast.File) map[string]string {
	imported := map[string]string{}
	for _, spec := range file.Imports {
		name, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
		folder, ok := strings.CutPrefix(name, module)
		switch {
		case !ok:
		case spec.Name != nil:
			imported[spec.Name.Name] = folder
		default:
			imported[path.Base(folder)] = folder
		}
	}
	return imported
}
