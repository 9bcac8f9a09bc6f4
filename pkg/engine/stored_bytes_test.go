package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// wantBytes fails unless the head of a conversation counts so many bytes.
func (b *bench) wantBytes(t *testing.T, id, when string, want int) {
	t.Helper()
	if got := b.head(t, id).Bytes; got != int64(want) {
		t.Errorf("%s the head counts %d bytes, want %d", when, got, want)
	}
}

// TestHead_Bytes_FollowsTheRecord: what callers gave counts, wherever it is stored, and what is gone does not. test/property checks
// this for any sequence of calls.
func TestHead_Bytes_FollowsTheRecord(t *testing.T) {
	t.Parallel()
	b, arguments := newEager(), len(call("k").Parts[0].Call.Arguments.Inline)
	held := len("go") + arguments + len(`{"a":1}`) + 50_000 + 40_000 + len(`{"u":"é"}`)
	said := user("go")
	said.Metadata = `{"a":1}`
	b.append(t, "c", said, call("k"), resultLiving("k", long("result", 50_000), erasing(removed(0))))
	if _, err := b.keep("c", "run", prose(1, 40_000)[:40_000], func(r *engine.StoreContentRequest) { r.Metadata = `{"u":"é"}` }); err != nil {
		t.Fatal(err)
	}
	b.wantBytes(t, "c", "appended and stored,", held)
	b.correct(t, "c", 0, 0, "stop")
	held += len("stop")
	b.wantBytes(t, "c", "corrected,", held)
	copied, err := b.imports("copy", b.export(t, "c"))
	if err != nil || copied.Head.Bytes != int64(held) {
		t.Errorf("a copy counts %d bytes (%v), want %d", copied.Head.Bytes, err, held)
	}
	b.turn(t, "c")
	b.append(t, "c", answer("so"), user("on"))
	b.turn(t, "c")
	held += len("so") + len("on") - 50_000
	b.wantBytes(t, "c", "erased,", held)
	b.ends(t, "c", "run", 0)
	b.sweep(t)
	b.wantBytes(t, "c", "its run over,", held-40_000)
	if _, err := b.Delete(ctx, keyOf("c"), engine.Request{}); err != nil {
		t.Fatal(err)
	}
	b.wantBytes(t, "c", "deleted,", 0)
}

// TestHead_Bytes_CorrectedMessageErased: the words of a correction are erased with the text they corrected, inline and in chunks.
func TestHead_Bytes_CorrectedMessageErased(t *testing.T) {
	t.Parallel()
	kept := len("go") + len(call("k").Parts[0].Call.Arguments.Inline) + len("next")
	for _, size := range []int{400, 40_000} {
		b := newEager()
		b.append(t, "c", user("go"), call("k"), resultLiving("k", hiding(size), erasing(compacted(1, 100))), user("next"))
		b.turn(t, "c")
		b.correct(t, "c", 2, 0, long("other", size))
		b.wantBytes(t, "c", "corrected,", kept+2*size)
		for range 3 {
			b.append(t, "c", answer("a"), user("b"))
			b.turn(t, "c")
		}
		b.wantBytes(t, "c", "erased,", kept+6)
	}
}

// TestHead_Bytes_SharedByMessagesErasedTogether: bytes that two results share count once, and go when one build erases both.
func TestHead_Bytes_SharedByMessagesErasedTogether(t *testing.T) {
	t.Parallel()
	b := newEager()
	b.cites(t, "c", nil)
	whole := prose(7, 40_000)
	for _, id := range []string{"k", "j"} {
		b.append(t, "c", call(id), resultLiving(id, whole, erasing(removed(1))))
	}
	small := 2 * len(call("k").Parts[0].Call.Arguments.Inline)
	b.wantBytes(t, "c", "cited twice,", small+len(whole))
	ref := b.contents(t, "c")
	for range 3 {
		b.append(t, "c", user("on"))
		b.turn(t, "c")
		small += len("on")
	}
	b.wantBytes(t, "c", "erased,", small)
	if left := b.chunks(t, "c"); left != 0 || len(ref) != 2 || ref[0].ID != ref[1].ID {
		t.Errorf("%d contents of %v are left in chunks", left, ref)
	}
}

// TestHead_Bytes_FromBeforeTheCount: text recorded before heads counted is not included, and erasing it does not make the count
// negative.
func TestHead_Bytes_FromBeforeTheCount(t *testing.T) {
	t.Parallel()
	b := newEager()
	b.append(t, "c", user("go"), call("k"), resultLiving("k", strings.Repeat("x", 500), erasing(removed(0))))
	b.rewriteHead(t, "c", func(h *engine.Head) { h.Bytes = 0 })
	for range 2 {
		b.append(t, "c", user("on"))
		b.turn(t, "c")
	}
	if got := b.head(t, "c").Bytes; got < 0 || got > 4 {
		t.Errorf("the head counts %d bytes", got)
	}
}

// TestHead_Bytes_BegunAnew: a conversation that begins anew has none of the bytes of the one before it.
func TestHead_Bytes_BegunAnew(t *testing.T) {
	t.Parallel()
	b := newEager()
	ttl := conversation.Policy{TTL: ptr(time.Minute), TTLWithoutTombstone: ptr(true)}
	if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c"), Info: engine.Info{Policy: ttl}}); err != nil {
		t.Fatal(err)
	}
	b.append(t, "c", user("many words"))
	b.now = b.now.Add(time.Hour)
	b.append(t, "c", user("few"))
	b.wantBytes(t, "c", "begun anew,", len("few"))
}
