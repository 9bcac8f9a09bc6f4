// Package recordings is where tests find recorded runs and real documents, which are no part of the repository.
package recordings

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Path is a file or folder of the recorded data. Without the folder that PALIMPSEST_DATA names, the test is skipped;
// in CI it fails.
func Path(t testing.TB, path ...string) string {
	t.Helper()
	folder := os.Getenv("PALIMPSEST_DATA")
	if folder == "" && os.Getenv("CI") == "true" {
		t.Fatal("PALIMPSEST_DATA names no folder of recorded data: in CI it must")
	}
	if folder == "" {
		t.Skip("PALIMPSEST_DATA names no folder of recorded data")
	}
	return filepath.Join(append([]string{folder}, path...)...)
}

// Text is what a file of the recorded data says.
func Text(t testing.TB, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(Path(t, path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Referable are the things in a text that somebody may refer to: paths, addresses, identifiers, codes, numbers with units.
var Referable = regexp.MustCompile(`https?://[^\s"'<>)\]]+|[\w.-]*/[\w./-]*\w|\b[A-Za-z]\w*(?:[._]\w+)+|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+[A-Z]\w+|` +
	`\b[A-Z]{2,}[-_]?\d+\b|\b\d+(?:\.\d+)? ?(?:ms|s|MB|GB|KB|kB|%|px|bytes|rows)\b|\b\d{4,}\b|\b\d{2}:\d{2}:\d{2}\b`)

// Beginning is at most so many characters of the beginning of a text.
func Beginning(text string, n int) string {
	r := []rune(text)
	return string(r[:min(n, len(r))])
}
