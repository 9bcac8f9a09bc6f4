package engine_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// everything returns all that a conversation's partition answers, and its export.
func (b *bench) everything(t testing.TB, id string) string {
	t.Helper()
	snap, err := b.store.Read(ctx, keyOf(id), store.Query{
		Info: true, Ranges: []store.MessageRange{{Range: conversation.Range{End: 1 << 30}}}, Edits: &store.EditRange{},
		Manifest: &store.ManifestRange{Limit: 1000}, SlotsOf: "build/", Since: &store.Since{Limit: 10_000},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	if err := enc.Encode(snap); err != nil {
		t.Fatal(err)
	}
	if err := enc.Encode(b.export(t, id)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const secret = "SECRET-7731"

// hiding returns a text of the given length in characters. No compaction shows its end.
func hiding(chars int) string { return long("result", chars-len(secret)) + secret }

// wantErased fails unless a part of a message is erased, its length and a keyed hash stay, and nothing holds its text.
func (b *bench) wantErased(t testing.TB, id string, index int32, part int, original string) {
	t.Helper()
	m := b.records(t, id)[index]
	c := conversation.Contents(m.Parts[part : part+1])[0]
	if c.Erased == nil || c.Inline != "" || c.Ref != nil {
		t.Fatalf("message %d is not erased: %+v", index, c)
	}
	if c.Erased.Bytes != int64(len(original)) || c.Erased.Chars != int64(len([]rune(original))) {
		t.Errorf("lengths %+v, want those of %d bytes", c.Erased, len(original))
	}
	if c.Erased.Hash == sha256.Sum256([]byte(original)) || c.Erased.Hash == ([32]byte{}) {
		t.Error("the hash is not keyed")
	}
	if all := b.everything(t, id); strings.Contains(all, secret) {
		t.Errorf("the store still holds it: %s", abridged(all[strings.Index(all, secret)-200:]))
	}
	_, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf(id), Index: &index})
	expect(t, err, conversation.OriginalErased)
	// The rest of the message can still be expanded.
	left := slices.ContainsFunc(m.Parts, func(p conversation.Part) bool { return !conversation.Erased([]conversation.Part{p}) })
	back, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf(id), Index: &index, ReturnOnly: true})
	if !left {
		expect(t, err, conversation.OriginalErased)
	} else if err != nil || conversation.Contents(back.Message.Message.Parts[part : part+1])[0].Inline != "" {
		t.Errorf("RETURN_ONLY: %+v, %v", back, err)
	}
	shown, err := b.Message(ctx, keyOf(id), index)
	if err != nil || conversation.Contents(shown.Message.Parts[part : part+1])[0].Inline != "" {
		t.Errorf("GetMessage: %+v, %v", shown, err)
	}
}

// TestEngine_Build_Erases: preserve_original_content = false erases the original when it is due, in every mode (behaviour §2, §5). The
// view shows what the mode leaves, without the sentence about expand_message. Events and manifests stay, and say what they cannot rebuild.
func TestEngine_Build_Erases(t *testing.T) {
	small, large := hiding(4000), hiding(40_000) // 32 KiB and more lie in chunks
	short := func(s string) string {
		return fmt.Sprintf("%s...\n\n[Compacted: first 100 of %d characters shown.]", s[:100], len(s))
	}
	words := user(small)
	words.Expiration = erasing(compacted(1, 100))
	for _, tt := range []struct {
		name     string
		original string
		m        conversation.Message
		want     string
		window   int32
	}{
		{"first characters", small, resultLiving("k", small, erasing(compacted(1, 100))), short(small), room},
		{"chunks", large, resultLiving("k", large, erasing(compacted(1, 100))), short(large), room},
		{"removed", small, resultLiving("k", small, erasing(removed(1))), "", room},
		{"removed chunks", large, resultLiving("k", large, erasing(removed(1))), "", room},
		{"an extract", small, resultLiving("k", small, erasing(summarized(1, 100))), "[Extract of 4000 characters.]\n\n" + small[:100], room},
		{"words", small, words, short(small), room},
		{"clipped before", small, resultLiving("k", small, erasing(compacted(1, 100))), short(small), 1000},
		{"clipped and removed", large, resultLiving("k", large, erasing(removed(1))), "", 1000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newEager()
			b.append(t, "c", user("go"))
			if tt.m.Role == conversation.RoleTool {
				b.append(t, "c", call("k"))
			} else {
				b.append(t, "c", answer("well"))
			}
			b.append(t, "c", tt.m)
			contents := b.contents(t, "c")
			if (len(contents) > 0) != (tt.original == large) {
				t.Fatalf("%d contents in chunks", len(contents))
			}
			first := b.turn(t, "c", within(tt.window))
			events := b.watch(t, "c", "", 3)
			b.append(t, "c", user("more"))
			if !strings.Contains(b.everything(t, "c"), secret) && len(tt.original) == 4000 {
				t.Fatal("the test looks in the wrong place")
			}
			r := b.turn(t, "c", within(tt.window))
			wantShown(t, r, 2, tt.want)
			b.wantErased(t, "c", 2, 0, tt.original)
			b.wantNothingRebuilt(t, "c", first, r)
			snap, err := b.store.Read(ctx, keyOf("c"), store.Query{Contents: contents})
			if err != nil || slices.ContainsFunc(snap.Contents, func(c []byte) bool { return c != nil }) {
				t.Errorf("contents in chunks are still there (%v)", err)
			}
			for i, e := range b.watch(t, "c", "", 3) {
				if e != events[i] {
					t.Errorf("event %d became %+v, was %+v", i, e, events[i])
				}
			}
			b.append(t, "c", user("on"))
			wantShown(t, b.turn(t, "c", within(tt.window)), 2, tt.want)
		})
	}
}

