package exportformat

import (
	"reflect"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// custom copies what of a line no field of the record is, once all other fields are copied.
type custom struct {
	line                 reflect.Type
	fromRecord, toRecord func(line, record reflect.Value)
}

func customs() []custom {
	return []custom{
		customOf((*messageLine).fromRecord, (*messageLine).toRecord),
		customOf((*partLine).fromRecord, (*partLine).toRecord),
		customOf((*retentionLine).fromRecord, (*retentionLine).toRecord),
		customOf((*resultLine).fromRecord, (*resultLine).toRecord),
		customOf((*pieceLine).fromRecord, (*pieceLine).toRecord),
		customOf((*recalledLine).fromRecord, (*recalledLine).toRecord),
		customOf((*sourceLine).fromRecord, (*sourceLine).toRecord),
	}
}

func customOf[L, R any](fromRecord, toRecord func(*L, *R)) custom {
	untyped := func(copied func(*L, *R)) func(line, record reflect.Value) {
		return func(line, record reflect.Value) {
			l, _ := reflect.TypeAssert[*L](line.Addr())
			r, _ := reflect.TypeAssert[*R](record.Addr())
			copied(l, r)
		}
	}
	return custom{line: reflect.TypeFor[L](), fromRecord: untyped(fromRecord), toRecord: untyped(toRecord)}
}

func (l *messageLine) fromRecord(r *conversation.Message) {
	if r.Unit > 0 {
		first := r.Unit - 1
		l.Unit = &first
	}
}

func (l *messageLine) toRecord(r *conversation.Message) {
	if l.Unit != nil {
		r.Unit = *l.Unit + 1
	}
}

// fromRecord lists what of the part's contents is erased.
func (l *partLine) fromRecord(p *conversation.Part) {
	if p.Kind == conversation.PartText {
		l.Text = &p.Text.Inline
	}
	for i, c := range conversation.Contents([]conversation.Part{*p}) {
		if e := c.Erased; e != nil {
			l.Erased = append(l.Erased, erasedLine{Content: int32(i), Bytes: e.Bytes, Chars: e.Chars, Hash: e.Hash})
		}
	}
}

// toRecord trusts that check found at most one kind, and that what is erased names contents of it.
func (l *partLine) toRecord(p *conversation.Part) {
	p.Kind, _ = l.kinds()
	if l.Text != nil {
		p.Text.Inline = *l.Text
	}
	if len(l.Erased) == 0 {
		return
	}
	parts := []conversation.Part{*p}
	contents := conversation.Contents(parts)
	for _, e := range l.Erased {
		*contents[e.Content] = conversation.Content{Erased: &conversation.ErasedContent{Bytes: e.Bytes, Chars: e.Chars, Hash: e.Hash}}
	}
	*p = parts[0]
}

// kinds says how many kinds the part holds, and which is the last of them.
func (l *partLine) kinds() (last conversation.PartKind, n int) {
	for kind, holds := range [...]bool{
		conversation.PartText: l.Text != nil, conversation.PartMedia: l.Media != nil, conversation.PartToolCall: l.ToolCall != nil,
		conversation.PartToolResult: l.ToolResult != nil, conversation.PartReasoning: l.Reasoning != nil, conversation.PartOpaque: l.Opaque != nil,
	} {
		if holds {
			last, n = conversation.PartKind(kind), n+1
		}
	}
	return last, n
}

func (l *retentionLine) fromRecord(r *conversation.Retention) {
	switch r.Kind {
	case conversation.RetentionPermanent:
		l.Permanent = true
	case conversation.RetentionKeepLast:
		l.KeepLast = &r.Last
	}
}

func (l *retentionLine) toRecord(r *conversation.Retention) {
	switch {
	case l.Permanent:
		r.Kind = conversation.RetentionPermanent
	case l.KeepLast != nil:
		r.Kind, r.Last = conversation.RetentionKeepLast, *l.KeepLast
	}
}

func (l *resultLine) fromRecord(r *conversation.ToolResult) {
	switch r.Output {
	case conversation.OutputText:
		l.Text = &r.Text.Inline
	case conversation.OutputJSON:
		l.JSON = &r.Text.Inline
	}
}

func (l *resultLine) toRecord(r *conversation.ToolResult) {
	switch {
	case l.Text != nil:
		r.Text.Inline = *l.Text
	case l.JSON != nil:
		r.Output, r.Text.Inline = conversation.OutputJSON, *l.JSON
	case l.Parts != nil:
		r.Output = conversation.OutputParts
	}
}

func (l *pieceLine) fromRecord(r *conversation.ResultPart) {
	if r.Media == nil {
		l.Text = &r.Text.Inline
	}
}

func (l *pieceLine) toRecord(r *conversation.ResultPart) {
	if l.Text != nil {
		r.Text.Inline = *l.Text
	}
}

func (l *recalledLine) fromRecord(r *conversation.Recalled) {
	if !r.Memories && r.ContentID == "" {
		l.Index = &r.Index
	}
}

func (l *recalledLine) toRecord(r *conversation.Recalled) {
	if l.Index != nil {
		r.Index = *l.Index
	}
}

func (l *sourceLine) fromRecord(r *engine.SourceRecord) {
	if r.Source.AtAppend {
		l.At = &placeOfText{Message: r.Message, Part: r.Part}
	}
}

func (l *sourceLine) toRecord(r *engine.SourceRecord) {
	if l.At != nil {
		r.Source.AtAppend, r.Message, r.Part = true, l.At.Message, l.At.Part
	}
}
