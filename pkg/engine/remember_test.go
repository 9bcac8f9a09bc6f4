package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/memorytest"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

var immediate = conversation.MemoryPolicy{Sync: conversation.SyncImmediate}

func TestMemories_Immediate_AfterDelay(t *testing.T) {
	remembering(t, embeddedLike, immediate, func(t *testing.T, b *bench, target *listener) {
		b.say(t, "c", "a")
		pass(1900 * time.Millisecond)
		wantSaid(t, target, "")
		pass(200 * time.Millisecond)
		wantSaid(t, target, "a")
		if got := b.syncOf(t, "c"); got.Lag != 0 || got.SyncedTo != 1 || got.Session != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// TestMemories_Immediate_Interval: the batches of a conversation are at least the target's interval apart.
func TestMemories_Immediate_Interval(t *testing.T) {
	limits := embeddedLike
	limits.Interval = 10 * time.Second
	remembering(t, limits, immediate, func(t *testing.T, b *bench, target *listener) {
		b.say(t, "c", "a")
		pass(3 * time.Second)
		b.say(t, "c", "b")
		pass(3 * time.Second)
		wantSaid(t, target, "a")
		pass(7 * time.Second)
		wantSaid(t, target, "a b")
	})
}

func TestMemories_Batch_ByMessagesTokensAndAge(t *testing.T) {
	remembering(t, embeddedLike, conversation.MemoryPolicy{}, func(t *testing.T, b *bench, target *listener) {
		b.say(t, "c", counted(19)...)
		pass(time.Minute)
		wantSaid(t, target, "")
		b.say(t, "c", "x")
		pass(time.Second)
		if n := len(target.texts()); n != 20 {
			t.Fatalf("%d messages at 20", n)
		}
		b.say(t, "c", words(3000))
		pass(time.Minute)
		if n := len(target.sent()); n != 1 {
			t.Fatalf("%d batches at 3,000 tokens", n)
		}
		b.say(t, "c", words(1000))
		pass(time.Second)
		if n := len(target.sent()); n != 2 {
			t.Fatalf("%d batches at 4,000 tokens", n)
		}
		b.say(t, "c", "y")
		pass(14*time.Minute + 59*time.Second)
		if n := len(target.sent()); n != 2 {
			t.Fatalf("%d batches before 15 minutes", n)
		}
		pass(2 * time.Second)
		if n := len(target.sent()); n != 3 {
			t.Fatalf("%d batches at 15 minutes", n)
		}
	})
}

func TestMemories_EndOfSession_ByCallIdleAndTTL(t *testing.T) {
	policy := conversation.MemoryPolicy{Sync: conversation.SyncEndOfSession}
	remembering(t, embeddedLike, policy, func(t *testing.T, b *bench, target *listener) {
		b.say(t, "c", "a", "b")
		pass(20 * time.Minute)
		b.say(t, "c", "c")
		pass(20 * time.Minute)
		wantSaid(t, target, "")
		session, sync, err := b.EndSession(ctx, keyOf("c"))
		if err != nil || session != 1 || len(sync) != 1 {
			t.Fatalf("session %d, %v, %v", session, sync, err)
		}
		pass(time.Second)
		wantSaid(t, target, "a b c")
		if again, _, err := b.EndSession(ctx, keyOf("c")); err != nil || again != 1 {
			t.Errorf("the same end again: session %d, %v", again, err)
		}
		b.say(t, "c", "d")
		pass(29 * time.Minute)
		wantSaid(t, target, "a b c")
		pass(2 * time.Minute)
		wantSaid(t, target, "a b c d")
		b.say(t, "c", "e")
		pass(31 * time.Minute)
		wantSaid(t, target, "a b c d e")
		var sessions []string
		for _, s := range target.sent() {
			sessions = append(sessions, s.Session[strings.LastIndexByte(s.Session, '-')+1:])
		}
		if got := fmt.Sprint(sessions); got != "[1 2 3]" {
			t.Errorf("sessions %s", got)
		}

	})
}

// TestMemories_EndOfSession_BeforeTTL: an hour before a conversation expires, it sends the rest.
func TestMemories_EndOfSession_BeforeTTL(t *testing.T) {
	policy := conversation.MemoryPolicy{Sync: conversation.SyncEndOfSession, SessionIdle: ptr(24 * time.Hour)}
	remembering(t, embeddedLike, policy, func(t *testing.T, b *bench, target *listener) {
		b.create(t, "t", "ann", conversation.Policy{TTL: ptr(3 * time.Hour)})
		b.say(t, "t", "a")
		pass(2*time.Hour - time.Minute)
		wantSaid(t, target, "")
		pass(3 * time.Minute)
		wantSaid(t, target, "a")
	})
}

// TestMemories_Sends_WhatWasSaid: nothing else is sent.
func TestMemories_Sends_WhatWasSaid(t *testing.T) {
	both := immediate
	both.SyncRoles = &[]conversation.Role{conversation.RoleUser, conversation.RoleAssistant}
	remembering(t, embeddedLike, both, func(t *testing.T, b *bench, target *listener) {
		system := text(conversation.RoleSystem, "SYSTEM")
		secret := user("SECRET")
		secret.Tags = []string{conversation.TagNoMemory}
		aborted := answer("ABORTED")
		aborted.Tags = []string{conversation.TagAborted}
		retry := user("RETRY")
		retry.Type = conversation.TypeRetryContext
		asks := call("k")
		asks.Parts = append([]conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: "looking"}}}, asks.Parts...)
		thinks := answer("thought")
		thinks.Parts = append(thinks.Parts, conversation.Part{Kind: conversation.PartReasoning, Reasoning: &conversation.Reasoning{Text: conversation.Content{Inline: "REASONING"}}})
		long := user(strings.Repeat("é", 20_000)) // in chunks
		plugin := user("mine")
		plugin.Parts = append(plugin.Parts, conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: "PLUGIN"}, Plugin: "p"})
		b.append(t, "c", system, user("hello"), asks, result("k", "RESULT"), thinks, secret, aborted, retry, long, plugin)
		pass(3 * time.Second)
		got := target.texts()
		if len(got) != 5 {
			t.Fatalf("%d: %.200q", len(got), got)
		}
		if got[0] != "hello" || got[1] != "looking" || got[2] != "thought" || got[3] != strings.Repeat("é", 1000) || got[4] != "mine" {
			t.Errorf("%.200q", got)
		}
	})
}