// contents returns the contents of a conversation that are stored in chunks.
func (b *bench) contents(t testing.TB, id string) (out []store.ContentRange) {
	t.Helper()
	snap, err := b.store.Read(ctx, keyOf(id), store.Query{Ranges: []store.MessageRange{{Range: conversation.Range{End: 1 << 30}}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range snap.Messages {
		for _, c := range conversation.Contents(snap.Messages[i].Parts) {
			if c.Ref != nil {
				out = append(out, store.ContentRange{ID: c.Ref.ID, Length: -1})
			}
		}
	}
	return out
}

// wantNothingRebuilt requires that the manifest before the erasure says that it cannot be rebuilt, and that the one after it can be.
func (b *bench) wantNothingRebuilt(t *testing.T, id string, before, after *engine.BuildResult) {
	t.Helper()
	for _, f := range []conversation.Format{conversation.FormatUnspecified, conversation.FormatNeutral} {
		_, err := b.Manifest(ctx, keyOf(id), before.Manifest.Seq, f)
		expect(t, err, conversation.ManifestNotRebuildable)
	}
	m, err := b.Manifest(ctx, keyOf(id), after.Manifest.Seq, conversation.FormatUnspecified)
	if err != nil || m.SHA256 != after.SHA256 {
		t.Errorf("the build that erased: %v", err)
	}
}

// TestEngine_Build_ErasesWherever: what is due is erased in its turn, in view or not, at any budget, whether edits are held back or not.
func TestEngine_Build_ErasesWherever(t *testing.T) {
	coalesced := by(conversation.Policy{Rewrite: conversation.RewritePolicy{Mode: conversation.RewriteCoalesced}})
	none := func(*engine.BuildRequest) {}
	for _, tt := range []struct {
		name   string
		e      *conversation.Expiration
		budget int32
		change func(*engine.BuildRequest)
	}{
		{"in view", compacted(1, 100), room, none},
		{"in view, coalesced", compacted(1, 100), room, coalesced},
		{"before the window", compacted(1, 100), 1500, none},
		{"before the window, removed", removed(1), 1500, none},
		{"before the window, a summary", summarized(1, 100), 1500, coalesced},
		{"at another budget", removed(1), 20_000, none},
		{"in a turn far ahead", removed(1), room, func(r *engine.BuildRequest) { r.Turn = ptr(int32(700)) }},
		{"with the policy off", compacted(1, 100), room, by(conversation.Policy{Expiration: conversation.ExpirationPolicy{Off: ptr(true)}})},
		{"removed with the policy off", removed(1), 1500, by(conversation.Policy{Expiration: conversation.ExpirationPolicy{Off: ptr(true)}})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newEager()
			whole := hiding(3000)
			b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, erasing(tt.e)))
			b.turn(t, "c", within(3100))
			b.append(t, "c", answer(words(300)), user(words(300)), answer(words(300)), user("last"))
			b.turn(t, "c", within(tt.budget), tt.change)
			b.wantErased(t, "c", 2, 0, whole)
			snap, err := b.store.Read(ctx, keyOf("c"), store.Query{SlotsOf: "build/erase"})
			if err != nil || len(snap.Slots) != 0 {
				t.Errorf("erasures that wait: %s, %v", snap.Slots["build/erase"], err)
			}
		})
	}
}

