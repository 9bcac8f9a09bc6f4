package demo

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// The names under which the notes in a context tell a model to ask for what left it, and for parts of what is cited.
const (
	expandTool   = "expand_message"
	retrieveTool = "retrieve_content"
)

// tree is the folder that the agent explores. Nothing outside of it is read, and nothing is written.
type tree struct {
	files  fs.FS
	name   string // for people
	script []step
}

// openTree opens the folder that was asked for, else Go's own sources, else the working folder.
func openTree(ctx context.Context, folder string) *tree {
	if own := goroot(ctx); folder == "" && own != "" {
		return &tree{inside(own), "the Go toolchain's own sources and documents", readScript(goScript)}
	}
	t := &tree{files: inside(cmp.Or(folder, ".")), name: filepath.Base(folder)}
	t.script = t.plan()
	return t
}

// inside is a folder's files. A link that leads out of it cannot be followed.
func inside(folder string) fs.FS { return must(os.OpenRoot(folder)).FS() }

// goroot is where Go's sources lie, or empty.
func goroot(ctx context.Context) string {
	output, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	root := strings.TrimSpace(string(output))
	if _, missing := os.Stat(filepath.Join(root, "src", "net", "http", "transport.go")); err != nil || missing != nil {
		return ""
	}
	return root
}

// What a walk looks at: enough of any tree, and no file that is larger than a message may be.
const (
	mostFiles = 20_000
	mostBytes = 8 << 20
)

type file struct {
	name string
	size int64
}

// walk lists the regular files under a folder, or the one file, but not what version control and package managers keep. What cannot
// be read, or is gone since it was listed, is passed over.
func (t *tree) walk(under string) (files []file, err error) {
	err = fs.WalkDir(t.files, under, func(name string, entry fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil && name == under:
			return err
		case len(files) == mostFiles:
			return fs.SkipAll
		case err != nil, entry.IsDir() && (base == "node_modules" || base != "." && strings.HasPrefix(base, ".")):
			return fs.SkipDir
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && info.Size() > 0 && info.Size() <= mostBytes {
			files = append(files, file{name, info.Size()})
		}
		return nil
	})
	return files, err
}

// run really runs a tool. What it says is made valid UTF-8, because a message's text is.
func (t *tree) run(ctx context.Context, call string) (said string, err error) {
	switch tool, about := parse(call); tool {
	case "list":
		said, err = t.list(about)
	case "read":
		var content []byte
		content, err = fs.ReadFile(t.files, about)
		said = string(content)
	case "search":
		said, err = t.search(about)
	case "go_doc":
		said, err = goDoc(ctx, about)
	default:
		err = fmt.Errorf("no such tool: %s", tool)
	}
	return strings.ToValidUTF8(said, "\uFFFD"), err
}

func (t *tree) list(folder string) (said string, err error) {
	entries, err := fs.ReadDir(t.files, folder)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil { // else it is gone since it was listed
			said += fmt.Sprintf("%s %9d %s\n", info.Mode(), info.Size(), entry.Name())
		}
	}
	return said, err
}

// search finds a text, which stands in quotation marks, under a folder or in a file, as grep -rnF does.
func (t *tree) search(about string) (string, error) {
	pattern, under, _ := strings.Cut(strings.TrimPrefix(about, `"`), `" `)
	files, err := t.walk(under)
	var said strings.Builder
	for _, f := range files {
		content, err := fs.ReadFile(t.files, f.name)
		if err != nil || bytes.IndexByte(content, 0) >= 0 || !bytes.Contains(content, []byte(pattern)) {
			continue
		}
		for i, line := range strings.Split(string(content), "\n") {
			if strings.Contains(line, pattern) {
				fmt.Fprintf(&said, "%s:%d:%s\n", f.name, i+1, line)
			}
		}
	}
	return said.String(), err
}

func goDoc(ctx context.Context, symbol string) (string, error) {
	output, err := exec.CommandContext(ctx, "go", append([]string{"doc"}, strings.Fields(symbol)...)...).CombinedOutput()
	if err != nil {
		first, _, _ := strings.Cut(string(output), "\n")
		return "", fmt.Errorf("go doc %s: %w: %s", symbol, err, first)
	}
	return string(output), nil
}
