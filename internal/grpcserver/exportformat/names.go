package exportformat

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// enum is a value that the API numbers as P. It is written by its name there: a number would mean nothing to a reader.
type enum[P interface {
	Descriptor() protoreflect.EnumDescriptor
}] int8

// MarshalText writes the API's name.
func (n enum[P]) MarshalText() ([]byte, error) {
	var api P
	if v := api.Descriptor().Values().ByNumber(protoreflect.EnumNumber(n)); v != nil {
		return []byte(v.Name()), nil
	}
	return nil, fmt.Errorf("no name for the value %d", n)
}

// UnmarshalText reads the API's name.
func (n *enum[P]) UnmarshalText(b []byte) error {
	var api P
	v := api.Descriptor().Values().ByName(protoreflect.Name(b))
	if v == nil {
		return errUnknownName
	}
	*n = enum[P](v.Number())
	return nil
}

// levelName is a level, whose numbers are the API's less one.
type levelName conversation.Level

// MarshalText writes the API's name.
func (n levelName) MarshalText() ([]byte, error) { return enum[pb.ViewLevel](n + 1).MarshalText() }

// UnmarshalText reads the API's name.
func (n *levelName) UnmarshalText(b []byte) error {
	var api enum[pb.ViewLevel]
	if err := api.UnmarshalText(b); err != nil || api == 0 {
		return errUnknownName
	}
	*n = levelName(api) - 1
	return nil
}

// editName is the kind of an edit, which the API does not tell.
type editName conversation.EditKind

func editKinds() map[editName]string {
	return map[editName]string{
		editName(conversation.EditParts):     "EDIT_PARTS",
		editName(conversation.EditRemove):    "EDIT_REMOVE",
		editName(conversation.EditMask):      "EDIT_MASK",
		editName(conversation.EditRestore):   "EDIT_RESTORE",
		editName(conversation.EditSummarize): "EDIT_SUMMARIZE",
		editName(conversation.EditHide):      "EDIT_HIDE",
		editName(conversation.EditUnhide):    "EDIT_UNHIDE",
		editName(conversation.EditCorrect):   "EDIT_CORRECT",
		editName(conversation.EditRecall):    "EDIT_RECALL",
		editName(conversation.EditReturn):    "EDIT_RETURN",
		editName(conversation.EditTakeOut):   "EDIT_TAKE_OUT",
		editName(conversation.EditPutBack):   "EDIT_PUT_BACK",

		editName(conversation.EditStoreContent):  "EDIT_STORE_CONTENT",
		editName(conversation.EditExpireContent): "EDIT_EXPIRE_CONTENT",
	}
}

// MarshalText writes the kind's name.
func (n editName) MarshalText() ([]byte, error) {
	if s, ok := editKinds()[n]; ok {
		return []byte(s), nil
	}
	return nil, fmt.Errorf("no name for the value %d", n)
}

// UnmarshalText reads the kind's name.
func (n *editName) UnmarshalText(b []byte) error {
	for kind, name := range editKinds() {
		if name == string(b) {
			*n = kind
			return nil
		}
	}
	return errUnknownName
}

// aboutContent says whether an edit of this kind names a content, and is about no message where none cites it.
func (n editName) aboutContent() bool {
	return n == editName(conversation.EditStoreContent) || n == editName(conversation.EditExpireContent)
}

var errUnknownName = errors.New("unknown name of a value")

// digest is written as hexadecimal digits.
type digest [32]byte

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
