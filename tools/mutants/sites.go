package main

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mutation is one small fault, recorded so that it is found again in code that has moved.
type mutation struct {
	Number   int    `json:"number"`
	Kind     string `json:"kind"`
	Function string `json:"function"` // where it was drawn: for who reads it, and between equals
	Old      string `json:"old"`
	New      string `json:"new"`
	Before   string `json:"before"` // the tokens of the function around it, divided by spaces
	After    string `json:"after"`
}

// around is how many tokens of its function are recorded on each side of a mutation: of most functions nearly all.
const around = 40

// site is a place in the code as it is now where a mutation can be made.
type site struct {
	mutation
	file       string
	start, end int // what is replaced, in bytes of the file
}

// code is what can be mutated: the shipped Go files of a folder and those below it.
type code struct {
	sources map[string][]byte
	sites   []site
}

func read(folder string) (*code, error) {
	c := &code{sources: map[string][]byte{}}
	files := os.DirFS(folder)
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "testdata":
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return c.add(filepath.Join(folder, name), source)
	})
	return c, err
}

func (c *code) add(name string, source []byte) error {
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	c.sources[name] = source
	for _, decl := range syntax.Decls {
		f := &finder{file: fset.File(syntax.Pos()), name: name, source: source, function: nameOf(decl), sites: &c.sites}
		f.tokens = tokensOf(source, f.offset(decl.Pos()), f.offset(decl.End()))
		if d, ok := decl.(*ast.FuncDecl); ok {
			f.results = d.Type.Results
		}
		if d, ok := decl.(*ast.GenDecl); !ok || d.Tok == token.CONST || d.Tok == token.VAR {
			ast.Walk(f, decl)
		}
	}
	return nil
}

// nameOf is a function with its receiver's type, or the first name that a declaration declares.
func nameOf(decl ast.Decl) string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || len(d.Recv.List) == 0 {
			return d.Name.Name
		}
		t := d.Recv.List[0].Type
		if star, ok := t.(*ast.StarExpr); ok {
			t = star.X
		}
		if ident, ok := t.(*ast.Ident); ok {
			return ident.Name + "." + d.Name.Name
		}
		return d.Name.Name
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				return v.Names[0].Name
			}
		}
	}
	return ""
}

type lexeme struct {
	offset int
	text   string
}

// tokensOf are the tokens of a declaration, without comments and semicolons, which no one writes.
func tokensOf(source []byte, start, end int) []lexeme {
	var all []lexeme
	file := token.NewFileSet().AddFile("", -1, end-start)
	var s scanner.Scanner
	s.Init(file, source[start:end], nil, 0)
	for {
		pos, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return all
		case tok == token.SEMICOLON:
		case text == "" || tok.IsOperator():
			all = append(all, lexeme{start + file.Offset(pos), tok.String()})
		default:
			all = append(all, lexeme{start + file.Offset(pos), text})
		}
	}
}

// finder finds the sites of one declaration.
type finder struct {
	file     *token.File
	name     string
	source   []byte
	function string
	tokens   []lexeme
	results  *ast.FieldList // of the innermost function
	sites    *[]site
}

func (f *finder) offset(p token.Pos) int { return f.file.Offset(p) }

func (f *finder) text(n ast.Node) string {
	return string(f.source[f.offset(n.Pos()):f.offset(n.End())])
}

// note adds a site: what lies between two places, and what comes in its stead.
func (f *finder) note(kind string, from, to token.Pos, instead string) {
	start, end := f.offset(from), f.offset(to)
	var before, after []string
	for _, t := range f.tokens {
		switch {
		case t.offset < start:
			before = append(before, t.text)
		case t.offset >= end:
			after = append(after, t.text)
		}
	}
	before, after = before[max(0, len(before)-around):], after[:min(around, len(after))]
	*f.sites = append(*f.sites, site{
		mutation: mutation{
			Kind: kind, Function: f.function, Old: string(f.source[start:end]), New: instead,
			Before: strings.Join(before, " "), After: strings.Join(after, " "),
		},
		file: f.name, start: start, end: end,
	})
}

