package engine_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func appendOnce(b *bench, id, content string) (*engine.AppendResult, error) {
	return b.Append(ctx, engine.AppendRequest{
		Key: keyOf("c"), Messages: []conversation.Message{user(content)}, Request: request("AppendMessage", id, content),
	})
}

// TestEngine_Append_SameRequestID: the first outcome for the same content, an error for other content, nothing after 24 hours
// (behaviour §3.2).
func TestEngine_Append_SameRequestID(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("before"))
	first, err := appendOnce(b, "r1", "hello")
	if err != nil {
		t.Fatal(err)
	}
	b.append(t, "c", user("after"))
	version := b.head(t, "c").Version
	again, err := appendOnce(b, "r1", "hello")
	if err != nil || !again.Duplicate || again.Messages[0].Index != 1 || again.Messages[0].ID != "m1" || again.Revision != first.Revision ||
		again.Messages[0].RequestID != "r1" {
		t.Errorf("again: %+v, %v", again, err)
	}
	_, err = appendOnce(b, "r1", "other")
	expect(t, err, conversation.RequestIDReused)
	if got := b.head(t, "c").Version; got != version {
		t.Errorf("retries moved the version from %d to %d", version, got)
	}
	b.now = b.now.Add(24*time.Hour - time.Second)
	if again, err = appendOnce(b, "r1", "hello"); err != nil || !again.Duplicate {
		t.Errorf("a second before the end: %+v, %v", again, err)
	}
	b.now = b.now.Add(time.Second)
	if again, err = appendOnce(b, "r1", "other"); err != nil || again.Duplicate || again.Messages[0].Index != 3 {
		t.Errorf("forgotten: %+v, %v", again, err)
	}
}

func TestEngine_RequestID_PerRPCAndConversation(t *testing.T) {
	b := newBench(0)
	if _, err := appendOnce(b, "r", "hello"); err != nil {
		t.Fatal(err)
	}
	r, err := b.ask("c", 1000, func(r *engine.BuildRequest) { r.Request = request("BuildContext", "r", "x") })
	if err != nil || r.Duplicate {
		t.Errorf("the id of another RPC: %+v, %v", r, err)
	}
	other, err := b.Append(ctx, engine.AppendRequest{
		Key: keyOf("d"), Messages: []conversation.Message{user("x")}, Request: request("AppendMessage", "r", "x"),
	})
	if err != nil || other.Duplicate {
		t.Errorf("the id of another conversation: %+v, %v", other, err)
	}
}

// TestEngine_RequestID_OfARefusedCall: only committed outcomes are remembered.
func TestEngine_RequestID_OfARefusedCall(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("u"), call("a"))
	ask := func(r *engine.BuildRequest) { r.Request = request("BuildContext", "r", "same") }
	_, err := b.ask("c", 1000, ask)
	expect(t, err, conversation.PendingToolCalls)
	b.append(t, "c", result("a", "now"))
	if r, err := b.ask("c", 1000, ask); err != nil || r.Duplicate || r.Turn != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestEngine_Build_SameRequestIDRebuildsTheFirst(t *testing.T) {
	b := newBench(1 << 20)
	b.append(t, "c", user("one"))
	ask := func(r *engine.BuildRequest) { r.Request = request("BuildContext", "r", "same") }
	first := b.asked(t, "c", 1000, ask)
	b.append(t, "c", answer("two"), user("three"))
	version := b.head(t, "c").Version
	again := b.asked(t, "c", 1000, ask)
	if !again.Duplicate || again.Turn != 1 || again.Manifest.Seq != first.Manifest.Seq || again.SHA256 != first.SHA256 ||
		!bytes.Equal(again.MessagesJSON, first.MessagesJSON) || again.Revision != first.Revision || again.Tokens.Total != first.Tokens.Total {
		t.Errorf("first %+v\nagain %+v", first, again)
	}
	if b.head(t, "c").Version != version {
		t.Error("a retry committed something")
	}
	_, err := b.ask("c", 1000, func(r *engine.BuildRequest) { r.Request = request("BuildContext", "r", "other") })
	expect(t, err, conversation.RequestIDReused)
}

func TestEngine_CreateUpdateDelete_SameRequestID(t *testing.T) {
	b := newBench(0)
	create := engine.CreateRequest{Key: keyOf("c"), Info: store.Info{Title: "one"}, Request: request("CreateConversation", "r", "one")}
	first, err := b.Create(ctx, create)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.Create(ctx, create); err != nil || again.Head.Incarnation != first.Head.Incarnation {
		t.Errorf("created again: %+v, %v", again, err)
	}
	create.Request.Digest[0]++
	_, err = b.Create(ctx, create)
	expect(t, err, conversation.RequestIDReused)
	create.Request = engine.Request{}
	_, err = b.Create(ctx, create)
	expect(t, err, conversation.ConversationExists)

	changes := 0
	update := engine.UpdateRequest{Key: keyOf("c"), Request: request("UpdateConversation", "r", "two"), Change: func(i store.Info) (store.Info, error) {
		changes++
		i.Title = "two"
		return i, nil
	}}
	for range 2 {
		if got, err := b.Update(ctx, update); err != nil || got.Info.Title != "two" || got.Head.Revision != 2 {
			t.Errorf("updated: %+v, %v", got, err)
		}
	}
	if changes != 1 {
		t.Errorf("changed %d times", changes)
	}
	until, err := b.Delete(ctx, keyOf("c"), request("DeleteConversation", "r", ""))
	if err != nil || !until.Equal(b.now.Add(30*24*time.Hour)) {
		t.Errorf("deleted until %v, %v", until, err)
	}
	b.now = b.now.Add(time.Hour)
	if again, err := b.Delete(ctx, keyOf("c"), request("DeleteConversation", "r", "")); err != nil || !again.Equal(until) {
		t.Errorf("deleted again until %v, %v", again, err)
	}
	_, err = b.Delete(ctx, keyOf("c"), engine.Request{})
	expect(t, err, conversation.ConversationDeleted)
}

