package record_test

import (
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

func benchHead() store.Head {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6789, time.UTC)
	return store.Head{
		Incarnation: conversation.ID{1, 2, 3}, Version: 1234, Revision: 1200, Messages: 900, Tokens: 123456, EditSeq: 50,
		ManifestSeq: 300, Turn: 300, Seen: 890, Start: 700, LastManifest: [6]int64{0, 0, 300}, UnitStart: 898,
		LeadingSystem: 1, Request: 880, CallOrdinal: 250, Unanswered: []store.Call{{CallID: "call_abcdef", Name: "read_file", Ordinal: 250, Message: 899}},
		CreateTime: now, UpdateTime: now.Add(time.Hour), NextDue: now.Add(24 * time.Hour),
	}
}

func BenchmarkCodec_Head(b *testing.B) {
	c, h := record.New(), benchHead()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.DecodeHead(c.EncodeHead(&h)); err != nil {
			b.Fatal(err)
		}
	}
}

func benchMessage(text string) conversation.Message {
	return conversation.Message{
		ID: "msg_0123456789", Index: 900, Role: conversation.RoleUser, Tokens: 250, TurnAdded: 300, Commit: 1234,
		CreateTime: time.Date(2026, 1, 2, 3, 4, 5, 6789, time.UTC), RequestID: "req_0123456789",
		Parts: []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: text}, Tokens: 246}},
	}
}

func BenchmarkCodec_Message(b *testing.B) {
	for name, text := range map[string]string{
		"small": "yes, please do", "1KiB": strings.Repeat("the quick brown fox jumps over 13 lazy dogs; ", 23)[:1024],
	} {
		m := benchMessage(text)
		value := record.New().EncodeMessage(&m)
		b.Run(name+"/encode", func(b *testing.B) {
			c := record.New()
			b.ReportAllocs()
			for b.Loop() {
				c.EncodeMessage(&m)
			}
		})
		b.Run(name+"/decode", func(b *testing.B) {
			c := record.New()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.DecodeMessage(value); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
