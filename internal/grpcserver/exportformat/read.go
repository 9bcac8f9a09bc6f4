package exportformat

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// MaxLineBytes bounds a line. A message of 16 MiB, every byte of which JSON escapes to six, must still come back.
const MaxLineBytes = 128 << 20

const (
	// What the reader holds of every line; one that is longer is gathered.
	bufferBytes = 64 << 10
	// MaxStateBytes bounds the lines that an import holds until its end: the conversation and its state.
	MaxStateBytes = 4 << 20
)

// Memory says what lines may take. Its errors end the reading.
type Memory interface {
	// Longest is how many bytes a line may have.
	Longest() int
	// Gather is asked before a line is gathered that is longer than the reader's buffer.
	Gather() error
	// Decode is asked before a line of some size is decoded. An element is something that a bracket or a comma begins.
	Decode(size, elements int) error
	// Release is told before the next line: what the last one became is no longer held by who reads.
	Release()
}

// FaultError is what is wrong with an export. It never holds the export's text.
type FaultError struct {
	Line  int    // from 1
	Field string // path in the line; empty for the line as a whole
	Text  string
}

// Error says where and what.
func (f *FaultError) Error() string {
	if f.Field == "" {
		return fmt.Sprintf("line %d: %s", f.Line, f.Text)
	}
	return fmt.Sprintf("line %d, %s: %s", f.Line, f.Field, f.Text)
}

// Reader reads an export, record by record, and checks all that does not need the API's rules.
type Reader struct {
	in     *bufio.Reader
	memory Memory
	line   int
	check  checks
}

// NewReader returns a reader of r.
func NewReader(r io.Reader, m Memory) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, bufferBytes), memory: m, check: checks{copier: newCopier(true)}}
}

// Line is the number of the line that the last record came from.
func (r *Reader) Line() int { return r.line }

// Next returns the next record, and io.EOF after a complete export. What is wrong with the export is a *FaultError; other errors
// are the underlying reader's.
func (r *Reader) Next() (*engine.Record, error) {
	if r.line == 0 {
		if err := r.header(); err != nil {
			return nil, err
		}
	}
	l, err := r.read()
	if err != nil {
		return nil, err
	}
	if l.End != nil {
		return nil, r.finish(l.End)
	}
	if f := r.check.admit(l); f != nil {
		f.Line = r.line
		return nil, f
	}
	return copied[engine.Record](r.check.copier, l), nil
}

func (r *Reader) header() error {
	l, err := r.read()
	switch {
	case err != nil:
		return err
	case l.Export == 0:
		return r.fault("is no export of Palimpsest: it must begin with palimpsest_export")
	case l.Export != Version:
		return r.fault("is an export of a version that this sidecar does not know")
	}
	return nil
}

func (r *Reader) finish(end *endLine) error {
	if f := r.check.complete(end); f != nil {
		f.Line = r.line
		return f
	}
	switch _, err := r.in.ReadByte(); {
	case err == nil:
		r.line++
		return r.fault("stands after the end")
	case errors.Is(err, io.EOF):
		return io.EOF
	default:
		return err
	}
}

// read returns the next line, which has exactly one key.
func (r *Reader) read() (*line, error) {
	r.memory.Release()
	raw, err := r.bytes()
	if err != nil {
		return nil, err
	}
	if err := r.memory.Decode(len(raw), rules.JSONElements(raw)); err != nil {
		return nil, err
	}
	var l line
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&l); err != nil {
		return nil, r.refused(err)
	}
	if decoder.InputOffset() != int64(len(raw)) {
		return nil, r.fault("must be one JSON object")
	}
	if l.keys() != 1 {
		return nil, r.fault("must have exactly one key")
	}
	if (l.Conversation != nil || l.State != nil) && len(raw) > MaxStateBytes {
		return nil, r.fault("is too long")
	}
	return &l, nil
}

func (l *line) keys() (n int) {
	v := reflect.ValueOf(*l)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			n++
		}
	}
	return n
}

// bytes returns the next line without its line feed.
func (r *Reader) bytes() ([]byte, error) {
	r.line++
	var raw []byte
	for {
		piece, err := r.in.ReadSlice('\n')
		raw = append(raw, piece...)
		switch {
		case len(raw) > r.memory.Longest():
			return nil, r.fault("is too long")
		case err == nil:
			return raw[:len(raw)-1], nil
		case errors.Is(err, io.EOF):
			return nil, r.fault("is missing, or cut off: the export is not complete")
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(raw) == bufferBytes:
			if err := r.memory.Gather(); err != nil {
				return nil, err
			}
		}
	}
}

func (r *Reader) fault(text string) error { return &FaultError{Line: r.line, Text: text} }

// refused says what the decoder found without its words, which quote the input; but for the names of fields that are unknown,
// and the paths of those that are wrong.
func (r *Reader) refused(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return &FaultError{Line: r.line, Field: wrong.Field, Text: "has a value of another type"}
	}
	switch text := err.Error(); {
	case strings.HasPrefix(text, "json: unknown field "):
		return r.fault("has an unknown field")
	case errors.Is(err, errUnknownName):
		return r.fault("has an unknown name of a value")
	default:
		return r.fault("is no valid JSON")
	}
}
