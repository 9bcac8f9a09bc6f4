package placement

import (
	"fmt"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func number(head *store.Head, id string) conversation.ToolCall {
	c := conversation.ToolCall{CallID: id}
	numberCall(head, &c)
	return c
}

// TestNumberCall_Id_IsItsOwnUntilItRepeats: beyond the ids that a head remembers, random characters and rising numbers tell.
func TestNumberCall_Id_IsItsOwnUntilItRepeats(t *testing.T) {
	var head store.Head
	for i, c := range []struct {
		id  string
		own bool
	}{
		{"toolu_01A09q90qw90lq917835lq9", true}, {"D681PevKs", true}, {"call_1", true}, {"functions.get:0", true}, {"c", true},
		{"call_1", false}, {"D681PevKs", false}, {"call_1", false}, {"functions.get:1", true}, {"", false}, {provider.MadeID(7), false},
	} {
		if got := number(&head, c.id); got.Unique != c.own || got.Ordinal != int32(i+1) {
			t.Errorf("call %d, %q: %+v", i+1, c.id, got)
		}
	}
	for i := range 3 * rememberedIDs {
		if c := number(&head, fmt.Sprintf("functions.get:%d", i+2)); !c.Unique {
			t.Fatalf("%q is taken for one that repeats", c.CallID)
		}
	}
	for id, own := range map[string]bool{
		"toolu_01Xk3bYq8zKq2f": true, "call_9aB3kLm2": true, "functions.get:5": false, "c": false, "again": false, "functions.put:767": false,
		"functions.put:100000": true, "call_00000000000000000000000001": false, "e1ddf1d0-5a73-4a3c-9d5e-6b1d4d0b1c52": true,
	} {
		h := head
		if c := number(&h, id); c.Unique != own {
			t.Errorf("%q far from the beginning: %v", id, c.Unique)
		}
	}
	if n := len(head.CallIDs); n != rememberedIDs*fingerprintBytes {
		t.Errorf("a head has %d bytes of fingerprints", n)
	}
}

// TestForgetCalls_TakenBack_MayComeAgain, and are met again once they are back.
func TestForgetCalls_TakenBack_MayComeAgain(t *testing.T) {
	var head store.Head
	var calls []conversation.ToolCall
	for i := range 20 {
		calls = append(calls, number(&head, fmt.Sprint("c", i)))
	}
	ForgetCalls(&head, calls[12].Ordinal)
	back := head
	for i := range 20 {
		h := head
		if c := number(&h, fmt.Sprint("c", i)); c.Unique != (i >= 12) {
			t.Errorf("c%d: %v", i, c.Unique)
		}
	}
	for i := 12; i < 20; i++ {
		RememberCall(&back, &calls[i])
	}
	if c := number(&back, "c15"); c.Unique {
		t.Error("what came back is not met again")
	}
}
