package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

var errEnough = errors.New("enough")

// watch takes so many events from a token on.
func (b *bench) watch(t *testing.T, id, token string, n int) []engine.EventAt {
	t.Helper()
	var got []engine.EventAt
	timed, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	err := b.Watch(timed, keyOf(id), token, func(e engine.EventAt) error {
		if got = append(got, e); len(got) == n {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatalf("after %d of %d events: %v", len(got), n, err)
	}
	return got
}

// eventful is a conversation with six events in four commits, one of which made two.
func eventful(t *testing.T) *bench {
	b := newBench(1 << 20)
	b.append(t, "c", text(conversation.RoleUser, "Find x."))
	b.append(t, "c", call("1", "2"), result("1", strings.Repeat("long ", 2000)), result("2", "short"))
	b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	b.append(t, "c", text(conversation.RoleUser, "Go on."))
	return b
}

func TestEngine_Watch_FromTheStart_InOrderOfCommits(t *testing.T) {
	b := eventful(t)
	type seen struct {
		kind  conversation.EventType
		index int32
	}
	var got []seen
	for _, e := range b.watch(t, "c", "", 6) {
		got = append(got, seen{e.Event.Type, e.Event.Index})
	}
	added := conversation.EventAdded
	want := []seen{{added, 0}, {added, 1}, {added, 2}, {added, 3}, {conversation.EventClipped, 2}, {added, 4}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestEngine_Watch_FromAnyToken_NoGapAndNoRepeat(t *testing.T) {
	b := eventful(t)
	all := b.watch(t, "c", "", 6)
	for i := range all[:5] {
		if got, want := b.watch(t, "c", all[i].Token, 5-i), all[i+1:]; !slices.Equal(got, want) {
			t.Errorf("behind event %d: got %v, want %v", i, got, want)
		}
	}
}

func TestEngine_Watch_AtTheEnd_WaitsForTheNext(t *testing.T) {
	b := eventful(t)
	last := b.watch(t, "c", "", 6)[5].Token
	go func() {
		time.Sleep(20 * time.Millisecond)
		_, _ = b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{text(conversation.RoleUser, "News.")}})
	}()
	if got := b.watch(t, "c", last, 1); got[0].Event.Index != 5 {
		t.Errorf("got message %d", got[0].Event.Index)
	}
}

func TestEngine_Watch_TokenTooOld_NamesTheOldest(t *testing.T) {
	b := eventful(t)
	first := b.watch(t, "c", "", 6)[0].Token
	b.now = b.now.Add(8 * 24 * time.Hour)
	b.append(t, "c", text(conversation.RoleUser, "A week later."))
	err := b.Watch(ctx, keyOf("c"), first, func(engine.EventAt) error { return errEnough })
	if conversation.KindOf(err) != conversation.ResumeTokenExpired {
		t.Fatalf("got %v", err)
	}
	oldest := err.Error()[strings.LastIndexByte(err.Error(), ' ')+1:]
	for _, token := range []string{oldest, ""} {
		if got := b.watch(t, "c", token, 1); got[0].Event.Index != 5 {
			t.Errorf("token %q: message %d", token, got[0].Event.Index)
		}
	}
}

func TestEngine_Watch_BadToken_Refused(t *testing.T) {
	b := eventful(t)
	other := b.watch(t, "c", "", 1)[0].Token
	b.append(t, "d", text(conversation.RoleUser, "Another conversation."))
	for token, want := range map[string]conversation.Kind{
		"?": conversation.InvalidField, "AAAA": conversation.InvalidField, other: conversation.ResumeTokenExpired,
	} {
		err := b.Watch(ctx, keyOf("d"), token, func(engine.EventAt) error { return nil })
		if conversation.KindOf(err) != want {
			t.Errorf("token %q: got %v, want %v", token, err, want)
		}
	}
	if err := b.Watch(ctx, keyOf("none"), "", nil); conversation.KindOf(err) != conversation.ConversationNotFound {
		t.Errorf("unknown conversation: got %v", err)
	}
}
