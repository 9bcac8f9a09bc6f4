// Package command is what the sidecar's commands share: where they print, and how they fail.
package command

import (
	"errors"
	"io"
	"io/fs"
	"syscall"
)

// Output is where a command prints.
type Output struct{ Stdout, Stderr io.Writer }

// UsageError is an error in what the operator wrote: on the command line, in the environment or in the configuration file.
type UsageError struct{ error }

// Usage makes an error one of usage.
func Usage(err error) error { return UsageError{err} }

// Refusal says in words why a folder cannot be made.
func Refusal(err error) string {
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return "a part of the name is a file"
	case errors.Is(err, fs.ErrPermission):
		return "this user may not write there: change the owner or the mode of the folder above it"
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only: mount it for writing"
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full"
	default:
		return err.Error()
	}
}
