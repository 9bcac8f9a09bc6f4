// Package interop holds clients in other languages, written against stubs that its test generates from the public protos. The
// test starts the sidecar on a TCP port and on a Unix socket and runs them, and the examples of the README, against it.
package interop
