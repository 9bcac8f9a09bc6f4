// Package archtest holds the rules of the repository's structure as tests: who
// may import whom, how long files and functions may be, and what every package
// under pkg/ owes its readers.
//
// It parses the files and never asks the go command, whose answers the test
// cache cannot see: a test that reads the files runs again when one changes.
//
// Each rule carries a counterexample that must make it go red, so that a rule
// that guards nothing any more cannot stay green unnoticed.
package archtest
