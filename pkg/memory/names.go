package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// ExternalID is what a scope is called outside: "<namespace>:<id>", a namespace alone for ScopeOrg. Each part is as it is if it holds nothing
// but letters, digits, hyphens and underscores and does not begin with "h-"; otherwise "h-" and its SHA-256 in hexadecimal digits, so that no
// service stumbles over its characters and nothing is two scopes' name.
func (s Scope) ExternalID() string {
	if s.Kind == ScopeOrg {
		return externalPart(s.Namespace)
	}
	return externalPart(s.Namespace) + ":" + externalPart(s.ID)
}

func externalPart(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if s != "" && !strings.HasPrefix(s, "h-") && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 && len(s) <= 100 {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return "h-" + hex.EncodeToString(sum[:])
}