// TestEngine_Build_ErasureWaits: nothing is erased in the newest unit, after an expansion, under disable, or while an override gives more
// time. It is erased when none of that holds any more, wherever the message is by then.
func TestEngine_Build_ErasureWaits(t *testing.T) {
	whole := hiding(3000)
	expand := func(b *bench) error {
		_, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(2))})
		return err
	}
	later := overriding(conversation.ExpirationOverride{Expiration: conversation.Expiration{Turns: ptr(int32(50))}})
	for _, tt := range []struct {
		name   string
		change func(*engine.BuildRequest)
		push   bool // the message moves before the window meanwhile
	}{
		{"disabled", overriding(conversation.ExpirationOverride{Disable: true}), false},
		{"disabled, and left behind", overriding(conversation.ExpirationOverride{Disable: true}), true},
		{"more time", later, false},
		{"more time, and left behind", later, true},
		{"not erased by override", overriding(conversation.ExpirationOverride{Expiration: conversation.Expiration{PreserveOriginal: ptr(true)}}), false},
		{"no mode by override", overriding(conversation.ExpirationOverride{Expiration: conversation.Expiration{Mode: conversation.ExpirationNone}}), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newEager()
			b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, erasing(compacted(0, 100))))
			wantShown(t, b.turn(t, "c"), 2, whole) // it is in the newest unit
			b.append(t, "c", user("more"))
			for range 3 {
				b.turn(t, "c", tt.change)
				if got := b.records(t, "c")[2].Parts[0].Result.Text; got.Inline != whole {
					t.Fatalf("erased: %+v", got)
				}
			}
			if tt.push {
				b.append(t, "c", answer(words(600)), user("on"))
				r := b.turn(t, "c", tt.change, within(1000))
				wantShown(t, r, 2, "")
			}
			b.turn(t, "c", within(1000))
			b.wantErased(t, "c", 2, 0, whole)
		})
	}
	b := newEager()
	b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, erasing(compacted(3, 100))), answer("well"))
	b.turn(t, "c", overriding(conversation.ExpirationOverride{Expiration: conversation.Expiration{Turns: ptr(int32(0)), PreserveOriginal: ptr(true)}}))
	if err := expand(b); err != nil { // in turn 1: due in 5, not in 4
		t.Fatal(err)
	}
	for range 3 {
		wantShown(t, b.turn(t, "c"), 2, whole)
	}
	b.turn(t, "c")
	b.wantErased(t, "c", 2, 0, whole)
}

// TestEngine_Build_ErasesOneOfSeveral: results of one message have lifetimes of their own.
func TestEngine_Build_ErasesOneOfSeveral(t *testing.T) {
	b := newEager()
	both := results("k", "j", "l")
	for i, e := range []*conversation.Expiration{erasing(compacted(0, 100)), nil, erasing(removed(4))} {
		both.Parts[i].Result.Text.Inline, both.Parts[i].Result.Expiration = hiding(3000), e
	}
	both.Parts[1].Result.Text.Inline = "kept in full"
	b.append(t, "c", user("go"), call("k", "j", "l"), both, answer("done"))
	r := b.turn(t, "c")
	whole := hiding(3000)
	wantShown(t, r, 2, whole[:100]+"...\n\n[Compacted: first 100 of 3000 characters shown.]|kept in full|"+whole)
	for range 3 {
		b.turn(t, "c")
	}
	m := b.records(t, "c")[2]
	if m.Parts[0].Result.Text.Erased == nil || m.Parts[1].Result.Text.Inline != "kept in full" || m.Parts[2].Result.Text.Inline != whole {
		t.Fatalf("%+v", m.Parts)
	}
	r = b.turn(t, "c")
	wantShown(t, r, 2, whole[:100]+"...\n\n[Compacted: first 100 of 3000 characters shown.]|kept in full|[Expired tool result removed.]")
	b.wantErased(t, "c", 2, 2, whole)
}

