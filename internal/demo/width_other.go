//go:build !unix

package demo

import "os"

// terminalWidth is a guess where no terminal can be asked; COLUMNS overrides it.
func terminalWidth(*os.File) int { return 80 }