// TestMemories_Unit_WaitsUntilClosed: messages of a unit that may still grow are only sent when their session ends.
func TestMemories_Unit_WaitsUntilClosed(t *testing.T) {
	both := immediate
	both.SyncRoles = &[]conversation.Role{conversation.RoleUser, conversation.RoleAssistant}
	remembering(t, embeddedLike, both, func(t *testing.T, b *bench, target *listener) {
		asks := call("k")
		asks.Parts = append(asks.Parts, conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: "looking"}})
		b.append(t, "c", user("hello"), asks)
		pass(time.Minute)
		wantSaid(t, target, "hello")
		pass(31 * time.Minute)
		wantSaid(t, target, "hello looking")
	})
}

func TestMemories_NoActor_NothingIsSent(t *testing.T) {
	remembering(t, embeddedLike, immediate, func(t *testing.T, b *bench, target *listener) {
		b.say(t, "nobody", "a")
		pass(time.Hour)
		wantSaid(t, target, "")
		if got := b.syncOf(t, "nobody"); got.Reason == "" || got.Lag != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// TestMemories_LostAnswer_SameKeyAndRange: this is for a target that accepts a key only once; any other target is asked first.
func TestMemories_LostAnswer_SameKeyAndRange(t *testing.T) {
	for name, limits := range map[string]memory.Limits{"idempotent": embeddedLike, "not": mem0Like} {
		t.Run(name, func(t *testing.T) {
			remembering(t, limits, immediate, func(t *testing.T, b *bench, target *listener) {
				target.Break(firstCalls(1, "Add", memorytest.Fault{After: memory.ErrOutcomeUnknown}))
				b.say(t, "c", "a")
				pass(2500 * time.Millisecond)
				b.say(t, "c", "b")
				pass(time.Minute)
				wantSaid(t, target, "a b")
				sent := target.sent()
				switch {
				case limits.Idempotent && (len(sent) != 3 || sent[0].Key != sent[1].Key || len(sent[1].Messages) != 1):
					t.Errorf("%+v", sent)
				case !limits.Idempotent && target.asked() != "Add Settle Add":
					t.Error(target.asked())
				}
			})
		})
	}
}

// TestMemories_Unavailable_Forever: once the target is back, everything is sent in order.
func TestMemories_Unavailable_Forever(t *testing.T) {
	remembering(t, mem0Like, immediate, func(t *testing.T, b *bench, target *listener) {
		target.Break(everyCall("Add", memorytest.Fault{Before: &memory.UnavailableError{Cause: "503"}}))
		for _, s := range counted(10) {
			b.say(t, "c", s)
			pass(10 * time.Minute)
		}
		if got := b.syncOf(t, "c"); got.State != 4 || got.Lag != 10 || !strings.Contains(got.Reason, "503") || got.NextTry.IsZero() {
			t.Errorf("%+v", got)
		}
		if n := len(target.sent()); n > 60 {
			t.Errorf("%d tries in 100 minutes", n)
		}
		target.Break(nil)
		pass(40 * time.Minute)
		wantSaid(t, target, strings.Join(counted(10), " "))
		if got := b.syncOf(t, "c"); got.State != 1 || got.Reason != "" {
			t.Errorf("%+v", got)
		}
	})
}

func TestMemories_RetryAfter_IsKept(t *testing.T) {
	remembering(t, embeddedLike, immediate, func(t *testing.T, b *bench, target *listener) {
		target.Break(firstCalls(1, "Add", memorytest.Fault{Before: &memory.UnavailableError{After: 10 * time.Minute, Cause: "429"}}))
		b.say(t, "c", "a")
		pass(10 * time.Minute)
		wantSaid(t, target, "")
		pass(10 * time.Second)
		wantSaid(t, target, "a")
	})
}

// picky refuses batches with a word in them.
func TestMemories_Refused_HalvedAndSkipped(t *testing.T) {
	limits := embeddedLike
	limits.MaxMessages = 16
	policy := immediate
	remembering(t, limits, policy, func(t *testing.T, b *bench, target *listener) {
		target.Break(func(call string) memorytest.Fault {
			sent := target.sent()
			if call != "Add" || !strings.Contains(fmt.Sprint(sent[len(sent)-1].Messages), "POISON") {
				return memorytest.Fault{}
			}
			return memorytest.Fault{Before: memory.ErrRefused}
		})
		var messages []conversation.Message
		for i, s := range counted(16) {
			if i == 5 {
				s = "POISON"
			}
			messages = append(messages, user(s))
		}
		b.append(t, "c", messages...)
		pass(time.Minute)
		want := strings.Replace(strings.Join(counted(16), " "), "m5 ", "", 1)
		wantSaid(t, target, want)
		if got := b.syncOf(t, "c"); got.Skipped != 1 || got.Lag != 0 || got.State != 1 {
			t.Errorf("%+v", got)
		}
	})
}

func TestMemories_Denied_StopsAndTriesAgain(t *testing.T) {
	remembering(t, embeddedLike, immediate, func(t *testing.T, b *bench, target *listener) {
		target.Break(everyCall("Add", memorytest.Fault{Before: memory.ErrDenied}))
		b.say(t, "c", "a")
		pass(3 * time.Second)
		if got := b.syncOf(t, "c"); got.State != 5 {
			t.Errorf("%+v", got)
		}
		pass(16 * time.Minute)
		if n := len(target.sent()); n < 3 || n > 4 {
			t.Errorf("%d tries in 16 minutes", n)
		}
		target.Break(nil)
		pass(6 * time.Minute)
		wantSaid(t, target, "a")
	})
}

func TestMemories_Pending_IsSettledFirst(t *testing.T) {
	limits := mem0Like
	limits.Async = true
	remembering(t, limits, immediate, func(t *testing.T, b *bench, target *listener) {
		b.say(t, "c", "a")
		pass(3 * time.Second)
		b.say(t, "c", "b")
		pass(time.Minute)
		wantSaid(t, target, "a b")
		if got := target.asked(); got != "Add Settle Add Settle" {
			t.Error(got)
		}
	})
}

func TestMemories_Rewind_DropsAndRetracts(t *testing.T) {
	for name, limits := range map[string]memory.Limits{"by range": embeddedLike, "by lineage": mem0Like} {
		t.Run(name, func(t *testing.T) {
			remembering(t, limits, immediate, func(t *testing.T, b *bench, target *listener) {
				b.append(t, "c", user("a"), user("b"), user("c"))
				pass(3 * time.Second)
				wantSaid(t, target, "a b c")
				b.say(t, "c", "d")
				if _, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: 1}); err != nil {
					t.Fatal(err)
				}
				b.say(t, "c", "e")
				pass(10 * time.Second)
				wantSaid(t, target, "a e")
			})
		})
	}
}

func TestMemories_UndoRewind_SendsAgain(t *testing.T) {
	for name, limits := range map[string]memory.Limits{"idempotent": embeddedLike, "not": mem0Like} {
		t.Run(name, func(t *testing.T) {
			remembering(t, limits, immediate, func(t *testing.T, b *bench, target *listener) {
				b.append(t, "c", user("a"), user("b"), user("c"))
				pass(3 * time.Second)
				if _, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: 1}); err != nil {
					t.Fatal(err)
				}
				pass(3 * time.Second)
				wantSaid(t, target, "a")
				if _, err := b.UndoRewind(ctx, engine.UndoRewindRequest{Key: keyOf("c")}); err != nil {
					t.Fatal(err)
				}
				pass(10 * time.Second)
				wantSaid(t, target, "a b c")
			})
		})
	}
}

