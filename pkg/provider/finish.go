package provider

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// Opener returns the user block that is put before a context which begins with another role.
func Opener(t Traits, count func(string) int) Block {
	return fixedBlock(t, OpenerText, count)
}

// Continue returns the user block that is put after a context which ends with another role.
func Continue(t Traits, count func(string) int) Block {
	return fixedBlock(t, ContinueText, count)
}

// UserText returns a user block for the end of a context. Its text is not on record.
func UserText(t Traits, text string) Block {
	return Block{Role: "user", JSON: t.AppendText(nil, text), Index: -1}
}

func fixedBlock(t Traits, text string, count func(string) int) Block {
	c := UnitContext{Count: count}
	return Block{Role: "user", JSON: t.AppendText(nil, text), Tokens: c.count(text) + tokens.PerMessage, Index: -1}
}

// AppendText appends a text as the provider's block of the user.
func (t *Traits) AppendText(dst []byte, text string) []byte {
	dst = append(dst, t.TextPrefix...)
	dst = AppendString(dst, text)
	return append(dst, t.TextSuffix...)
}

// Finish adds what the provider requires before and after the blocks of all units. A context without messages is returned unchanged:
// nothing can make it legal.
func Finish(t Traits, blocks []Block, count func(string) int) ([]Block, []Repair) {
	first := slices.IndexFunc(blocks, func(b Block) bool { return !b.System })
	if first < 0 {
		return blocks, nil
	}
	blocks, repairs := placeSystems(t, blocks)
	if last := blocks[len(blocks)-1]; t.UserLast && last.Role != "user" && last.Role != "system" && !last.Paused {
		b := Continue(t, count)
		blocks = append(slices.Clip(blocks), b)
		repairs = append(repairs, Repair{Index: -1, Reason: conversation.ReasonContinueAdded, Tokens: int64(b.Tokens)})
	}
	if t.UserFirst && blocks[first].Role != "user" {
		b := Opener(t, count)
		blocks = slices.Insert(slices.Clip(blocks), first, b)
		repairs = append(repairs, Repair{Index: -1, Reason: conversation.ReasonOpenerAdded, Tokens: int64(b.Tokens)})
	}
	return blocks, repairs
}

// count returns the weight of a synthetic text. Without a counter, each byte weighs one token.
func (c UnitContext) count(text string) int32 {
	if c.Count == nil {
		return int32(len(text))
	}
	return int32(c.Count(text))
}

// growth is by how many tokens a line and the text behind it weigh more together than apart: a line feed and a slash form a byte pair
// of their own.
func (c UnitContext) growth(line, text string) int32 {
	const border = 64 // only this many bytes of the text can form pairs with the line
	if len(text) > border {
		text = strings.ToValidUTF8(text[:border], "")
	}
	return max(0, c.count(line+text)-c.count(line)-c.count(text))
}
