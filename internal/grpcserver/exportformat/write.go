package exportformat

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// Writer writes an export, record by record.
type Writer struct {
	lines  *json.Encoder
	copier *copier
	began  bool
	end    endLine
}

// NewWriter returns a writer to w. Every line is one call of w.Write.
func NewWriter(w io.Writer) *Writer {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	return &Writer{lines: lines, copier: newCopier(false)}
}

// Write writes one record. Its contents must be inline.
func (w *Writer) Write(r engine.Record) error {
	if err := w.begin(); err != nil {
		return err
	}
	switch {
	case r == (engine.Record{}):
		return errors.New("exportformat: an empty record")
	case r.Message != nil:
		w.end.Messages++
	case r.Edit != nil:
		w.end.Edits++
	case r.Manifest != nil:
		w.end.Manifests++
	case r.Source != nil:
		w.end.Sources++
	}
	return w.lines.Encode(copied[line](w.copier, &r))
}

func (w *Writer) begin() error {
	if w.began {
		return nil
	}
	w.began = true
	return w.lines.Encode(line{Export: Version})
}

// End writes the last line. Without it the export does not import.
func (w *Writer) End() error { return w.lines.Encode(line{End: &w.end}) }