func TestMemories_Correction_ReplacesWords(t *testing.T) {
	remembering(t, mem0Like, immediate, func(t *testing.T, b *bench, target *listener) {
		b.append(t, "c", user("a"), user("b"), user("c"))
		pass(3 * time.Second)
		_, err := b.Correct(ctx, engine.CorrectRequest{Key: keyOf("c"), Index: ptr(int32(1)), Parts: []engine.CorrectedPart{{Text: "B"}}})
		if err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Second)
		wantSaid(t, target, "a B c")
	})
}

// TestMemories_LostAnswer_ThenCorrected: it is not known whether the target has the old words, so they are taken back first. It does not
// matter if that answer is lost too, or if the words are later what they were.
func TestMemories_LostAnswer_ThenCorrected(t *testing.T) {
	for name, limits := range map[string]memory.Limits{"idempotent": embeddedLike, "not": mem0Like} {
		t.Run(name, func(t *testing.T) {
			remembering(t, limits, immediate, func(t *testing.T, b *bench, target *listener) {
				lost := memorytest.Fault{After: memory.ErrOutcomeUnknown}
				target.Break(firstCalls(1, "Add", lost))
				b.append(t, "c", user("a"), user("b"))
				pass(2001 * time.Millisecond)
				target.Break(firstCalls(1, "Retract", lost))
				correct := func(s string) {
					_, err := b.Correct(ctx, engine.CorrectRequest{Key: keyOf("c"), Index: ptr(int32(1)), Parts: []engine.CorrectedPart{{Text: s}}})
					if err != nil {
						t.Fatal(err)
					}
				}
				correct("B")
				for !strings.Contains(target.asked(), "Retract") {
					pass(time.Millisecond)
				}
				correct("b")
				pass(time.Minute)
				wantSaid(t, target, "a b")
			})
		})
	}
}

