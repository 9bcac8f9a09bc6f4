package palimpsest

import (
	"regexp"
	"runtime/debug"
	"strconv"
)

const module = "github.com/palimpsest-context/palimpsest"

// release is the version of this module in the program, which has that of the sidecar it was made with; empty where it is not known.
func release() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return dependency.Version
		}
	}
	return ""
}

var released = regexp.MustCompile(`^v?(\d+)\.(\d+)\.(\d+)`)

// older says whether a release is older than another. What is no release cannot be compared.
func older(version, than string) bool {
	a, b := released.FindStringSubmatch(version), released.FindStringSubmatch(than)
	if a == nil || b == nil {
		return false
	}
	for i := 1; i < len(a); i++ {
		x, _ := strconv.Atoi(a[i])
		y, _ := strconv.Atoi(b[i])
		if x != y {
			return x < y
		}
	}
	return false
}