// TestEngine_Delete_LeavesTombstone: everything but CreateConversation answers that it is deleted, and a new incarnation shares
// nothing with the old (behaviour §3.5).
func TestEngine_Delete_LeavesTombstone(t *testing.T) {
	b := newBench(1 << 20)
	if _, err := appendOnce(b, "r", "old"); err != nil {
		t.Fatal(err)
	}
	old := b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	if _, err := b.Delete(ctx, keyOf("c"), engine.Request{}); err != nil {
		t.Fatal(err)
	}
	b.everythingFails(t, conversation.ConversationDeleted)
	if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c")}); err != nil {
		t.Fatal(err)
	}
	r, err := appendOnce(b, "r", "new, under the same request id")
	if err != nil || r.Duplicate || r.Messages[0].Index != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	got := b.build(t, "c", conversation.FormatOpenAIChat, 1000)
	if got.Turn != 1 || got.Manifest.Seq != 1 || got.Prefix.BrokenBy != engine.BreakFirstBuild || bytes.Contains(got.MessagesJSON, []byte("old")) {
		t.Errorf("old %s\nnew %s, %+v", old.MessagesJSON, got.MessagesJSON, got.Prefix)
	}
	if err := b.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if again := b.asked(t, "c", 1000, func(r *engine.BuildRequest) { r.SameTurn = true }); again.SHA256 != got.SHA256 {
		t.Error("sweeping the old incarnation changed the new one")
	}
}

// everythingFails calls all that needs a live conversation.
func (b *bench) everythingFails(t *testing.T, want conversation.Kind) {
	t.Helper()
	_, err := appendOnce(b, "another", "x")
	expect(t, err, want)
	_, err = b.ask("c", 1000, nil)
	expect(t, err, want)
	_, err = b.Get(ctx, keyOf("c"))
	expect(t, err, want)
	_, err = b.Message(ctx, keyOf("c"), 0)
	expect(t, err, want)
	_, err = b.Messages(ctx, engine.MessagesRequest{Key: keyOf("c")})
	expect(t, err, want)
	_, err = b.Manifest(ctx, keyOf("c"), 1, conversation.FormatUnspecified)
	expect(t, err, want)
	_, _, err = b.Manifests(ctx, keyOf("c"), 0, 10)
	expect(t, err, want)
	_, _, err = b.Count(ctx, keyOf("c"), conversation.Range{End: -1}, engine.Filter{})
	expect(t, err, want)
	_, _, err = b.ReportUsage(ctx, keyOf("c"), 1, "", engine.Usage{Input: 5})
	expect(t, err, want)
	expect(t, b.Export(ctx, keyOf("c"), func(engine.Record) error { return nil }), want)
	_, err = b.Update(ctx, engine.UpdateRequest{Key: keyOf("c"), Change: func(i store.Info) (store.Info, error) { return i, nil }})
	expect(t, err, want)
	_, err = b.Delete(ctx, keyOf("c"), engine.Request{})
	expect(t, err, want)
	list, err := b.List(ctx, engine.ListRequest{Namespace: "default", Limit: 10})
	if err != nil || len(list.Conversations) != 0 {
		t.Errorf("listed: %+v, %v", list, err)
	}
}

func TestEngine_UnknownConversation_NotFound(t *testing.T) {
	b := newBench(0)
	_, err := b.ask("nobody", 1000, nil)
	expect(t, err, conversation.ConversationNotFound)
	_, err = b.Get(ctx, keyOf("nobody"))
	expect(t, err, conversation.ConversationNotFound)
	_, err = b.Delete(ctx, keyOf("nobody"), engine.Request{})
	expect(t, err, conversation.ConversationNotFound)
}

// TestEngine_TTL_RenewedByAppends: and past its end a conversation is deleted before any sweeper comes (behaviour §3.5).
func TestEngine_TTL_RenewedByAppends(t *testing.T) {
	b := newBench(1 << 20)
	hour := time.Hour
	_, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c"), Info: store.Info{Policy: conversation.Policy{TTL: &hour}}})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		b.now = b.now.Add(time.Hour - time.Second)
		b.append(t, "c", user("still here"))
		b.build(t, "c", conversation.FormatOpenAIChat, 1000)
		if err := b.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
	}
	b.now = b.now.Add(time.Hour - time.Second)
	b.build(t, "c", conversation.FormatOpenAIChat, 1000) // does not renew
	b.now = b.now.Add(time.Second)
	b.everythingFails(t, conversation.ConversationDeleted)
	if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c")}); err != nil {
		t.Fatalf("the id of one past its ttl: %v", err)
	}
	if got := b.head(t, "c"); got.Messages != 0 || !got.ExpireTime.IsZero() {
		t.Errorf("head %+v", got)
	}
}

func TestEngine_TTL_ZeroSwitchesOff(t *testing.T) {
	b := newBench(0)
	hour := time.Hour
	if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c"), Info: store.Info{Policy: conversation.Policy{TTL: &hour}}}); err != nil {
		t.Fatal(err)
	}
	_, err := b.Update(ctx, engine.UpdateRequest{Key: keyOf("c"), Change: func(i store.Info) (store.Info, error) {
		i.Policy.TTL = ptr(time.Duration(0))
		return i, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(1000 * time.Hour)
	if err := b.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	b.append(t, "c", user("still here"))
}
