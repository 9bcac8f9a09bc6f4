// Package policies reads policies from YAML files, and holds those that ship
// with the sidecar by name. docs/policies.md says what each of them is for and
// what it comes to on recorded conversations.
package policies
