package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// call is what the agent asks of a tool. The fields that a tool does not know are empty.
type call struct {
	Tool    string `json:"-"`
	Path    string `json:"path,omitempty"`
	Pattern string `json:"pattern,omitempty"`
	Symbol  string `json:"symbol,omitempty"`
	From    int    `json:"from,omitempty"`
	Lines   int    `json:"lines,omitempty"`
	Index   *int32 `json:"id,string,omitempty"`
	Of      string `json:"-"` // what Index stands for, found when the call is made
}

// The names under which the notes in a context tell a model to ask for what left it, and for parts of what is cited.
const (
	expandTool   = "expand_message"
	retrieveTool = "retrieve_content"
)

func (c call) arguments() string {
	encoded, _ := json.Marshal(c) // strings and numbers always encode
	return string(encoded)
}

// String is the call as a person would write it.
func (c call) String() string {
	words := c.Tool
	if c.Index != nil {
		words += fmt.Sprintf(" #%d (%s)", *c.Index, c.Of)
	}
	if c.Pattern != "" {
		words += ` "` + c.Pattern + `"`
	}
	if at := c.Symbol + c.Path; at != "" {
		words += " " + at
	}
	if c.Lines > 0 {
		words += fmt.Sprintf(":%d-%d", c.From, c.From+c.Lines-1)
	}
	return words
}

// tree is the folder that the agent explores. Nothing outside of it is read, and nothing is written.
type tree struct {
	root   *os.Root
	files  fs.FS
	name   string // for people
	script []step
}

func (t *tree) close() { _ = t.root.Close() }

// openTree opens the folder that was asked for, else Go's own sources, else the working folder.
func openTree(ctx context.Context, folder string) (t *tree, err error) {
	own := ""
	if folder == "" {
		own = goroot(ctx)
	}
	if t, err = openFolder(cmp.Or(own, folder, ".")); err != nil {
		return nil, err
	}
	if own != "" {
		t.name = "the Go toolchain's own sources and documents"
		t.script, err = readScript(goScript)
	} else {
		t.script, err = t.plan()
	}
	if err != nil {
		t.close()
	}
	return t, err
}

func openFolder(folder string) (*tree, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	return &tree{root: root, files: root.FS(), name: filepath.Base(folder)}, nil
}

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

// run really runs the tool. What it says is made valid UTF-8, because a message's text is.
func (t *tree) run(ctx context.Context, c call) (said string, err error) {
	switch c.Tool {
	case "list":
		said, err = t.list(c.Path)
	case "read":
		said, err = t.read(c)
	case "search":
		said, err = t.search(c.Pattern, c.Path)
	case "go_doc":
		said, err = goDoc(ctx, c.Symbol)
	default:
		err = fmt.Errorf("no such tool: %s", c.Tool)
	}
	return strings.ToValidUTF8(said, "\uFFFD"), err
}

func (t *tree) list(folder string) (string, error) {
	entries, err := fs.ReadDir(t.files, folder)
	var b strings.Builder
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil { // else it is gone since it was listed
			fmt.Fprintf(&b, "%s %9d %s\n", info.Mode(), info.Size(), entry.Name())
		}
	}
	return b.String(), err
}

func (t *tree) read(c call) (string, error) {
	content, err := fs.ReadFile(t.files, c.Path)
	if err != nil || c.Lines == 0 {
		return string(content), err
	}
	lines := strings.SplitAfter(string(content), "\n")
	first := min(max(c.From-1, 0), len(lines))
	return strings.Join(lines[first:min(first+c.Lines, len(lines))], ""), nil
}

// search finds a literal text, as grep -rnF does.
func (t *tree) search(pattern, under string) (string, error) {
	files, err := t.walk(under)
	var b strings.Builder
	for _, f := range files {
		content, err := fs.ReadFile(t.files, f.name)
		if err != nil || bytes.IndexByte(content, 0) >= 0 || !bytes.Contains(content, []byte(pattern)) {
			continue
		}
		for i, line := range strings.Split(string(content), "\n") {
			if strings.Contains(line, pattern) {
				fmt.Fprintf(&b, "%s:%d:%s\n", f.name, i+1, line)
			}
		}
	}
	return b.String(), err
}

func goDoc(ctx context.Context, symbol string) (string, error) {
	output, err := exec.CommandContext(ctx, "go", append([]string{"doc"}, strings.Fields(symbol)...)...).CombinedOutput()
	if err != nil {
		first, _, _ := strings.Cut(string(output), "\n")
		return "", fmt.Errorf("go doc %s: %w: %s", symbol, err, first)
	}
	return string(output), nil
}
