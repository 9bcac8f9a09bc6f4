package exportformat

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Enums are written by name, as in the API's JSON: a number would mean nothing to a reader.

// MarshalText writes the API's name.
func (n roleName) MarshalText() ([]byte, error) { return name(int32(n), pb.Role_name) }

// UnmarshalText reads the API's name.
func (n *roleName) UnmarshalText(b []byte) error { return number(n, b, pb.Role_value) }

// MarshalText writes the API's name.
func (n typeName) MarshalText() ([]byte, error) { return name(int32(n), pb.MessageType_name) }

// UnmarshalText reads the API's name.
func (n *typeName) UnmarshalText(b []byte) error { return number(n, b, pb.MessageType_value) }

// MarshalText writes the API's name.
func (n stateName) MarshalText() ([]byte, error) { return name(int32(n), pb.ToolResultState_name) }

// UnmarshalText reads the API's name.
func (n *stateName) UnmarshalText(b []byte) error { return number(n, b, pb.ToolResultState_value) }

// MarshalText writes the API's name.
func (n reasonName) MarshalText() ([]byte, error) { return name(int32(n), pb.DecisionReason_name) }

// UnmarshalText reads the API's name.
func (n *reasonName) UnmarshalText(b []byte) error { return number(n, b, pb.DecisionReason_value) }

// MarshalText writes the API's name.
func (n formatName) MarshalText() ([]byte, error) { return name(int32(n), pb.ContextFormat_name) }

// UnmarshalText reads the API's name.
func (n *formatName) UnmarshalText(b []byte) error { return number(n, b, pb.ContextFormat_value) }

// MarshalText writes the API's name.
func (n modeName) MarshalText() ([]byte, error) { return name(int32(n), pb.ExpirationMode_name) }

// UnmarshalText reads the API's name.
func (n *modeName) UnmarshalText(b []byte) error { return number(n, b, pb.ExpirationMode_value) }

// MarshalText writes the API's name.
func (n compactName) MarshalText() ([]byte, error) { return name(int32(n), pb.CompactMode_name) }

// UnmarshalText reads the API's name.
func (n *compactName) UnmarshalText(b []byte) error { return number(n, b, pb.CompactMode_value) }

// MarshalText writes the API's name.
func (n sourceName) MarshalText() ([]byte, error) { return name(int32(n), pb.ExpirationSource_name) }

// UnmarshalText reads the API's name.
func (n *sourceName) UnmarshalText(b []byte) error { return number(n, b, pb.ExpirationSource_value) }

// MarshalText writes the API's name.
func (n importanceName) MarshalText() ([]byte, error) { return name(int32(n), pb.Importance_name) }

// UnmarshalText reads the API's name.
func (n *importanceName) UnmarshalText(b []byte) error { return number(n, b, pb.Importance_value) }

// MarshalText writes the API's name.
func (n rewriteName) MarshalText() ([]byte, error) { return name(int32(n), pb.RewriteMode_name) }

// UnmarshalText reads the API's name.
func (n *rewriteName) UnmarshalText(b []byte) error { return number(n, b, pb.RewriteMode_value) }

// MarshalText writes the API's name.
func (n variantName) MarshalText() ([]byte, error) { return name(int32(n), pb.PartVariant_name) }

// UnmarshalText reads the API's name.
func (n *variantName) UnmarshalText(b []byte) error { return number(n, b, pb.PartVariant_value) }

// MarshalText writes the API's name.
func (n strategyName) MarshalText() ([]byte, error) {
	return name(int32(n), pb.CompactionStrategy_name)
}

// UnmarshalText reads the API's name.
func (n *strategyName) UnmarshalText(b []byte) error {
	return number(n, b, pb.CompactionStrategy_value)
}

// MarshalText writes the API's name.
func (n sourceTypeName) MarshalText() ([]byte, error) { return name(int32(n), pb.SourceType_name) }

// UnmarshalText reads the API's name.
func (n *sourceTypeName) UnmarshalText(b []byte) error { return number(n, b, pb.SourceType_value) }

// MarshalText writes the API's name; the domain's numbers are the API's less one.
func (n levelName) MarshalText() ([]byte, error) { return name(int32(n)+1, pb.ViewLevel_name) }

// UnmarshalText reads the API's name.
func (n *levelName) UnmarshalText(b []byte) error {
	if err := number(n, b, pb.ViewLevel_value); err != nil {
		return err
	}
	if *n--; *n < 0 {
		return errUnknownName
	}
	return nil
}

// editKinds are the names of the kinds of edits, which the API does not tell.
func editKinds() map[int32]string {
	return map[int32]string{
		int32(conversation.EditParts):     "EDIT_PARTS",
		int32(conversation.EditRemove):    "EDIT_REMOVE",
		int32(conversation.EditMask):      "EDIT_MASK",
		int32(conversation.EditRestore):   "EDIT_RESTORE",
		int32(conversation.EditSummarize): "EDIT_SUMMARIZE",
		int32(conversation.EditHide):      "EDIT_HIDE",
		int32(conversation.EditUnhide):    "EDIT_UNHIDE",
		int32(conversation.EditCorrect):   "EDIT_CORRECT",
		int32(conversation.EditRecall):    "EDIT_RECALL",
		int32(conversation.EditReturn):    "EDIT_RETURN",

		int32(conversation.EditStoreContent):  "EDIT_STORE_CONTENT",
		int32(conversation.EditExpireContent): "EDIT_EXPIRE_CONTENT",
	}
}

// MarshalText writes the kind's name.
func (n editName) MarshalText() ([]byte, error) { return name(int32(n), editKinds()) }

// UnmarshalText reads the kind's name.
func (n *editName) UnmarshalText(b []byte) error {
	for kind, name := range editKinds() {
		if name == string(b) {
			*n = editName(kind)
			return nil
		}
	}
	return errUnknownName
}

var errUnknownName = errors.New("unknown name of a value")

func name(n int32, names map[int32]string) ([]byte, error) {
	if s, ok := names[n]; ok {
		return []byte(s), nil
	}
	return nil, fmt.Errorf("no name for the value %d", n)
}

func number[N ~int8](to *N, b []byte, values map[string]int32) error {
	n, ok := values[string(b)]
	if !ok {
		return errUnknownName
	}
	*to = N(n)
	return nil
}

// MarshalText writes hexadecimal digits.
func (d digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads what MarshalText wrote, in lower case alone, so that there is one way to write a digest.
func (d *digest) UnmarshalText(b []byte) error {
	raw, err := hex.AppendDecode(nil, b)
	if err != nil || len(raw) != len(d) || slices.ContainsFunc(b, func(c byte) bool { return 'A' <= c && c <= 'F' }) {
		return errors.New("not a digest of 64 hexadecimal digits")
	}
	copy(d[:], raw)
	return nil
}
