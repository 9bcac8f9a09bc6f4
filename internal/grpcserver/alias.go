package grpcserver

import "unsafe"

// A message of the wire is read once and belongs to its handler, and what the engine hands out is read only. So text and bytes
// are passed on without a copy: at 600 KB a context, copies are what the edge would spend its time on.

// bytesOf returns the bytes of s, which nobody may write to.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) } //nolint:gosec // nobody writes to it

// stringOf returns b as a string; nobody may write to b afterwards.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) } //nolint:gosec // nobody writes to b
