// Package interop holds clients in other languages, written against stubs that its test generates from the public protos. The
// test starts the sidecar on a TCP port and on a Unix socket and runs them, the programs under examples, and the examples of the
// README, against it. It judges contexts of recordings by the types that the providers publish in their packages. It also holds the code that the documentation shows to those programs.
package interop
