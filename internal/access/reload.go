package access

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// lookInterval is how often files are looked at. What is replaced by renaming counts at the next look, what is rewritten in place once it
// has not changed between two looks: half of a file may be read in between.
const lookInterval = 500 * time.Millisecond

// maxFileBytes bounds each file.
const maxFileBytes = 16 << 20

// Files are one value that is read from files, and read again when they change. While what is there cannot be read, the value before
// stands.
type Files[T any] struct {
	paths    []string
	readFile func(path string) ([]byte, error)
	parse    func(contents [][]byte) (T, error)
	current  atomic.Pointer[version[T]]
	read     []os.FileInfo // what was read last, whether it could be parsed or not
	pending  []os.FileInfo // what the last look saw, if it was not read yet
	told     []os.FileInfo // what could not be read, and was told of
}

// version is a value until it changes.
type version[T any] struct {
	value   T
	changed chan struct{} // closed when another version takes its place
}

// OpenFiles reads files for the first time.
func OpenFiles[T any](parse func(contents [][]byte) (T, error), paths ...string) (*Files[T], error) {
	f := &Files[T]{paths: paths, readFile: os.ReadFile, parse: parse}
	seen, err := f.look()
	if err != nil {
		return nil, err
	}
	_, err = f.load(seen)
	return f, err
}

// Value is what the files say now, and what is closed when they say something else.
func (f *Files[T]) Value() (value T, changed <-chan struct{}) {
	v := f.current.Load()
	return v.value, v.changed
}

// Run looks at the files until ctx ends. It tells of every change that it finds: nil, or why what is there does not count.
func (f *Files[T]) Run(ctx context.Context, onChange func(error)) {
	ticks := time.NewTicker(lookInterval)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			if changed, err := f.reload(); changed {
				onChange(err)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (f *Files[T]) reload() (changed bool, err error) {
	seen, err := f.look()
	if err != nil {
		first := f.pending != nil || f.read != nil
		f.read, f.pending, f.told = nil, nil, nil
		return first, err
	}
	switch {
	case same(seen, f.read):
		f.pending, f.told = nil, nil
		return false, nil
	case !f.settled(seen):
		f.pending = seen
		return false, nil
	default:
		return f.load(seen)
	}
}

// settled: each file is another one than was read last, or has not changed since the look before.
func (f *Files[T]) settled(seen []os.FileInfo) bool {
	for i, now := range seen {
		replaced := f.read != nil && !os.SameFile(now, f.read[i])
		untouched := f.read != nil && unchanged(now, f.read[i]) || f.pending != nil && unchanged(now, f.pending[i])
		if !replaced && !untouched {
			return false
		}
	}
	return true
}

func (f *Files[T]) look() ([]os.FileInfo, error) {
	out := make([]os.FileInfo, len(f.paths))
	for i, path := range f.paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() || info.Size() > maxFileBytes {
			return nil, fmt.Errorf("%s must be a file of at most %d bytes", path, maxFileBytes)
		}
		out[i] = info
	}
	return out, nil
}

// load reads and parses what was seen. A file whose reading fails is tried again at each look, because its mode or its disk may be mended
// without a trace in what is seen; it is told of once.
func (f *Files[T]) load(seen []os.FileInfo) (news bool, err error) {
	contents, err := f.contents()
	if err != nil {
		news = !same(seen, f.told)
		f.pending, f.told = seen, seen
		return news, err
	}
	f.read, f.pending, f.told = seen, nil, nil
	value, err := f.parse(contents)
	if err != nil {
		return true, fmt.Errorf("%s: %w", f.paths[0], err)
	}
	if old := f.current.Swap(&version[T]{value: value, changed: make(chan struct{})}); old != nil {
		close(old.changed)
	}
	return true, nil
}

func (f *Files[T]) contents() ([][]byte, error) {
	out := make([][]byte, len(f.paths))
	for i, path := range f.paths {
		b, err := f.readFile(path)
		if err != nil {
			return nil, err
		}
		out[i] = b
	}
	return out, nil
}

func same(a, b []os.FileInfo) bool { return slices.EqualFunc(a, b, unchanged) }

func unchanged(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