func (f *finder) replace(kind string, n ast.Node, instead string) {
	f.note(kind, n.Pos(), n.End(), instead)
}

// Visit implements ast.Visitor.
func (f *finder) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.FuncLit:
		inner := *f
		inner.results = n.Type.Results
		return &inner
	case *ast.IfStmt:
		f.negate(n.Cond)
		if n.Init == nil && n.Else == nil {
			f.replace("branch", n, "")
		}
	case *ast.SwitchStmt:
		if n.Tag == nil {
			f.cases(n)
		}
	case *ast.BinaryExpr:
		if f.text(n) != failed {
			f.operator(n.Op, n.OpPos)
		}
	case *ast.AssignStmt:
		f.operator(n.Tok, n.TokPos)
		if n.Tok != token.DEFINE {
			f.replace("statement", n, "")
		}
	case *ast.ExprStmt, *ast.IncDecStmt:
		f.replace("statement", n, "")
	case *ast.ReturnStmt:
		f.returned(n)
	case *ast.BranchStmt:
		f.jump(n)
	case *ast.BasicLit:
		if value, err := strconv.ParseInt(n.Value, 0, 64); n.Kind == token.INT && err == nil {
			f.replace("constant", n, strconv.FormatInt(value+1, 10))
		}
	case *ast.Ident:
		if other, ok := words[n.Name]; ok {
			f.replace(other.kind, n, other.text)
		}
	}
	return f
}

// failed is the commonest condition. To turn it round fails whatever comes after it, and says nothing of the tests; to leave its branch out does.
const failed = "err != nil"

func (f *finder) negate(condition ast.Expr) {
	if text := f.text(condition); text != failed {
		f.replace("condition", condition, "!("+text+")")
	}
}

func (f *finder) cases(n *ast.SwitchStmt) {
	for _, s := range n.Body.List {
		if clause, ok := s.(*ast.CaseClause); ok && len(clause.List) == 1 {
			f.negate(clause.List[0])
		}
	}
}

type other struct{ kind, text string }

var operators = map[token.Token]other{
	token.LSS: {"boundary", "<="}, token.LEQ: {"boundary", "<"}, token.GTR: {"boundary", ">="}, token.GEQ: {"boundary", ">"},
	token.EQL: {"equality", "!="}, token.NEQ: {"equality", "=="}, token.LAND: {"logic", "||"}, token.LOR: {"logic", "&&"},
	token.ADD: {"arithmetic", "-"}, token.SUB: {"arithmetic", "+"}, token.MUL: {"arithmetic", "/"}, token.QUO: {"arithmetic", "*"},
	token.ADD_ASSIGN: {"arithmetic", "-="}, token.SUB_ASSIGN: {"arithmetic", "+="},
}

var words = map[string]other{
	"true": {"constant", "false"}, "false": {"constant", "true"}, "min": {"arithmetic", "max"}, "max": {"arithmetic", "min"},
}

func (f *finder) operator(op token.Token, at token.Pos) {
	if o, ok := operators[op]; ok {
		f.note(o.kind, at, at+token.Pos(len(op.String())), o.text)
	}
}

// returned finds an error that is returned, to be dropped.
func (f *finder) returned(n *ast.ReturnStmt) {
	if f.results == nil || len(n.Results) != f.results.NumFields() {
		return
	}
	last, ok := f.results.List[len(f.results.List)-1].Type.(*ast.Ident)
	value := n.Results[len(n.Results)-1]
	if ok && last.Name == "error" && f.text(value) != "nil" {
		f.replace("error", value, "nil")
	}
}

func (f *finder) jump(n *ast.BranchStmt) {
	jumps := []token.Token{token.CONTINUE, token.BREAK}
	if i := slices.Index(jumps, n.Tok); i >= 0 && n.Label == nil {
		f.replace("jump", n, jumps[1-i].String())
	}
}
