package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/palimpsest-context/palimpsest/"

// tree is what the rules look at: the parsed Go files of the module and the
// text of every other file that a person wrote.
type tree struct {
	fset  *token.FileSet
	files []*file
	texts []text
}

type file struct {
	path      string // slash-separated, from the repository's root
	dir       string
	source    []byte
	syntax    *ast.File
	test      bool
	generated bool
}

type text struct {
	path    string
	content string
}

// Not ours to judge, or not in the repository at all. A testdata folder holds
// other people's words.
var skippedDirs = []string{".git", "bin", "node_modules", ".venv", "venv", "testdata", "vendor", "__pycache__"}

var textEndings = []string{
	".md", ".proto", ".yaml", ".yml", ".sh", ".py", ".ts", ".js", ".mjs", ".json", ".toml", ".txt", ".mod",
	"Makefile", "Dockerfile", ".gitignore", ".gitattributes", ".ci/run",
}

func load(root fs.FS) (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(skippedDirs, entry.Name()):
			return fs.SkipDir
		case entry.Type().IsRegular():
			return t.add(root, name)
		}
		return nil
	})
	return t, err
}

func (t *tree) add(root fs.FS, name string) error {
	isGo := strings.HasSuffix(name, ".go")
	isText := slices.ContainsFunc(textEndings, func(end string) bool { return strings.HasSuffix(name, end) })
	if !isGo && !isText {
		return nil
	}
	content, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	t.texts = append(t.texts, text{name, string(content)})
	if !isGo {
		return nil
	}
	syntax, err := parser.ParseFile(t.fset, name, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parsing: %w", err)
	}
	t.files = append(t.files, &file{
		path:      name,
		dir:       path.Dir(name),
		source:    content,
		syntax:    syntax,
		test:      strings.HasSuffix(name, "_test.go"),
		generated: ast.IsGenerated(syntax),
	})
	return nil
}

// code yields the files that people wrote and that ship.
func (t *tree) code() []*file {
	return slices.DeleteFunc(slices.Clone(t.files), func(f *file) bool { return f.test || f.generated })
}

// imports yields the paths a file imports; those of this module without its
// prefix, as "./pkg/store".
func (f *file) imports() []string {
	var all []string
	for _, spec := range f.syntax.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has checked it
		}
		if rest, ok := strings.CutPrefix(name, module); ok {
			name = "./" + rest
		}
		all = append(all, name)
	}
	return all
}

// within says whether name is dir or lies under it.
func within(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, dir+"/")
}

func withinAny(name string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return within(name, dir) })
}

func (t *tree) line(node ast.Node) int { return t.fset.Position(node.Pos()).Line }

func (t *tree) lines(node ast.Node) int {
	return t.fset.Position(node.End()).Line - t.line(node) + 1
}
