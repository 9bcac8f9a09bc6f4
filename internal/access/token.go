package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// tokenPrefix lets people and scanners of secrets see what a token is for.
const tokenPrefix = "pal_"

// NewToken makes a token of 130 random bits. Nothing but its hash need be kept: what is that random cannot be guessed from it.
func NewToken() string { return tokenPrefix + strings.ToLower(rand.Text()) }

// Hash is what a file of credentials holds of a token.
type Hash [sha256.Size]byte

// HashOf hashes a token.
func HashOf(token string) Hash { return sha256.Sum256([]byte(token)) }

// String is the hash as the file has it: 64 hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

func parseHash(s string) (Hash, error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != sha256.Size {
		return Hash{}, fmt.Errorf("sha256 must be the %d hexadecimal digits of a token's SHA-256", 2*sha256.Size)
	}
	return Hash(b), nil
}
