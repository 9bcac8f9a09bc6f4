// Package replay plays recorded conversations through a sidecar and judges what
// comes back. It is a client like any other: it appends every message, asks for
// a context before each of the assistant's and at the end, restores something,
// builds in larger windows, and reads everything back. What it reports is
// measured on the bytes that arrived, by the independent judge in
// internal/validate, and never taken from the sidecar's own report.
// docs/replay.md defines the file format and every figure.
package replay
