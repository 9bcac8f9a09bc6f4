package badinput

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// patience is how long an answer to the largest request that is allowed may take, on a busy machine.
const patience = 10 * time.Second

// quiet demands that the log holds nothing of what conversations and requests say.
func (w *world) quiet(t *testing.T) {
	t.Helper()
	for _, word := range []string{secret, filed, foreign} {
		if strings.Contains(w.sidecar.Log(), word) {
			t.Errorf("the log holds %q", word)
		}
	}
}

// discreet demands that an error holds nothing of what conversations say.
func discreet(t *testing.T, err error) {
	t.Helper()
	wire, marshalErr := proto.Marshal(status.Convert(err).Proto())
	if marshalErr != nil {
		t.Fatal(marshalErr)
	}
	for _, word := range []string{filed, foreign} {
		if bytes.Contains(wire, []byte(word)) {
			t.Errorf("the error holds a conversation's text: %v", err)
		}
	}
}

// TestStoreContent_PiecesOutOfPlace_AreRefused sends the pieces of contents in every wrong way.
func TestStoreContent_PiecesOutOfPlace_AreRefused(t *testing.T) {
	w := newWorld(t)
	head := func(h *pb.StoreContentHeader) *pb.StoreContentRequest {
		h.ConversationId = cited
		return storing(h)
	}
	plain, text := head(&pb.StoreContentHeader{}), storedBytes([]byte(page(secret)))
	wrong := head(&pb.StoreContentHeader{RequestId: "wrong", Sha256: hex.EncodeToString(make([]byte, 32))})
	mismatch := refusal{codes.InvalidArgument, "CHECKSUM_MISMATCH", nil}
	type pieces []*pb.StoreContentRequest
	for what, c := range map[string]struct {
		pieces pieces
		want   refusal
	}{
		"none":                      {nil, invalid("header")},
		"empty piece":               {pieces{{}}, invalid("piece")},
		"no header":                 {pieces{text}, invalid("header")},
		"header behind the bytes":   {pieces{text, plain}, invalid("header")},
		"empty header":              {pieces{storing(&pb.StoreContentHeader{})}, invalid("header.conversation_id")},
		"second header":             {pieces{plain, plain, text}, invalid("header")},
		"another's header":          {pieces{plain, text, storing(&pb.StoreContentHeader{ConversationId: neighbor})}, invalid("header")},
		"header at the end":         {pieces{plain, text, text, plain}, invalid("header")},
		"empty piece in between":    {pieces{plain, text, {}, text}, invalid("piece")},
		"bad header later":          {pieces{plain, text, storing(&pb.StoreContentHeader{MetadataJson: secret})}, invalid("header.conversation_id", "header.metadata_json")},
		"chunk over its limit":      {pieces{plain, storedBytes(make([]byte, 4<<20+1))}, invalid("chunk")},
		"second chunk over it":      {pieces{plain, text, storedBytes(make([]byte, 4<<20+1))}, invalid("chunk")},
		"over the transport":        {pieces{plain, storedBytes(make([]byte, 17<<20))}, refusal{codes.ResourceExhausted, "", nil}},
		"another hash":              {pieces{wrong, text}, mismatch},
		"another hash, many chunks": {append(pieces{wrong}, repeated(storedBytes(bytes.Repeat([]byte(secret), 50_000)), 5)...), mismatch},
		"another hash of nothing":   {pieces{wrong}, mismatch},
		"for one that is deleted":   {pieces{storing(&pb.StoreContentHeader{ConversationId: gone}), text}, refusal{codes.NotFound, "CONVERSATION_DELETED", nil}},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := w.StorePieces(w.ctx, c.pieces...)
			c.want.holds(t, err)
			w.unchanged(t)
		})
	}
	w.quiet(t)
}

