package policies

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

//go:embed *.yaml
var shipped embed.FS

const extension = ".yaml"

// None is the name of the policy that others are compared with: nothing but the
// window's limit.
const None = "none"

// Names lists the policies that ship, sorted.
func Names() []string {
	// An embedded folder can be read, and is sorted.
	entries, _ := shipped.ReadDir(".")
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), path.Ext(entry.Name()))
	}
	return names
}

// Named returns a policy that ships. An unknown name is an error that lists the
// known ones.
func Named(name string) (*pb.Policy, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("policies: no policy is named %q: %s", name, strings.Join(Names(), ", "))
	}
	return Load(name)
}

// Text is the YAML of a policy that ships; empty if no policy has the name.
func Text(name string) string {
	// What cannot be read is not there.
	raw, _ := shipped.ReadFile(name + extension)
	return string(raw)
}
