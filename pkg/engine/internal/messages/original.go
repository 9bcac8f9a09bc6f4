package messages

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// original returns a message as it was appended, or a range of its text.
func (l *messageReader) original(ctx context.Context, index int32, r *ExpandRequest) (*ExpandResult, error) {
	m, err := l.load(ctx, index)
	if err != nil {
		return nil, err
	}
	if allErased(m.Parts) {
		return nil, l.lostError(index)
	}
	shown, err := l.show(ctx, m, false)
	if err != nil {
		return nil, err
	}
	text := MessageText(shown.Message.Parts)
	out := &ExpandResult{Message: shown, TotalChars: int64(utf8.RuneCountInString(text)), Revision: l.loaded.Head.Revision}
	whole := r.Unit == RangeNone && r.MaxTokens == 0 && r.Cursor == nil
	if whole && (r.MaxBytes == 0 || r.Size(shown) <= r.MaxBytes) {
		return out, nil
	}
	if whole && (!r.ReturnOnly || text == "") {
		return nil, conversation.Errorf(conversation.ReplyTooLarge,
			"message %d exceeds the reply limit of %d bytes: ask with RETURN_ONLY for ranges", index, r.MaxBytes)
	}
	return out, l.answerWithText(out, text, r)
}

// allErased reports whether a message lost something to erasure and has no text or result left.
func allErased(parts []conversation.Part) bool {
	for i := range parts {
		kind := parts[i].Kind
		if (kind == conversation.PartToolResult || kind == conversation.PartText || kind == conversation.PartMedia) && !conversation.Erased(parts[i:i+1]) {
			return false
		}
	}
	return conversation.Erased(parts)
}

// MessageText is the text of a message: its texts and tool results, each on a new line.
func MessageText(parts []conversation.Part) string {
	var b strings.Builder
	for i := range parts {
		var text string
		switch p := &parts[i]; p.Kind {
		case conversation.PartText:
			text = p.Text.Inline
		case conversation.PartToolResult:
			text = p.Result.Lines()
		case conversation.PartMedia:
			text = p.Media.Line()
		default:
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	}
	return b.String()
}

// answerWithText answers with text in place of the whole message: the requested range of the text, as far as there is room.
func (l *messageReader) answerWithText(out *ExpandResult, text string, r *ExpandRequest) error {
	counter, err := l.service.Views.Counter(l.loaded.Info.Counter)
	if err != nil {
		return err
	}
	c := textLimit{counter: counter, tokens: int(r.MaxTokens), bytes: (r.MaxBytes + 1) / 2} // half, because what stands next to the text takes room too
	if c.bytes == 0 {
		c.bytes = len(text) + 2
	}
	var piece string
	if r.Unit == RangeItems {
		piece, err = c.items(out, text, r)
	} else {
		piece, err = c.text(out, text, r)
	}
	if err != nil {
		return err
	}
	n, estimated := counter.Count(piece)
	m := &out.Message.Message
	m.Parts = []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: piece}, Tokens: int32(n), Estimated: estimated}}
	return nil
}

// textLimit is how much text an answer has room for.
type textLimit struct {
	counter tokens.Counter
	tokens  int // 0: no limit
	bytes   int
}

func (c *textLimit) fits(text string) bool {
	if len(text) > c.bytes {
		return false
	}
	if c.tokens == 0 || len(text) <= c.tokens { // every token has at least one byte
		return true
	}
	n, _ := c.counter.Count(text)
	return n <= c.tokens
}

// text returns the characters of the range from the cursor on.
func (c *textLimit) text(out *ExpandResult, text string, r *ExpandRequest) (string, error) {
	from, to := charRange(text, r)
	if r.Cursor != nil {
		from = max(from, int(*r.Cursor))
	}
	start, end := byteOffset(text, from), byteOffset(text, to)
	piece := text[start:max(start, end)]
	for !c.fits(piece) {
		keep := utf8.RuneCountInString(piece) * 3 / 4
		if keep == 0 {
			return "", conversation.Errorf(conversation.ExpansionTooLarge, "max_tokens leaves no room for a single character")
		}
		piece = piece[:byteOffset(piece, keep)]
	}
	shown := conversation.Range{First: int32(from), End: int32(from + utf8.RuneCountInString(piece))}
	out.Returned = &shown
	if int(shown.End) < to && int64(shown.End) < out.TotalChars {
		out.Next = &shown.End
	}
	return piece, nil
}

// charRange returns the requested range in characters.
func charRange(text string, r *ExpandRequest) (from, to int) {
	total := utf8.RuneCountInString(text)
	switch r.Unit {
	case RangeChars:
		return min(int(r.Range.First), total), min(int(r.Range.End), total)
	case RangeLines:
		start := lineOffset(text, int(r.Range.First))
		end := lineOffset(text, int(r.Range.End))
		return utf8.RuneCountInString(text[:start]), utf8.RuneCountInString(text[:end])
	default:
		return 0, total
	}
}

// lineOffset returns the byte offset at which a line begins; the length of the text if there are fewer lines.
func lineOffset(text string, line int) int {
	at := 0
	for ; line > 0; line-- {
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			return len(text)
		}
		at += next + 1
	}
	return at
}

// byteOffset returns the byte offset at which a character begins; the length of the text if there are fewer characters.
func byteOffset(text string, char int) int {
	for at := range text {
		if char == 0 {
			return at
		}
		char--
	}
	return len(text)
}

// items returns the items of a JSON array that are in the range, from the cursor on.
func (c *textLimit) items(out *ExpandResult, text string, r *ExpandRequest) (string, error) {
	items, ok := arrayItems(text)
	if !ok {
		return "", conversation.Errorf(conversation.InvalidField, "the message has no items").
			At("items", "the text is neither a JSON array nor an object with one array in it")
	}
	from, to := min(int(r.Range.First), len(items)), min(int(r.Range.End), len(items))
	if r.Cursor != nil {
		from = min(max(from, int(*r.Cursor)), to)
	}
	end := to
	for end > from && !c.fits(joinItems(items[from:end])) {
		end = from + (end-from)*3/4
	}
	if end == from && from < to {
		return "", conversation.Errorf(conversation.ExpansionTooLarge, "item %d alone is larger than the reply may be: ask for chars", from)
	}
	shown := conversation.Range{First: int32(from), End: int32(end)}
	out.Returned = &shown
	if end < to {
		out.Next = &shown.End
	}
	return joinItems(items[from:end]), nil
}

func joinItems(items []json.RawMessage) string { return string(provider.AppendArray(nil, items)) }

// arrayItems returns the items of a JSON array, or of the only array in a JSON object.
func arrayItems(text string) ([]json.RawMessage, bool) {
	var items []json.RawMessage
	if json.Unmarshal([]byte(text), &items) == nil {
		return items, items != nil
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	if t, err := decoder.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	found := 0
	for decoder.More() {
		var member json.RawMessage
		if _, err := decoder.Token(); err != nil || decoder.Decode(&member) != nil {
			return nil, false
		}
		var list []json.RawMessage
		if json.Unmarshal(member, &list) == nil && list != nil {
			items = list
			found++
		}
	}
	if t, err := decoder.Token(); err != nil || t != json.Delim('}') {
		return nil, false
	}
	_, err := decoder.Token()
	return items, found == 1 && err == io.EOF
}