// TestStoreContent_CallerGivesUp_LeavesNothing cancels a content at every point of it, and sends one that never ends.
func TestStoreContent_CallerGivesUp_LeavesNothing(t *testing.T) {
	w := newWorld(t)
	half := storedBytes(bytes.Repeat([]byte(secret+"\n"), 30_000))
	for what, pieces := range map[string][]*pb.StoreContentRequest{
		"before the header":     nil,
		"behind the header":     {storing(&pb.StoreContentHeader{ConversationId: cited})},
		"in the bytes":          {storing(&pb.StoreContentHeader{ConversationId: cited, RunId: "new-run"}), half, half},
		"among empty chunks":    append([]*pb.StoreContentRequest{storing(&pb.StoreContentHeader{ConversationId: cited})}, repeated(storedBytes(nil), 5000)...),
		"with a hash that fits": {storing(&pb.StoreContentHeader{ConversationId: cited, Sha256: sumOf(half.GetChunk())}), half},
	} {
		t.Run(what, func(t *testing.T) {
			ctx, cancel := context.WithCancel(w.ctx)
			stream := must[pb.ContentService_StoreContentClient](t)(w.Contents.StoreContent(ctx))
			for _, p := range pieces {
				if err := stream.Send(p); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(50 * time.Millisecond) // most of it has arrived: that is what must not be kept
			cancel()
			if err := stream.RecvMsg(&pb.StoreContentResponse{}); status.Code(err) != codes.Canceled {
				t.Errorf("answered %v", err)
			}
			w.unchanged(t)
		})
	}
	time.Sleep(100 * time.Millisecond)
	w.unchanged(t)
	w.quiet(t)
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// TestHandle_OfAnother_IsAnsweredAsAnAbsentOne: neither code nor words tell a handle of another conversation from one of none.
func TestHandle_OfAnother_IsAnsweredAsAnAbsentOne(t *testing.T) {
	w := newWorld(t)
	calls := func(handle string) map[string]any {
		at := func(r *pb.RetrieveContentRequest) *pb.RetrieveContentRequest {
			r.ContentId = handle
			return r
		}
		out := map[string]any{
			"stream": &pb.StreamContentRequest{ConversationId: cited, ContentId: handle}, "passages": at(excerpted(looking(foreign))),
			"whole": at(retrieval(func(*pb.RetrieveContentRequest) {})),
		}
		for unit, r := range units(&pb.Span{EndIndex: new(int64(9))}) {
			out[unit] = at(ranged(r))
		}
		return out
	}
	absent := calls("c777-aaaaaaaa")
	for _, handle := range append(strangers(&w.handles), w.handles.gone) {
		for what, request := range calls(handle) {
			got, want := status.Convert(w.send(t, request)), status.Convert(w.send(t, absent[what]))
			if !proto.Equal(got.Proto(), want.Proto()) {
				t.Errorf("%s of %q: %v, and of none: %v", what, handle, got.Proto(), want.Proto())
			}
		}
		if strings.TrimSpace(handle) != w.handles.own { // spaces around it are forgiven a model
			w.toldAsOfNone(t, handle)
		}
	}
	w.unchanged(t)
	w.quiet(t)
}

func (w *world) toldAsOfNone(t *testing.T, handle string) {
	t.Helper()
	quoted := must[[]byte](t)(json.Marshal(handle))
	for _, arguments := range []string{`{"content_id":%s}`, `{"content_id":%s,"search_terms":["` + foreign + `"]}`, `{"content_id":%s,"unit":"lines","start":0,"end":3}`} {
		got, want := w.answer(t, "retrieve_content", fmt.Sprintf(arguments, quoted)), w.answer(t, "retrieve_content", fmt.Sprintf(arguments, `"c777-aaaaaaaa"`))
		if !proto.Equal(got, want) {
			t.Errorf("a model is told of %q: %v, and of none: %v", handle, got, want)
		}
	}
}

// answer answers a model's call about the cited conversation, which must succeed.
func (w *world) answer(t *testing.T, tool, arguments string) *pb.AnswerToolCallResponse {
	t.Helper()
	began := time.Now()
	r := answering(cited, tool, arguments)
	r.MaxTokens = 300
	reply := must[*pb.AnswerToolCallResponse](t)(w.Context.AnswerToolCall(w.ctx, r))
	if took := time.Since(began); took > testlane.Slack(patience) {
		t.Errorf("the answer took %v", took)
	}
	text := reply.GetToolResult().GetText()
	if strings.Contains(text, foreign) || text == "" || reply.GetTokenCount() > 300 {
		t.Errorf("%s was answered with %d tokens: %.300q", tool, reply.GetTokenCount(), text)
	}
	return reply
}

// TestAnswerToolCall_HostileArguments_AreAnswered: what a model wrote is no fault of the caller's, whatever it is.
func TestAnswerToolCall_HostileArguments_AreAnswered(t *testing.T) {
	w := newWorld(t)
	value := []string{
		"null", "true", "-1", "0", "1", "1e400", "1.5", "-0", "99999999999999999999", `""`, `" "`, `"\u0000"`, `"\ud800"`, `"` + secret + `"`, `[]`, `{}`, `[[]]`, `[null]`, `["",null,7,{}]`,
		`{"a":{"b":[]}}`, `"s0"`, `"s999999999999999999"`, `"m4294967296"`, `"` + w.handles.foreign + `"`, `"` + w.handles.binary + `"`, `"` + w.handles.empty + `"`, `"` + w.handles.own + `"`,
	}
	for _, tool := range []string{"expand_message", "retrieve_content", "search_conversation"} {
		for _, name := range []string{"id", "content_id", "search_terms", "query", "start", "end", "unit"} {
			for _, v := range value {
				w.answer(t, tool, fmt.Sprintf(`{%q:%s}`, name, v))
				w.answer(t, tool, fmt.Sprintf(`{"id":2,"content_id":%q,"query":"x","search_terms":["harbour"],%q:%s}`, w.handles.list, name, v))
			}
		}
		for _, unit := range []string{"bytes", "chars", "lines", "items", "pages"} {
			for _, handle := range []string{w.handles.own, w.handles.list, w.handles.binary, w.handles.empty} {
				for _, ends := range []string{`"start":0`, `"start":4,"end":3`, `"start":-5,"end":-4`, `"end":9`, `"start":"4398046511104","end":"999999999999999999"`, `"start":9e99`} {
					w.answer(t, tool, fmt.Sprintf(`{"id":2,"content_id":%q,"unit":%q,%s}`, handle, unit, ends))
				}
			}
		}
		for _, text := range w.noArguments() {
			w.answer(t, tool, text)
		}
	}
	w.unchanged(t)
	w.quiet(t)
}

// noArguments are arguments that are no JSON, deep, long, or many.
func (w *world) noArguments() []string {
	const deep = 200_000
	many := strings.TrimSuffix(strings.Repeat(`"`+secret+`",`, 50_000), ",")
	return []string{
		"", " ", "{", "}", "null", "[]", "7", `"` + secret + `"`, secret, `{"query":}`, `{"query":"a"}{"query":"b"}`, `{'query':'a'}`, "{query: a}", "<query>", "\x00", "{\"query\":\"\x01\"}",
		strings.Repeat("[", deep), strings.Repeat(`{"query":`, deep), `{"query":` + strings.Repeat("[", deep/2) + strings.Repeat("]", deep/2) + "}",
		`{"search_terms":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}", `{"search_terms":[` + many + `]}`, `{"query":[` + many + `]}`,
		`{"query":"` + strings.Repeat("x", 2<<20) + `"}`, `{"search_terms":["` + strings.Repeat("x", 2<<20) + `"]}`, `{"content_id":"` + strings.Repeat("c1-", 1<<19) + `"}`,
		`{"id":"` + strings.Repeat("9", 1<<20) + `"}`, `{"id":` + strings.Repeat("9", 1<<20) + `}`, `{"start":` + strings.Repeat("9", 1<<20) + `,"unit":"` + strings.Repeat("lines", 1<<18) + `"}`,
		`{` + strings.Repeat(`"query":"x",`, 100_000) + `"query":"y"}`, `{"query":"` + strings.Repeat("a b ", 16_000) + `"}`, `{"query":"` + strings.Repeat("\u0e01", 21_000) + `"}`,
	}
}

// TestSearch_LargestAllowed_IsAnsweredInTime searches by as much as a request may say, over words that are everywhere, nowhere, and one.
func TestSearch_LargestAllowed_IsAnsweredInTime(t *testing.T) {
	w := newWorld(t)
	for _, content := range []string{strings.Repeat("x", 2<<20), strings.Repeat("a b ", 1<<19), strings.Repeat("港口", 1<<18), strings.Repeat("[", 1<<20), strings.Repeat("<a>", 1<<18), strings.Repeat("\n", 1<<20)} {
		must[*pb.StoreContentResponse](t)(w.StorePieces(w.ctx, storing(&pb.StoreContentHeader{ConversationId: "large"}), storedBytes([]byte(content))))
	}
	sources := must[*pb.ListSourcesResponse](t)(w.Contents.ListSources(w.ctx, &pb.ListSourcesRequest{ConversationId: "large"})).GetSources()
	for what, term := range map[string]string{
		"one word": strings.Repeat("x", 8192), "common words": strings.Repeat("a b ", 2048), "no spaces": strings.Repeat("港口", 1365),
		"many words": words(8192), "marks": strings.Repeat("e\u0301", 2730), "spaces": strings.Repeat(" ", 8192), "brackets": strings.Repeat("[<", 4096), "nuls": strings.Repeat("\x00", 8192),
	} {
		t.Run(what, func(t *testing.T) {
			query := looking(slices.Repeat([]string{term}, 64)...)
			query.MaxExcerpts = 100
			requests := []any{
				&pb.SearchContentRequest{ConversationId: "large", Excerpts: query}, &pb.SearchContentRequest{ConversationId: cited, Excerpts: query, MaxTokens: 1},
				&pb.SearchMessagesRequest{ConversationId: cited, Query: strings.Repeat(term, 7), MaxHits: 100, MaxSnippetChars: 500},
			}
			for _, s := range sources {
				requests = append(requests, &pb.RetrieveContentRequest{ConversationId: "large", ContentId: s.GetContentId(), Selection: &pb.RetrieveContentRequest_Excerpts{Excerpts: query}, MaxTokens: 10})
			}
			for _, request := range requests {
				began := time.Now()
				if err := w.send(t, request); err != nil {
					t.Errorf("%T: %v", request, err)
				}
				if took := time.Since(began); took > testlane.Slack(patience) {
					t.Errorf("%T took %v", request, took)
				}
			}
		})
	}
}

// words are as many different ones as have room.
func words(room int) string {
	var b strings.Builder
	for i := 0; b.Len() < room-8; i++ {
		fmt.Fprintf(&b, "w%d ", i)
	}
	return b.String()
}

// TestRetrieve_SmallestAnswers_AreAnsweredInTime asks for the least of contents that cannot be cut well.
func TestRetrieve_SmallestAnswers_AreAnsweredInTime(t *testing.T) {
	w := newWorld(t)
	for what, content := range map[string]string{
		"one word": strings.Repeat("x", 2<<20), "one line": strings.Repeat("word ", 1<<18), "marks": strings.Repeat("e\u0301", 1<<18), "items": "[" + strings.Repeat("1,", 1<<19) + "1]",
		"a large item": `["` + strings.Repeat("x", 2<<20) + `"]`, "nesting": strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
	} {
		t.Run(what, func(t *testing.T) {
			handle := must[*pb.StoreContentResponse](t)(w.StorePieces(w.ctx, storing(&pb.StoreContentHeader{ConversationId: "large"}), storedBytes([]byte(content)))).GetCitation().GetContentId()
			for unit, r := range units(&pb.Span{StartIndex: 1, EndIndex: new(farthest)}) {
				for _, limit := range []*pb.RetrieveContentRequest{{MaxTokens: 1}, {MaxTokens: 30_000}, {MaxTokens: 100_000_000}, {MaxReplyBytes: new(int32(1))}, {MaxReplyBytes: new(int32(64 << 20))}} {
					limit.ConversationId, limit.ContentId, limit.Selection = "large", handle, &pb.RetrieveContentRequest_Range{Range: r}
					began := time.Now()
					err := w.send(t, limit)
					discreet(t, err)
					if c := status.Code(err); c != codes.OK && process.Reason(err) == "" || c == codes.Internal || c == codes.Unknown {
						t.Errorf("%s, %d tokens, %d bytes: %v", unit, limit.GetMaxTokens(), limit.GetMaxReplyBytes(), err)
					}
					if took := time.Since(began); took > testlane.Slack(patience) {
						t.Errorf("%s, %d tokens, %d bytes took %v", unit, limit.GetMaxTokens(), limit.GetMaxReplyBytes(), took)
					}
				}
			}
		})
	}
}
