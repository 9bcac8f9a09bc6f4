// Package terminal says what a command that prints for people wants to know of the place it prints to.
package terminal

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// unknownWidth is the width, in columns, of what is no terminal.
const unknownWidth = 100

// Is says whether w is a terminal.
func Is(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Width is how many columns w has: what COLUMNS says, else what the terminal says, else 100.
func Width(w io.Writer) int {
	if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil {
		return width
	}
	if file, ok := w.(*os.File); ok && Is(w) {
		return columns(file)
	}
	return unknownWidth
}

// Unicode says whether the locale promises UTF-8.
func Unicode() bool {
	locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))
	return strings.Contains(strings.ReplaceAll(strings.ToUpper(locale), "-", ""), "UTF8")
}

// Number writes n with its digits grouped by thousands.
func Number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Bytes is a size for people.
func Bytes[N int | int64](n N) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}
