package demo

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os/exec"
	"path"
	"slices"
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
	Count   int    `json:"count,omitempty"`
	Index   *int32 `json:"id,string,omitempty"`
	Of      string `json:"-"` // what Index stands for, found when the call is made
}

// The names under which the notes in a context tell a model to ask for what left it, and for parts of what is cited.
const (
	expandTool   = "expand_message"
	retrieveTool = "retrieve_content"
)

func list(path string) call { return call{Tool: "list", Path: path} }
func read(path string) call { return call{Tool: "read", Path: path} }
func excerpt(path string, from, lines int) call {
	return call{Tool: "read", Path: path, From: from, Lines: lines}
}
func search(pattern, path string) call    { return call{Tool: "search", Pattern: pattern, Path: path} }
func biggest(path string, count int) call { return call{Tool: "largest", Path: path, Count: count} }
func doc(symbol string) call              { return call{Tool: "go_doc", Symbol: symbol} }
func again(of call) call                  { return call{Tool: expandTool, Of: of.String()} }

func (c call) arguments() string {
	encoded, err := json.Marshal(c)
	if err != nil {
		return "{}" // strings and numbers always encode
	}
	return string(encoded)
}

// String is the call as a person would write it.
func (c call) String() string {
	words := c.Tool
	if c.Index != nil {
		words += fmt.Sprintf(" #%d (%s)", *c.Index, c.Of)
	}
	for _, word := range []string{quoted(c.Pattern), c.Symbol, c.Path} {
		if word != "" {
			words += " " + word
		}
	}
	if c.Lines > 0 {
		words += fmt.Sprintf(":%d-%d", c.From, c.From+c.Lines-1)
	}
	return words
}

func quoted(pattern string) string {
	if pattern == "" {
		return ""
	}
	return `"` + pattern + `"`
}

// run really runs the tool. What it says is made valid UTF-8, because a message's text is.
func (t *tree) run(ctx context.Context, c call) (string, error) {
	var said string
	var err error
	switch c.Tool {
	case "list":
		said, err = t.list(c.Path)
	case "read":
		said, err = t.read(c)
	case "search":
		said, err = t.search(c.Pattern, c.Path)
	case "largest":
		said, err = t.largest(c.Path, c.Count)
	case "go_doc":
		said, err = t.goDoc(ctx, c.Symbol)
	default:
		err = fmt.Errorf("no such tool: %s", c.Tool)
	}
	return strings.ToValidUTF8(said, "\uFFFD"), err
}

func (t *tree) list(folder string) (string, error) {
	entries, err := fs.ReadDir(t.files, folder)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue // gone since it was listed
		}
		fmt.Fprintf(&b, "%s %9d %s\n", info.Mode(), info.Size(), entry.Name())
	}
	return b.String(), nil
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
	var b strings.Builder
	err := t.walk(under, func(name string, _ int64) {
		content, err := fs.ReadFile(t.files, name)
		if binary := bytes.IndexByte(content, 0) >= 0; err == nil && !binary && bytes.Contains(content, []byte(pattern)) {
			matching(&b, name, pattern, content)
		}
	})
	return b.String(), err
}

func matching(b *strings.Builder, name, pattern string, content []byte) {
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		if strings.Contains(line, pattern) {
			fmt.Fprintf(b, "%s:%d:%s\n", name, number, strings.TrimSuffix(line, "\n"))
		}
	}
}

func (t *tree) largest(under string, count int) (string, error) {
	var files []sized
	err := t.walk(under, func(name string, size int64) {
		if path.Ext(name) == t.sources {
			files = append(files, sized{name, size})
		}
	})
	slices.SortFunc(files, func(a, b sized) int { return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.name, b.name)) })
	var b strings.Builder
	for _, f := range files[:min(count, len(files))] {
		fmt.Fprintf(&b, "%9d %s\n", f.size, f.name)
	}
	return b.String(), err
}

func (t *tree) goDoc(ctx context.Context, symbol string) (string, error) {
	command := exec.CommandContext(ctx, "go", append([]string{"doc"}, strings.Fields(symbol)...)...)
	output, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go doc %s: %w: %s", symbol, err, firstLine(output))
	}
	return string(output), nil
}

func firstLine(text []byte) string {
	scanner := bufio.NewScanner(bytes.NewReader(text))
	scanner.Scan()
	return scanner.Text()
}
