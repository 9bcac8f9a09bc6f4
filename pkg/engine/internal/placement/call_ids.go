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

// Ids of calls are rendered as they came where no call of the conversation had them before. The head, which every append writes, cannot hold
// all of them: it has fingerprints of the last ones. Of an id that comes later, either its random characters say that it is new, or a number
// at its end that is greater than all before it. Any other counts as one that repeats: it is given another, which is legal, while an id that
// is there twice is not.
const (
	rememberedIDs    = 256
	fingerprintBytes = 4
	// A run of so many letters and digits, both of them, is random: two such runs are the same once in a billion.
	randomRun = 6
	maxDigits = 18 // of a number at an id's end
)

// numberCall gives a call its number, and says whether its id is its own.
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

// isNew says whether no call had an id before.
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

// ForgetCalls frees the ids of the calls from a number on: they are taken back, and may come again.
func ForgetCalls(head *store.Head, from int32) {
	last := len(head.CallIDs) / fingerprintBytes
	keep := max(0, last-int(head.CallOrdinal-from+1))
	if keep < last {
		head.CallIDs = head.CallIDs[:keep*fingerprintBytes] + strings.Repeat("\x00", (last-keep)*fingerprintBytes)
	}
}

// RememberCall remembers the id of a call again that was taken back.
func RememberCall(head *store.Head, c *conversation.ToolCall) {
	at := len(head.CallIDs) - int(head.CallOrdinal-c.Ordinal+1)*fingerprintBytes
	if at >= 0 {
		head.CallIDs = head.CallIDs[:at] + string(fingerprint(c.CallID)) + head.CallIDs[at+fingerprintBytes:]
	}
}

// fingerprint is never zero, which stands for an id that is free.
func fingerprint(id string) []byte {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return binary.LittleEndian.AppendUint32(nil, max(1, h.Sum32()))
}

// splitID parts an id from the number that it ends in; ok is false if it ends in none.
func splitID(id string) (rest string, number int64, ok bool) {
	rest = strings.TrimRight(id, "0123456789")
	digits := id[len(rest):]
	if digits == "" || len(digits) > maxDigits {
		return rest, 0, false
	}
	number, err := strconv.ParseInt(digits, 10, 64)
	return rest, number, err == nil
}

// isRandom says whether an id has characters that nobody counts: letters and digits among each other, before the number at its end.
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