// TestMemories_Edits_WithoutMeaning: what builds do to the view does not concern the memory.
func TestMemories_Edits_WithoutMeaning(t *testing.T) {
	remembering(t, embeddedLike, immediate, func(t *testing.T, b *bench, target *listener) {
		b.say(t, "c", "a")
		pass(3 * time.Second)
		b.edit(t, "c", conversation.Edit{Kind: conversation.EditRemove, Range: conversation.Range{First: 0, End: 1}},
			conversation.Edit{Kind: conversation.EditRecall, Range: conversation.Range{First: 0, End: 1}, Erases: true})
		b.say(t, "c", "b")
		pass(2 * time.Hour)
		wantSaid(t, target, "a b")
		if got := target.asked(); got != "Add Add" {
			t.Error(got)
		}
	})
}

func TestMemories_Erasure_Retracts(t *testing.T) {
	remembering(t, embeddedLike, immediate, func(t *testing.T, b *bench, target *listener) {
		b.append(t, "c", user("a"), user("b"), call("k"), result("k", "r"), user("c"))
		pass(3 * time.Second)
		b.edit(t, "c", conversation.Edit{Kind: conversation.EditParts, Range: conversation.Range{First: 3, End: 4}, Erases: true},
			conversation.Edit{Kind: conversation.EditRemove, Range: conversation.Range{First: 1, End: 2}, Erases: true})
		b.say(t, "c", "d")
		pass(3 * time.Second)
		wantSaid(t, target, "a c d")
		if got := target.asked(); got != "Add Retract Add" {
			t.Error(got)
		}
	})
}

// TestMemories_PolicyOff_IsNeverSent: what was said while nothing was to be remembered is not sent when the policy changes later.
func TestMemories_PolicyOff_IsNeverSent(t *testing.T) {
	remembering(t, embeddedLike, immediate, func(t *testing.T, b *bench, target *listener) {
		off := func(off bool) {
			t.Helper()
			if _, err := b.Update(ctx, engine.UpdateRequest{Key: keyOf("c"), Change: func(i store.Info) (store.Info, error) {
				i.Policy.Memory.On = ptr(!off)
				return i, nil
			}}); err != nil {
				t.Fatal(err)
			}
		}
		b.say(t, "c", "a")
		pass(3 * time.Second)
		off(true)
		b.say(t, "c", "off")
		pass(3 * time.Second)
		off(false)
		b.say(t, "c", "b")
		pass(time.Minute)
		wantSaid(t, target, "a b")
		off(true)
		if _, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: 2}); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		wantSaid(t, target, "a") // what is taken back is, also while nothing is sent
	})
}
