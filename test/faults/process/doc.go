// Package process builds the sidecar that ships and runs it as a process of its own, for tests that kill it, fill its disk or
// watch what it holds. It knows the sidecar as any caller does: its flags, its log, its API.
package process
