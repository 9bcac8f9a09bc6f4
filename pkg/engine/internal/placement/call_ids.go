package placement

import (
	"encoding/binary"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// The id of a call is rendered as it came if no earlier call of the conversation had it. The head is part of every append and cannot hold
// all ids, so it holds fingerprints of the last ones. A later id counts as new if it has random characters, or if it ends in a number
// greater than all before it. Any other id counts as repeated, and the call is given another id: that is legal, while two calls with the
// same id are not.
const (
	rememberedIDs    = 256
	fingerprintBytes = 4
	// A run of this many characters with both letters and digits counts as random: two such runs are equal once in a billion.
	randomRun = 6
	maxDigits = 18 // of a number at the end of an id
)

// numberCall gives a call its ordinal, and decides whether its id is unique.
func numberCall(head *store.Head, c *conversation.ToolCall) {
	c.Unique = isNew(head, c.CallID)
	head.CallOrdinal++
	c.Ordinal = head.CallOrdinal
	head.CallIDs += string(fingerprint(c.CallID))
	if extra := len(head.CallIDs) - rememberedIDs*fingerprintBytes; extra > 0 {
		head.CallIDs = head.CallIDs[extra:]
	}
	if _, number, _ := splitID(c.CallID); !isRandom(c.CallID) {
		head.CallNumber = max(head.CallNumber, number)
	}
}

// isNew reports whether no earlier call can have had the id.
func isNew(head *store.Head, id string) bool {
	switch {
	case id == "" || provider.IsMadeID(id) || isRemembered(head, id):
		return false
	case head.CallOrdinal <= rememberedIDs || isRandom(id):
		return true
	default:
		_, number, ok := splitID(id)
		return ok && number > head.CallNumber
	}
}

func isRemembered(head *store.Head, id string) bool {
	sought := string(fingerprint(id))
	for at := 0; at < len(head.CallIDs); at += fingerprintBytes {
		if head.CallIDs[at:at+fingerprintBytes] == sought {
			return true
		}
	}
	return false
}

// ForgetCalls frees the ids of the call with ordinal from and of all later ones. These calls are taken back, and their ids may come again.
func ForgetCalls(head *store.Head, from int32) {
	last := len(head.CallIDs) / fingerprintBytes
	keep := max(0, last-int(head.CallOrdinal-from+1))
	if keep < last {
		head.CallIDs = head.CallIDs[:keep*fingerprintBytes] + strings.Repeat("\x00", (last-keep)*fingerprintBytes)
	}
}

// RememberCall remembers the id of a call that was freed with ForgetCalls.
func RememberCall(head *store.Head, c *conversation.ToolCall) {
	at := len(head.CallIDs) - int(head.CallOrdinal-c.Ordinal+1)*fingerprintBytes
	if at >= 0 {
		head.CallIDs = head.CallIDs[:at] + string(fingerprint(c.CallID)) + head.CallIDs[at+fingerprintBytes:]
	}
}

// fingerprint returns the hash of an id. It is never zero: zero marks a freed id.
func fingerprint(id string) []byte {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return binary.LittleEndian.AppendUint32(nil, max(1, h.Sum32()))
}

// splitID splits an id in front of the number at its end; ok is false if it does not end in a number.
func splitID(id string) (rest string, number int64, ok bool) {
	rest = strings.TrimRight(id, "0123456789")
	digits := id[len(rest):]
	if digits == "" || len(digits) > maxDigits {
		return rest, 0, false
	}
	number, err := strconv.ParseInt(digits, 10, 64)
	return rest, number, err == nil
}

// isRandom reports whether an id has characters that are not counted up: mixed letters and digits before the number at its end.
func isRandom(id string) bool {
	rest, _, _ := splitID(id)
	run, letters, digits := 0, false, false
	for i := range len(rest) {
		switch c := rest[i]; {
		case '0' <= c && c <= '9':
			run, digits = run+1, true
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			run, letters = run+1, true
		default:
			run, letters, digits = 0, false, false
		}
		if run >= randomRun && letters && digits {
			return true
		}
	}
	return false
}
