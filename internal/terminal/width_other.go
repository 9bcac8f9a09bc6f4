//go:build !unix

package terminal

import "os"

// columns is a guess where no terminal can be asked; COLUMNS overrides it.
func columns(*os.File) int { return 80 }
