//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns is the number of columns of a terminal.
func columns(file *os.File) int {
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 {
		return 80
	}
	return int(size.Col)
}
