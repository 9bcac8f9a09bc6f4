package demo

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// tree is the folder that the agent explores. Nothing outside of it is read, and nothing is written.
type tree struct {
	root    *os.Root
	files   fs.FS
	name    string // for people
	sources string // the ending of its sources, such as .go
	script  []step
}

func (t *tree) close() { _ = t.root.Close() }

// openTree opens the folder that was asked for, else Go's own sources, else the working folder.
func openTree(ctx context.Context, folder string) (*tree, error) {
	if folder == "" {
		if root := goroot(ctx); root != "" {
			t, err := openFolder(root, "the Go toolchain's own sources and documents")
			if err == nil {
				t.sources, t.script = ".go", goScript()
			}
			return t, err
		}
		folder = "."
	}
	t, err := openFolder(folder, filepath.Base(folder))
	if err != nil {
		return nil, err
	}
	if t.sources, t.script, err = t.plan(); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func openFolder(folder, name string) (*tree, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	return &tree{root: root, files: root.FS(), name: name}, nil
}

// goroot is where Go's sources lie, or empty.
func goroot(ctx context.Context) string {
	output, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	root := strings.TrimSpace(string(output))
	if _, err := os.Stat(filepath.Join(root, "src", "net", "http", "transport.go")); err != nil {
		return ""
	}
	return root
}

// What a walk looks at: enough of any tree, and no file that is larger than a message may be.
const (
	mostFiles   = 20_000
	largestFile = 8 << 20
)

// walk visits the regular files under a folder, or the one file, but not what version control and package managers keep. What
// cannot be read, or is gone since it was listed, is passed over.
func (t *tree) walk(under string, visit func(name string, size int64)) error {
	files := 0
	return fs.WalkDir(t.files, under, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && name == under:
			return err
		case files == mostFiles:
			return fs.SkipAll
		case err != nil, entry.IsDir() && skipped(name):
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Size() > 0 && info.Size() <= largestFile {
			files++
			visit(name, info.Size())
		}
		return nil
	})
}

func skipped(folder string) bool {
	base := path.Base(folder)
	return base == "node_modules" || base != "." && strings.HasPrefix(base, ".")
}

// errTooSmall: a tree without enough to read makes no demo.
func errTooSmall(name string, files int) error {
	return fmt.Errorf("%s has %d readable files, too few for the demo: name another folder with --tree", name, files)
}