// TestEngine_Build_ErasesMedia: nothing but a line stays of erased media, including media without weight.
func TestEngine_Build_ErasesMedia(t *testing.T) {
	b := newEager()
	if err := b.PutModelProfile(ctx, "default", conversation.ModelProfile{Model: "light", MediaTokens: ptr(int32(0))}, engine.Request{}); err != nil {
		t.Fatal(err)
	}
	picture := &conversation.Media{MIMEType: "image/png", Data: conversation.Content{Inline: secret}}
	m := conversation.Message{Role: conversation.RoleUser, Model: "light", Parts: []conversation.Part{{Kind: conversation.PartMedia, Media: picture}}}
	tool := result("k", "")
	tool.Parts[0].Result.Output = conversation.OutputParts
	tool.Parts[0].Result.Parts = []conversation.ResultPart{{Text: conversation.Content{Inline: "a chart"}}, {Media: picture}}
	tool.Parts[0].Result.Expiration = erasing(compacted(0, 100))
	b.append(t, "c", living(m, erasing(compacted(0, 100))), call("k"), tool, answer("done"))
	r := b.turn(t, "c")
	wantShown(t, r, 0, "[Media: image/png, 11 bytes]")
	wantShown(t, r, 2, "a chart\n[Media: image/png, 11 bytes]")
	if b.everything(t, "c"); strings.Contains(b.everything(t, "c"), secret) || strings.Contains(b.everything(t, "c"), "U0VDUkVUL") {
		t.Error("the store still holds it")
	}
}

// TestEngine_Build_ErasedIsNotClipped: a build does not clip what it erases: a clip would show the text's end.
func TestEngine_Build_ErasedIsNotClipped(t *testing.T) {
	b := newEager()
	whole := hiding(8000)
	b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, erasing(compacted(0, 2000))), answer("done"))
	r := b.turn(t, "c", within(1000)) // a share of 250 tokens
	wantShown(t, r, 2, whole[:2000]+"...\n\n[Compacted: first 2000 of 8000 characters shown.]")
	b.wantErased(t, "c", 2, 0, whole)
}

// TestEngine_Build_ErasedByAnother: a window in another process' memory does not keep what was erased.
func TestEngine_Build_ErasedByAnother(t *testing.T) {
	for _, chars := range []int{4000, 40_000} {
		b := newEager()
		other := lifeBench(b.store, nil)
		other.ids.Store(1 << 32)
		whole := hiding(chars)
		b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, erasing(compacted(1, 100))), answer("done"))
		other.turn(t, "c")
		b.append(t, "c", user("next"))
		b.turn(t, "c")
		b.append(t, "c", user("last"))
		before := b.head(t, "c").EditSeq
		wantShown(t, other.turn(t, "c"), 2, fmt.Sprintf("%s...\n\n[Compacted: first 100 of %d characters shown.]", whole[:100], chars))
		if got := b.head(t, "c").EditSeq; got != before {
			t.Errorf("%d edits, %d before", got, before)
		}
	}
}

// TestEngine_Append_TooManyErasures: at most 2,048 messages may wait to be erased.
func TestEngine_Append_TooManyErasures(t *testing.T) {
	b := newEager()
	var many []conversation.Message
	for range 2048 {
		many = append(many, living(user("x"), erasing(removed(5))))
	}
	b.append(t, "c", many...)
	before := b.head(t, "c")
	_, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{living(user("x"), erasing(removed(5)))}})
	if expect(t, err, conversation.LimitExceeded); b.head(t, "c").Version != before.Version {
		t.Error("a refused append wrote something")
	}
	b.append(t, "c", user("without"), pinned(living(user("x"), erasing(removed(5)))))
	b.turn(t, "c", func(r *engine.BuildRequest) { r.Turn = ptr(int32(6)) })
	b.append(t, "c", living(user("x"), erasing(removed(5))))
}

// TestEngine_Import_CarriesErasures: erasures that are scheduled are also made in the copy.
func TestEngine_Import_CarriesErasures(t *testing.T) {
	b := newEager()
	whole := hiding(3000)
	b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, erasing(removed(1))), answer(words(900)), user("last"))
	b.turn(t, "c", within(1000))
	other := lifeBench(memory.New(memory.Options{}), nil)
	if _, err := other.imports("c", b.export(t, "c")); err != nil {
		t.Fatal(err)
	}
	for _, x := range []*bench{b, other} {
		x.turn(t, "c", within(1000))
		x.wantErased(t, "c", 2, 0, whole)
	}
	// The export of an erased text says that it was erased.
	if _, err := b.imports("again", b.export(t, "c")); err != nil {
		t.Fatal(err)
	}
	b.wantErased(t, "again", 2, 0, whole)
}
