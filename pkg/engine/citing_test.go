package engine_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// citingBench is a bench whose conversations cite.
func citingBench() *bench {
	b := newBench(1 << 22)
	return b
}

// cites switches citations on for a conversation.
func (b *bench) cites(t testing.TB, id string, change func(*conversation.CitationsPolicy)) {
	t.Helper()
	p := conversation.Policy{Citations: conversation.CitationsPolicy{On: ptr(true)}}
	if change != nil {
		change(&p.Citations)
	}
	if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf(id), Info: engine.Info{Policy: p}}); err != nil {
		t.Fatal(err)
	}
}

// prose returns a text of about the given length in characters. Different seeds give different texts.
func prose(seed uint64, chars int) string {
	r := rand.New(rand.NewPCG(seed, 7))
	var s strings.Builder
	for s.Len() < chars {
		for range 8 {
			fmt.Fprintf(&s, "w%x ", r.Uint32N(1<<20))
		}
		s.WriteString("end.\n")
	}
	return s.String()
}

func (b *bench) retrieve(t testing.TB, id, handle string, change func(*engine.RetrieveContentRequest)) *engine.RetrieveContentResult {
	t.Helper()
	r := engine.RetrieveContentRequest{Key: keyOf(id), ContentID: handle}
	if change != nil {
		change(&r)
	}
	out, err := b.RetrieveContent(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// keep stores a content.
func (b *bench) keep(id, run, content string, change func(*engine.StoreContentRequest)) (*engine.StoreContentResult, error) {
	left := []byte(content)
	r := engine.StoreContentRequest{Key: keyOf(id), RunID: run, Next: func() ([]byte, error) {
		if len(left) == 0 {
			return nil, io.EOF
		}
		n := min(len(left), 100_000)
		piece := left[:n]
		left = left[n:]
		return piece, nil
	}}
	if change != nil {
		change(&r)
	}
	return b.StoreContent(ctx, r)
}

func (b *bench) kept(t testing.TB, id, run, content string) string {
	t.Helper()
	r, err := b.keep(id, run, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Cited.Citation.ContentID
}

// TestEngine_Append_Cites: a long result enters the view as a citation, and the record holds all of it (behaviour §9).
func TestEngine_Append_Cites(t *testing.T) {
	for _, size := range []int{1_500, 40_000, 700_000} {
		b := citingBench()
		b.cites(t, "c", nil)
		whole := prose(1, size)
		r := b.append(t, "c", user("find"), call("1"), result("1", whole))
		if len(r.Citations[2]) != 1 {
			t.Fatalf("citations %+v", r.Citations)
		}
		cited := r.Citations[2][0]
		c := cited.Citation
		if c.TotalBytes != int64(len(whole)) || c.TotalChars != int64(len([]rune(whole))) || c.Location != "beginning" || cited.Excerpt == "" ||
			!strings.HasPrefix(whole, strings.TrimSuffix(cited.Excerpt, "...")) || !strings.Contains(cited.How, c.ContentID) {
			t.Errorf("citation %+v", cited)
		}
		if ev := r.Events[len(r.Events)-1]; ev.Type != conversation.EventCited || ev.Content != c.ContentID || ev.Index != 2 || ev.Saved <= 0 {
			t.Errorf("event %+v", ev)
		}
		built := b.asked(t, "c", 100_000, nil)
		if strings.Contains(string(built.MessagesJSON), "Late result") || len(built.Decisions) != 1 {
			t.Errorf("the citation does not answer its call: %+v", built.Decisions)
		}
		if !strings.Contains(string(built.MessagesJSON), c.ContentID) || strings.Contains(string(built.MessagesJSON), whole[len(whole)-40:len(whole)-6]) {
			t.Error("the view does not show the citation")
		}
		if d := built.Decisions[0]; d.Kind != conversation.DecisionCited || d.First != 2 || built.Tokens.SavedByCiting != d.Before-d.After {
			t.Errorf("decision %+v, saved %d", d, built.Tokens.SavedByCiting)
		}
		if got := b.retrieve(t, "c", c.ContentID, nil); string(got.Chunk) != whole || got.Source.CitedBy[0] != 2 || got.Source.SHA256 == nil ||
			*got.Source.SHA256 != sha256.Sum256([]byte(whole)) {
			t.Errorf("%d bytes come back, source %+v", len(got.Chunk), got.Source)
		}
		if m := b.records(t, "c")[2]; m.Parts[0].Result.Text.Inline != whole {
			t.Error("the record does not hold the whole")
		}
	}
}

// TestEngine_Append_Citing_LeavesAlone: short, recalled and pinned texts and people's own words are not cited.
func TestEngine_Append_Citing_LeavesAlone(t *testing.T) {
	b := citingBench()
	b.cites(t, "c", nil)
	long := prose(2, 3_000)
	recalled := result("4", long)
	recalled.Parts[0].Result.Recalled = &conversation.Recalled{Index: 1}
	tool := call("5")
	tool.Parts[0].Call.Name = conversation.ToolRetrieve
	r := b.append(t, "c",
		user(long), answer(long), call("1"), result("1", long[:1_000]), call("4"), recalled, tool, result("5", long),
		call("6"), pinned(result("6", long)), answer("x"))
	for i := range r.Citations {
		if len(r.Citations[i]) > 0 {
			t.Errorf("message %d is cited", i)
		}
	}
	action := user(long)
	action.Type = conversation.TypeActionResult
	if r := b.append(t, "c", action); len(r.Citations[0]) != 1 {
		t.Error("the text of an action's result is not cited")
	}
}

// TestEngine_Append_Citing_Retries: a retry answers with the same citations.
func TestEngine_Append_Citing_Retries(t *testing.T) {
	b := citingBench()
	b.cites(t, "c", nil)
	add := func() *engine.AppendResult {
		r, err := b.Append(ctx, engine.AppendRequest{
			Key: keyOf("c"), Request: request("BatchAppendMessages", "r", "x"), Messages: []conversation.Message{call("1"), result("1", prose(3, 5_000))},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first, again := add(), add()
	if !again.Duplicate || len(again.Citations[1]) != 1 || again.Citations[1][0] != first.Citations[1][0] {
		t.Errorf("%+v, then %+v", first.Citations, again.Citations)
	}
}

// chunks counts the stored contents of a conversation, by trying all ids that were made.
func (b *bench) chunks(t testing.TB, id string) int {
	t.Helper()
	q := store.Query{}
	for n := uint64(1); n <= b.ids.Load(); n++ {
		var x conversation.ID
		for i := range 8 {
			x[15-i] = byte(n >> (8 * i))
		}
		q.Contents = append(q.Contents, store.ContentRange{ID: x, Length: 1})
	}
	snap, err := b.store.Read(ctx, keyOf(id), q)
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, c := range snap.Contents {
		if c != nil {
			held++
		}
	}
	return held
}

// TestEngine_Contents_SameBytes_StoredOnce: a conversation stores the same bytes once, and keeps them until the last content that uses
// them is deleted.
func TestEngine_Contents_SameBytes_StoredOnce(t *testing.T) {
	b := citingBench()
	b.cites(t, "c", nil)
	whole := prose(4, 300_000)
	var handles []string
	for i := range 3 {
		id := fmt.Sprint(i)
		r := b.append(t, "c", call(id), result(id, whole))
		handles = append(handles, r.Citations[1][0].Citation.ContentID)
	}
	r, err := b.keep("c", "run", whole, nil)
	if err != nil || !r.Shared {
		t.Fatalf("%+v %v", r, err)
	}
	if n := b.chunks(t, "c"); n != 1 {
		t.Errorf("%d copies, want 1", n)
	}
	if _, err := b.EndRun(ctx, engine.EndRunRequest{Key: keyOf("c"), RunID: "run", Grace: ptr(time.Duration(0))}); err != nil {
		t.Fatal(err)
	}
	if err := b.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = b.RetrieveContent(ctx, engine.RetrieveContentRequest{Key: keyOf("c"), ContentID: r.Cited.Citation.ContentID})
	expect(t, err, conversation.ContentExpired)
	for _, h := range handles {
		if got := b.retrieve(t, "c", h, nil); string(got.Chunk) != whole {
			t.Errorf("%s went with the other", h)
		}
	}
}

// TestEngine_Contents_Erased_AreGone: a content that was erased with its message cannot be retrieved by its handle, and leaves no
// hash.
func TestEngine_Contents_Erased_AreGone(t *testing.T) {
	b := citingBench()
	b.cites(t, "c", nil)
	whole := hiding(200_000)
	m := result("1", whole)
	m.Parts[0].Result.Expiration = &conversation.Expiration{Turns: ptr(int32(1)), Mode: conversation.ExpirationRemove, PreserveOriginal: ptr(false)}
	r := b.append(t, "c", user("go"), call("1"), m, answer("done"), user("next"))
	other := b.append(t, "c", call("2"), result("2", whole))
	handle := r.Citations[2][0].Citation.ContentID
	for range 4 {
		b.asked(t, "c", 100_000, nil)
		b.append(t, "c", answer("more"), user("and"))
	}
	_, err := b.RetrieveContent(ctx, engine.RetrieveContentRequest{Key: keyOf("c"), ContentID: handle})
	expect(t, err, conversation.ContentExpired)
	sources, err := b.ListSources(ctx, engine.SourcesRequest{Key: keyOf("c"), Limit: 10})
	if err != nil || len(sources.Sources) != 2 || !sources.Sources[0].Expired || sources.Sources[0].SHA256 != nil || sources.Sources[1].Expired {
		t.Fatalf("%+v %v", sources, err)
	}
	if got := b.retrieve(t, "c", other.Citations[1][0].Citation.ContentID, nil); string(got.Chunk) != whole {
		t.Error("the other message's content went with it")
	}
}

// TestEngine_EndRun_ReleasesOriginals: with release_on_end_run the originals that a run cited are erased, and the citations stay in
// the view.
func TestEngine_EndRun_ReleasesOriginals(t *testing.T) {
	b := citingBench()
	b.cites(t, "c", func(p *conversation.CitationsPolicy) { p.ReleaseOnEndRun = ptr(true) })
	whole := prose(5, 60_000)
	m := result("1", whole)
	m.RunID = "run"
	r := b.append(t, "c", user("go"), call("1"), m)
	before := b.asked(t, "c", 100_000, nil)
	handle := r.Citations[2][0].Citation.ContentID
	end, err := b.EndRun(ctx, engine.EndRunRequest{Key: keyOf("c"), RunID: "run"})
	if err != nil || end.Scheduled != 1 || !end.DeleteAt.Equal(b.now.Add(time.Hour)) {
		t.Fatalf("%+v %v", end, err)
	}
	b.now = b.now.Add(59 * time.Minute)
	if err := b.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	b.retrieve(t, "c", handle, nil)
	b.now = b.now.Add(2 * time.Minute)
	if err := b.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = b.RetrieveContent(ctx, engine.RetrieveContentRequest{Key: keyOf("c"), ContentID: handle})
	expect(t, err, conversation.ContentExpired)
	_, err = b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(2))})
	expect(t, err, conversation.ContentExpired)
	after := b.asked(t, "c", 100_000, nil)
	if string(after.MessagesJSON) != string(before.MessagesJSON) {
		t.Error("the view changed")
	}
	if n := b.chunks(t, "c"); n != 0 {
		t.Errorf("%d contents are left", n)
	}
}

// TestEngine_Runs_Forgotten_AreEnded: a run that nobody ends is ended after a day without use.
func TestEngine_Runs_Forgotten_AreEnded(t *testing.T) {
	b := citingBench()
	handle := b.kept(t, "c", "run", "some content")
	b.now = b.now.Add(23 * time.Hour)
	b.retrieve(t, "c", handle, nil) // a use
	for range 8 {
		b.now = b.now.Add(3 * time.Hour)
		if err := b.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
	}
	b.now = b.now.Add(50 * time.Minute)
	if got := b.retrieve(t, "c", handle, func(r *engine.RetrieveContentRequest) {}); string(got.Chunk) != "some content" {
		t.Fatal("it went too early")
	}
	b.now = b.now.Add(26 * time.Hour)
	if err := b.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	_, err := b.RetrieveContent(ctx, engine.RetrieveContentRequest{Key: keyOf("c"), ContentID: handle})
	expect(t, err, conversation.ContentExpired)
	_, err = b.keep("c", "run", "more", nil)
	expect(t, err, conversation.RunEnded)
	if _, err := b.keep("c", "other", "more", nil); err != nil {
		t.Fatal(err)
	}
}

// TestEngine_Runs_Over_StayOver: contents that were deleted with their run do not come back, neither when the run is ended again nor
// with a new message of it, whether the sweeper came by or not. A message of an ended run keeps its original.
func TestEngine_Runs_Over_StayOver(t *testing.T) {
	for _, swept := range []bool{false, true} {
		b := citingBench()
		b.cites(t, "c", func(p *conversation.CitationsPolicy) { p.ReleaseOnEndRun = ptr(true) })
		handle := b.kept(t, "c", "run", "some content")
		b.now = b.now.Add(26 * time.Hour)
		gone := func() {
			t.Helper()
			_, err := b.RetrieveContent(ctx, engine.RetrieveContentRequest{Key: keyOf("c"), ContentID: handle})
			expect(t, err, conversation.ContentExpired)
		}
		gone()
		if swept {
			b.sweep(t)
		}
		end, err := b.EndRun(ctx, engine.EndRunRequest{Key: keyOf("c"), RunID: "run"})
		if err != nil || end.Scheduled != 0 || !end.DeleteAt.IsZero() {
			t.Errorf("%+v %v", end, err)
		}
		gone()
		whole := prose(6, 3_000)
		m := result("1", whole)
		m.RunID = "run"
		late := b.append(t, "c", user("go"), call("1"), m).Citations[2][0].Citation.ContentID
		gone()
		for range 3 {
			b.sweep(t)
			if got := b.retrieve(t, "c", late, nil); string(got.Chunk) != whole {
				t.Error("a message of a run that is over loses its original")
			}
			gone()
			b.now = b.now.Add(25 * time.Hour)
		}
	}
}

// TestEngine_Contents_ForeignHandle_IsAbsent: another conversation's handle answers like one that nobody has.
func TestEngine_Contents_ForeignHandle_IsAbsent(t *testing.T) {
	b := citingBench()
	mine, foreign := b.kept(t, "a", "", "mine"), b.kept(t, "b", "", "foreign")
	b.retrieve(t, "a", mine, nil)
	var texts []string
	for _, handle := range []string{foreign, "c1-aaaaaaaa", "c9-aaaaaaaa", "c0-aaaaaaaa", "c-aaaaaaaa", "nonsense", "c1", ""} {
		_, err := b.RetrieveContent(ctx, engine.RetrieveContentRequest{Key: keyOf("a"), ContentID: handle})
		expect(t, err, conversation.ContentNotFound)
		texts = append(texts, err.Error())
	}
	for _, s := range texts {
		if s != texts[0] {
			t.Errorf("%q and %q can be told apart", s, texts[0])
		}
	}
}

// TestEngine_RetrieveContent_Ranges: bytes, characters, lines and items, page by page.
func TestEngine_RetrieveContent_Ranges(t *testing.T) {
	b := citingBench()
	text := strings.Repeat("züri\nzwei\n", 10)
	list := `[1, {"a":2} ,"three",4]`
	plain, items := b.kept(t, "c", "", text), b.kept(t, "c", "", list)
	tests := map[string]struct {
		handle   string
		unit     engine.ContentUnit
		from, to int64
		want     string
	}{
		"bytes":    {plain, engine.ContentBytes, 0, 3, "zü"},
		"in chars": {plain, engine.ContentBytes, 2, 13, "ri\nzwei\nzü"},
		"chars":    {plain, engine.ContentChars, 1, 4, "üri"},
		"lines":    {plain, engine.ContentLines, 1, 3, "zwei\nzüri\n"},
		"past end": {plain, engine.ContentLines, 50, 60, ""},
		"items":    {items, engine.ContentItems, 1, 3, `{"a":2} ,"three"`},
	}
	for name, tt := range tests {
		got := b.retrieve(t, "c", tt.handle, func(r *engine.RetrieveContentRequest) { r.Unit, r.From, r.End = tt.unit, tt.from, tt.to })
		if string(got.Chunk) != tt.want || got.Next != nil {
			t.Errorf("%s: %q, want %q", name, got.Chunk, tt.want)
		}
	}
	var pages strings.Builder
	var cursor *int64
	for n := 0; n == 0 || cursor != nil; n++ {
		got := b.retrieve(t, "c", plain, func(r *engine.RetrieveContentRequest) { r.MaxTokens, r.Cursor = 3, cursor })
		pages.Write(got.Chunk)
		if cursor = got.Next; n > 1000 {
			t.Fatal("endless")
		}
	}
	if pages.String() != text {
		t.Errorf("%q", pages.String())
	}
	_, err := b.RetrieveContent(ctx, engine.RetrieveContentRequest{Key: keyOf("c"), ContentID: plain, Unit: engine.ContentItems, End: 5})
	expect(t, err, conversation.InvalidField)
	binary := b.kept(t, "c", "", "\xff\xfe\x00\x01")
	if got := b.retrieve(t, "c", binary, nil); string(got.Chunk) != "\xff\xfe\x00\x01" {
		t.Errorf("%q", got.Chunk)
	}
	_, err = b.RetrieveContent(ctx, engine.RetrieveContentRequest{Key: keyOf("c"), ContentID: binary, Excerpts: &engine.ExcerptQuery{Terms: []string{"x"}}})
	expect(t, err, conversation.ContentNotText)
}

// TestEngine_StoreContent_Retry: the same id with the same bytes returns the first outcome, with others it is refused.
func TestEngine_StoreContent_Retry(t *testing.T) {
	b := citingBench()
	put := func(content string) (*engine.StoreContentResult, error) {
		return b.keep("c", "", content, func(r *engine.StoreContentRequest) { r.Request = request("StoreContent", "r", "header") })
	}
	whole := prose(6, 400_000)
	first, err := put(whole)
	if err != nil {
		t.Fatal(err)
	}
	again, err := put(whole)
	if err != nil || !again.Duplicate || again.Cited != first.Cited || again.Revision != first.Revision {
		t.Errorf("%+v, then %+v %v", first, again, err)
	}
	_, err = put(whole + "x")
	expect(t, err, conversation.RequestIDReused)
	if n := b.chunks(t, "c"); n != 1 {
		t.Errorf("%d contents are stored", n)
	}
	wrong := sha256.Sum256([]byte("other"))
	_, err = b.keep("c", "", whole, func(r *engine.StoreContentRequest) { r.SHA256 = &wrong })
	expect(t, err, conversation.ChecksumMismatch)
}

// TestEngine_AnswerToolCall: what a model asks for is answered with a result to append, within its limit. If the call is wrong, the
// result tells the model so.
func TestEngine_AnswerToolCall(t *testing.T) {
	b := citingBench()
	b.cites(t, "c", nil)
	whole := prose(7, 30_000) + "The fee is waived for students of Freiburg.\n" + prose(8, 30_000)
	r := b.append(t, "c", user("what about the fee?"), call("1"), result("1", whole))
	handle := r.Citations[2][0].Citation.ContentID
	ask := func(tool, arguments string, limit int32) *engine.ToolCallResult {
		out, err := b.AnswerToolCall(ctx, engine.ToolCallRequest{Key: keyOf("c"), MaxTokens: limit, Call: conversation.ToolCall{
			CallID: "x", Name: tool, Arguments: conversation.Content{Inline: arguments},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if limit == 0 {
			limit = engine.DefaultAnswerTokens
		}
		if out.Tokens > limit || out.Result.CallID != "x" {
			t.Errorf("%s(%s): %d tokens, call %q", tool, arguments, out.Tokens, out.Result.CallID)
		}
		return out
	}
	terms, _ := json.Marshal(map[string]any{"content_id": handle, "search_terms": []string{"fee waived students"}})
	for _, limit := range []int32{0, 100, 300} {
		got := ask(conversation.ToolRetrieve, string(terms), limit)
		if !strings.Contains(got.Result.Text.Inline, "waived for students") || got.Result.Recalled == nil || got.Result.Recalled.ContentID != handle {
			t.Errorf("%+v", got.Result)
		}
	}
	if got := ask(conversation.ToolRetrieve, `{"search_terms":"waived for students"}`, 0); !strings.Contains(got.Result.Text.Inline, handle) {
		t.Errorf("%q", got.Result.Text.Inline)
	}
	if got := ask(conversation.ToolExpand, `{"id":"2","start":0,"end":50}`, 0); !strings.Contains(got.Result.Text.Inline, whole[:50]) || got.Result.Recalled.Index != 2 {
		t.Errorf("%q", got.Result.Text.Inline)
	}
	if got := ask(conversation.ToolExpand, `{"id":2}`, 0); !strings.Contains(got.Result.Text.Inline, "More follows") {
		t.Errorf("%q", got.Result.Text.Inline)
	}
	if got := ask(conversation.ToolSearch, `{"query":"students Freiburg"}`, 0); !strings.Contains(got.Result.Text.Inline, "2 tool") {
		t.Errorf("%q", got.Result.Text.Inline)
	}
	for _, bad := range []string{`{"content_id":"c9-aaaaaaaa"}`, `{}`, `[]`, `{"content_id":{"a":1}}`, "\x00", `{"content_id":"` + handle + `","start":"x"}`} {
		if got := ask(conversation.ToolRetrieve, bad, 0); got.Result.State != conversation.ResultError {
			t.Errorf("%s: %q", bad, got.Result.Text.Inline)
		}
	}
	_, err := b.AnswerToolCall(ctx, engine.ToolCallRequest{Key: keyOf("c"), Call: conversation.ToolCall{CallID: "x", Name: "rm"}})
	expect(t, err, conversation.InvalidField)
}

// TestEngine_Recalled_PlaceholdersNameTheSource: when a recalled result leaves the view, its placeholder names the source.
func TestEngine_Recalled_PlaceholdersNameTheSource(t *testing.T) {
	b := citingBench()
	b.cites(t, "c", nil)
	r := b.append(t, "c", user("go"), call("1"), result("1", prose(9, 5_000)))
	handle := r.Citations[2][0].Citation.ContentID
	recalled := result("2", prose(10, 5_000))
	recalled.Parts[0].Result.Recalled = &conversation.Recalled{ContentID: handle}
	recalled.Parts[0].Result.Expiration = &conversation.Expiration{Turns: ptr(int32(1)), Mode: conversation.ExpirationCompact}
	b.append(t, "c", call("2"), recalled, answer("well"), user("next"))
	var built *engine.BuildResult
	for range 4 {
		built = b.asked(t, "c", 100_000, func(r *engine.BuildRequest) {
			r.PolicyOverride.Rewrite.Mode = conversation.RewriteEager
		})
		b.append(t, "c", answer("more"), user("and"))
	}
	if want := `Full text: retrieve_content(\"` + handle; !strings.Contains(string(built.MessagesJSON), want) {
		t.Errorf("%s is not in %s", want, built.MessagesJSON)
	}
	sources, err := b.ListSources(ctx, engine.SourcesRequest{Key: keyOf("c"), Limit: 10})
	if err != nil || len(sources.Sources) != 1 || len(sources.Sources[0].CitedBy) != 2 || sources.Sources[0].CitedBy[1] != 4 {
		t.Errorf("%+v %v", sources, err)
	}
}

// TestEngine_SearchMessages: originals are found, whether they are in view or not. Messages that were taken back are only found on
// request.
func TestEngine_SearchMessages(t *testing.T) {
	b := citingBench()
	for i := range 600 {
		b.append(t, "c", user(fmt.Sprintf("number %d is about %s", i, prose(uint64(i), 60))))
	}
	b.append(t, "c", user("the quartz vault opens at noon"))
	search := func(query string, hidden bool) *engine.SearchMessagesResult {
		r, err := b.SearchMessages(ctx, engine.SearchMessagesRequest{
			Key: keyOf("c"), Query: query, Range: conversation.Range{End: -1}, Limit: 5, SnippetChars: 100, Hidden: hidden,
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	b.asked(t, "c", 2_000, nil)
	for i, want := range map[int]string{3: strings.Fields(prose(3, 60))[2], 300: strings.Fields(prose(300, 60))[1]} {
		if r := search(want, false); len(r.Hits) == 0 || r.Hits[0].Message.Index != int32(i) || r.Hits[0].InView || !strings.Contains(r.Hits[0].Snippet, want) || r.Searched != 601 {
			t.Errorf("%s: %+v", want, r)
		}
	}
	if r := search("quartz vault", false); len(r.Hits) == 0 || r.Hits[0].Message.Index != 600 || !r.Hits[0].InView {
		t.Errorf("%+v", r)
	}
	if _, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: 600}); err != nil {
		t.Fatal(err)
	}
	if r := search("quartz vault", false); len(r.Hits) > 0 && r.Hits[0].Message.Index == 600 {
		t.Errorf("%+v", r)
	}
	if r := search("quartz vault", true); len(r.Hits) == 0 || r.Hits[0].Message.Index != 600 || !r.Hits[0].Hidden {
		t.Errorf("%+v", r)
	}
}

// TestEngine_AnswerToolCall_Summary: a summary is expanded message by message, within the limit, and the next call continues where the
// last one ended.
func TestEngine_AnswerToolCall_Summary(t *testing.T) {
	b := newBench(1 << 22)
	for i := range 60 {
		b.append(t, "c", user(fmt.Sprintf("question %d %s", i, prose(uint64(i), 200))), answer(fmt.Sprintf("reply %d", i)))
	}
	b.append(t, "c", user(prose(99, 50_000)), answer("long"), user("last"))
	if _, err := b.Compact(ctx, engine.CompactRequest{Key: keyOf("c"), Strategy: conversation.StrategySummarize, KeepRecent: ptr(int32(1))}); err != nil {
		t.Fatal(err)
	}
	l, err := b.Messages(ctx, engine.MessagesRequest{Key: keyOf("c"), Range: conversation.Range{End: -1}, Current: true, Limit: 1000, MaxBytes: 1 << 30, Size: func(*engine.MessageInView) int { return 1 }})
	if err != nil || len(l.Summaries) != 1 {
		t.Fatalf("%+v %v", l, err)
	}
	told := map[int]bool{}
	args := fmt.Sprintf(`{"id":"s%d"}`, l.Summaries[0].ID)
	for pages := 0; args != ""; pages++ {
		got, err := b.AnswerToolCall(ctx, engine.ToolCallRequest{Key: keyOf("c"), MaxTokens: 600, Call: conversation.ToolCall{
			CallID: "x", Name: conversation.ToolExpand, Arguments: conversation.Content{Inline: args},
		}})
		if err != nil || got.Tokens > 600 || pages > 100 {
			t.Fatalf("page %d: %+v %v", pages, got, err)
		}
		args = ""
		for line := range strings.Lines(got.Result.Text.Inline) {
			var index, start int
			if n, _ := fmt.Sscanf(line, "%d user:", &index); n == 1 {
				told[index] = true
			}
			if at := strings.Index(line, "start "); strings.HasPrefix(line, "[More follows") {
				_, _ = fmt.Sscanf(line[at:], "start %d.", &start)
				args = fmt.Sprintf(`{"id":"s%d","start":%d}`, l.Summaries[0].ID, start)
			}
		}
	}
	if len(told) < 60 || !told[120] {
		t.Errorf("%d messages of the user's are told", len(told))
	}
}

// TestEngine_Append_SameBytesInOneRequest: the bytes are stored once, even if a single message holds them twice, and are deleted with
// the last content that uses them.
func TestEngine_Append_SameBytesInOneRequest(t *testing.T) {
	b := citingBench()
	b.cites(t, "c", func(p *conversation.CitationsPolicy) { p.ReleaseOnEndRun = ptr(true) })
	whole := prose(11, 100_000)
	twice := result("3", whole)
	twice.Parts = append(twice.Parts, result("4", whole).Parts...)
	messages := []conversation.Message{call("1"), result("1", whole), call("2"), result("2", whole), call("3", "4"), twice}
	for i := range messages {
		messages[i].RunID = "run"
	}
	r := b.append(t, "c", messages...)
	if n := b.chunks(t, "c"); n != 1 || len(r.Citations[5]) != 2 {
		t.Errorf("%d copies, %d citations", n, len(r.Citations[5]))
	}
	if _, err := b.EndRun(ctx, engine.EndRunRequest{Key: keyOf("c"), RunID: "run", Grace: ptr(time.Duration(0))}); err != nil {
		t.Fatal(err)
	}
	if err := b.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	snap, err := b.store.Read(ctx, keyOf("c"), store.Query{SlotsOf: "content/bytes/"})
	if n := b.chunks(t, "c"); err != nil || n != 0 || len(snap.Slots) != 0 {
		t.Errorf("%d contents and %d counts are left (%v)", n, len(snap.Slots), err)
	}
}
