// Package badinput says everything wrong that can be said to a running sidecar, and holds it to behaviour §15: each fault has
// its code, its reason and the paths of its fields; nothing changes; and no answer and no log line repeats what was said.
package badinput
