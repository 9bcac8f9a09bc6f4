package policies

import (
	"embed"
	"path"
	"strings"
)

//go:embed *.yaml
var shipped embed.FS

const extension = ".yaml"

// None is the name of the policy that others are compared with: nothing but the
// window's limit.
const None = "none"

// Default is the name of what the server does by itself: nothing is set.
const Default = "default"

// Names lists the policies that ship, sorted; Default is none of them.
func Names() []string {
	// An embedded folder can be read, and is sorted.
	entries, _ := shipped.ReadDir(".")
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), path.Ext(entry.Name()))
	}
	return names
}

// Text is the YAML of a policy that ships; empty if no policy has the name.
func Text(name string) string {
	// What cannot be read is not there.
	raw, _ := shipped.ReadFile(name + extension)
	return string(raw)
}
