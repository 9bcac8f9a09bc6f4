package conversation_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func TestExpiration_Says_WhatItDoes(t *testing.T) {
	const none, remove, compact = conversation.ExpirationNone, conversation.ExpirationRemove, conversation.ExpirationCompact
	now, yes, no := new(int32), new(true), new(bool)
	for _, tt := range []struct {
		name            string
		e               *conversation.Expiration
		expires, erases bool
	}{
		{"none at all", nil, false, false},
		{"nothing set", &conversation.Expiration{}, false, false},
		{"turns without a mode", &conversation.Expiration{Turns: now, PreserveOriginal: no}, false, false},
		{"turns that do nothing", &conversation.Expiration{Turns: now, Mode: none, PreserveOriginal: no}, false, false},
		{"a mode without turns", &conversation.Expiration{Mode: remove, PreserveOriginal: no}, false, false},
		{"removed after no turn", &conversation.Expiration{Turns: now, Mode: remove}, true, false},
		{"compacted", &conversation.Expiration{Turns: now, Mode: compact, PreserveOriginal: yes}, true, false},
		{"compacted and erased", &conversation.Expiration{Turns: now, Mode: compact, PreserveOriginal: no}, true, true},
		{"removed and erased", &conversation.Expiration{Turns: new(int32(9)), Mode: remove, PreserveOriginal: no}, true, true},
	} {
		if got := tt.e.Expires(); got != tt.expires {
			t.Errorf("%s: expires %v", tt.name, got)
		}
		if got := tt.e.Erases(); got != tt.erases {
			t.Errorf("%s: erases %v", tt.name, got)
		}
	}
}

func TestExpiration_Length_IsFiveHundredUnlessSet(t *testing.T) {
	for want, length := range map[int]*int32{500: nil, 0: new(int32), 7: new(int32(7))} {
		if got := (&conversation.Expiration{CompactLength: length}).Length(); got != want {
			t.Errorf("length %d, want %d", got, want)
		}
	}
}

// expirationOf sets the fields of an expiration that a mask selects, each to a different value.
func expirationOf(mask int, source conversation.ExpirationSource, n int32) conversation.Expiration {
	e := conversation.Expiration{Source: source}
	for bit, set := range []func(){
		func() { e.Turns = &n },
		func() { e.Mode = conversation.ExpirationMode(n) },
		func() { e.CompactMode = conversation.CompactMode(n) },
		func() { e.CompactLength = &n },
		func() { e.CompactPromptID = fmt.Sprint(n) },
		func() { e.PreserveOriginal = new(n > 1) },
	} {
		if mask>>bit&1 == 1 {
			set()
		}
	}
	return e
}

// TestExpiration_Or_EveryFieldByItself: fields that are set stay, and the others come from the next one. The source is that
// of the first one that sets anything.
func TestExpiration_Or_EveryFieldByItself(t *testing.T) {
	const mine, next = conversation.SourceOverride, conversation.SourceTool
	for mask := range 1 << 6 {
		for other := range 1 << 6 {
			got := expirationOf(mask, mine, 1).Or(expirationOf(other, next, 2))
			want := expirationOf(mask, mine, 1)
			rest := expirationOf(other&^mask, next, 2)
			w, r := reflect.ValueOf(&want).Elem(), reflect.ValueOf(rest)
			for i := range w.NumField() {
				if w.Field(i).IsZero() {
					w.Field(i).Set(r.Field(i))
				}
			}
			if mask == 0 {
				want.Source = next
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("set %06b, next %06b: got %+v, want %+v", mask, other, got, want)
			}
		}
	}
}
