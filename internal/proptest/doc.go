// Package proptest is how tests draw at random: the properties of pgregory.net/rapid, and whatever else needs a seed.
//
// Without more said a test draws the same every time, from a seed that follows from its name: who runs the tests for the first time
// sees what everybody saw before. The flag -rapid.seed and the variable RAPID_SEED give another seed, -rapid.checks and RAPID_CHECKS
// another number of cases. `make properties` uses them to look for what no one has seen.
package proptest
