package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
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
	return "h-" + Digest(s)
}

// Digest is a text's SHA-256 in hexadecimal digits.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ParseIncarnation reads what ID.String made of an incarnation; zero for anything else.
func ParseIncarnation(text string) (id conversation.ID) {
	if b, err := hex.DecodeString(text); err == nil && len(b) == len(id) {
		copy(id[:], b)
	}
	return id
}

// Millis is a time in Unix milliseconds; 0 for none.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// TimeOf is the time that Millis made a number of.
func TimeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
