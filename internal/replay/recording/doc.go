// Package recording reads recorded agent runs, in the forms that providers and tools write, as messages that can be appended. It knows no
// sidecar and no judge.
package recording
