package badinput

import (
	"fmt"
	"math"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

const farthest = int64(1) << 42

// retrieval asks for all of a content that is not there, with something changed.
func retrieval(change func(*pb.RetrieveContentRequest)) *pb.RetrieveContentRequest {
	r := &pb.RetrieveContentRequest{ConversationId: cited, ContentId: madeUp, Selection: full()}
	change(r)
	return r
}

func ranged(r *pb.ContentRange) *pb.RetrieveContentRequest {
	return retrieval(func(q *pb.RetrieveContentRequest) { q.Selection = &pb.RetrieveContentRequest_Range{Range: r} })
}

func excerpted(e *pb.ExcerptQuery) *pb.RetrieveContentRequest {
	return retrieval(func(q *pb.RetrieveContentRequest) { q.Selection = &pb.RetrieveContentRequest_Excerpts{Excerpts: e} })
}

// units are ranges of every unit over a span.
func units(s *pb.Span) map[string]*pb.ContentRange {
	return map[string]*pb.ContentRange{
		"bytes": {Unit: &pb.ContentRange_Bytes{Bytes: s}}, "chars": {Unit: &pb.ContentRange_Chars{Chars: s}},
		"lines": {Unit: &pb.ContentRange_Lines{Lines: s}}, "items": {Unit: &pb.ContentRange_Items{Items: s}},
	}
}

// retrievalRows: what asking for a content can be wrong about.
func retrievalRows() []row {
	const rpc = "RetrieveContent"
	rows := []row{
		{rpc, "nothing", &pb.RetrieveContentRequest{}, invalid("conversation_id", "content_id", "selection")},
		{rpc, "handle too long", retrieval(func(r *pb.RetrieveContentRequest) { r.ContentId = strings.Repeat(secret, 5) }), invalid("content_id")},
		{rpc, "range of no unit", ranged(&pb.ContentRange{}), invalid("range.unit")},
		{rpc, "figures", retrieval(func(r *pb.RetrieveContentRequest) {
			r.MaxTokens, r.PageToken, r.MaxReplyBytes = math.MinInt32, secret, new(int32(math.MaxInt32))
		}), invalid("max_tokens", "page_token", "max_reply_bytes")},
		{rpc, "page token too long", retrieval(func(r *pb.RetrieveContentRequest) { r.PageToken = strings.Repeat("A", 4097) }), invalid("page_token")},
		{"StreamContent", "nothing", &pb.StreamContentRequest{}, invalid("conversation_id", "content_id")},
		{"StreamContent", "before the first byte", &pb.StreamContentRequest{ConversationId: cited, ContentId: madeUp, OffsetBytes: math.MinInt64}, invalid("offset_bytes")},
		{"StreamContent", "after any byte", &pb.StreamContentRequest{ConversationId: cited, ContentId: madeUp, OffsetBytes: farthest + 1}, invalid("offset_bytes")},
	}
	for what, c := range map[string]struct {
		span   *pb.Span
		fields []string
	}{
		"backwards": {&pb.Span{StartIndex: 4, EndIndex: new(int64(3))}, []string{"end_index"}},
		"negative":  {&pb.Span{StartIndex: -4, EndIndex: new(int64(-3))}, []string{"start_index", "end_index"}},
		"least":     {&pb.Span{StartIndex: math.MinInt64, EndIndex: new(int64(math.MinInt64))}, []string{"start_index", "end_index"}},
		"beyond":    {&pb.Span{EndIndex: new(farthest + 1)}, []string{"end_index"}},
		"most":      {&pb.Span{StartIndex: math.MaxInt64, EndIndex: new(int64(math.MaxInt64))}, []string{"start_index", "end_index"}},
	} {
		for unit, r := range units(c.span) {
			rows = append(rows, row{rpc, unit + " " + what, ranged(r), invalid(under("range."+unit+".", c.fields)...)})
		}
	}
	for what, c := range queries() {
		rows = append(rows, row{rpc, "excerpts, " + what, excerpted(c.query), invalid(under("excerpts.", c.fields)...)})
	}
	return rows
}

type faultyQuery struct {
	query  *pb.ExcerptQuery
	fields []string
}

// queries are search terms and figures that are refused.
func queries() map[string]faultyQuery {
	return map[string]faultyQuery{
		"none":             {&pb.ExcerptQuery{}, []string{"search_terms"}},
		"an empty term":    {looking(secret, ""), []string{"search_terms[1]"}},
		"65 terms":         {looking(repeated(secret, 65)...), []string{"search_terms"}},
		"5,000 terms":      {looking(repeated(secret, 5000)...), []string{"search_terms"}},
		"a term too long":  {looking(strings.Repeat("x", 8193)), []string{"search_terms[0]"}},
		"a word of 2 MiB":  {looking(strings.Repeat("x", 2<<20), secret), []string{"search_terms[0]"}},
		"negative figures": {&pb.ExcerptQuery{SearchTerms: []string{secret}, MaxExcerpts: -1, MaxExcerptChars: math.MinInt32}, []string{"max_excerpts", "max_excerpt_chars"}},
		"large figures":    {&pb.ExcerptQuery{SearchTerms: []string{secret}, MaxExcerpts: 101, MaxExcerptChars: math.MaxInt32}, []string{"max_excerpts", "max_excerpt_chars"}},
	}
}

// contentSearchRows: what searches and listings can be wrong about.
func contentSearchRows() []row {
	long := strings.Repeat(secret, 20)
	message := func(change func(*pb.SearchMessagesRequest)) *pb.SearchMessagesRequest {
		r := &pb.SearchMessagesRequest{ConversationId: cited, Query: secret}
		change(r)
		return r
	}
	rows := []row{
		{"SearchContent", "nothing", &pb.SearchContentRequest{ConversationId: cited, RunId: long, MaxTokens: -1}, invalid("excerpts", "run_id", "max_tokens")},
		{"SearchContent", "too many tokens", &pb.SearchContentRequest{ConversationId: cited, Excerpts: looking(secret), MaxTokens: 100_000_001}, invalid("max_tokens")},
		{"SearchMessages", "nothing", &pb.SearchMessagesRequest{}, invalid("conversation_id", "query")},
		{"SearchMessages", "query too long", message(func(r *pb.SearchMessagesRequest) { r.Query = strings.Repeat("x", 65_537) }), invalid("query")},
		{"SearchMessages", "query of 2 MiB", message(func(r *pb.SearchMessagesRequest) { r.Query = strings.Repeat("x ", 1<<20) }), invalid("query")},
		{"SearchMessages", "figures", message(func(r *pb.SearchMessagesRequest) { r.MaxHits, r.MaxSnippetChars = -1, 501 }), invalid("max_hits", "max_snippet_chars")},
		{"SearchMessages", "range and filter", message(func(r *pb.SearchMessagesRequest) {
			r.Range, r.Filter = &pb.MessageRange{StartIndex: -1}, &pb.MessageFilter{Roles: []pb.Role{99}}
		}), invalid("range.start_index", "filter.roles[0]")},
		{"ListSources", "figures", &pb.ListSourcesRequest{ConversationId: cited, RunId: long, PageSize: -1, PageToken: secret}, invalid("run_id", "page_size", "page_token")},
		{"ListSources", "a page too large", &pb.ListSourcesRequest{ConversationId: cited, PageSize: 1001}, invalid("page_size")},
	}
	for what, c := range queries() {
		rows = append(rows, row{"SearchContent", what, &pb.SearchContentRequest{ConversationId: cited, Excerpts: c.query}, invalid(under("excerpts.", c.fields)...)})
	}
	return rows
}

// runRows: what the end of a run, and what a header can be wrong about.
func runRows() []row {
	long := strings.Repeat(secret, 20)
	end := func(change func(*pb.EndRunRequest)) *pb.EndRunRequest {
		r := &pb.EndRunRequest{ConversationId: cited, RunId: keptRun}
		change(r)
		return r
	}
	rows := []row{
		{"EndRun", "nothing", &pb.EndRunRequest{RequestId: long}, invalid("conversation_id", "run_id", "request_id")},
		{"EndRun", "run too long", end(func(r *pb.EndRunRequest) { r.RunId = long }), invalid("run_id")},
		{"EndRun", "request id of another", &pb.EndRunRequest{ConversationId: spent, RunId: secret, RequestId: "used"}, refusal{codes.AlreadyExists, "REQUEST_ID_REUSED", nil}},
	}
	for what, grace := range map[string]*durationpb.Duration{
		"negative": {Nanos: -1}, "over a year": {Seconds: 365 * 86_400, Nanos: 1}, "endless": {Seconds: math.MaxInt64}, "before time": {Seconds: math.MinInt64},
		"of no time": {Seconds: 1, Nanos: 1_000_000_000}, "of two signs": {Seconds: 1, Nanos: -1},
	} {
		rows = append(rows, row{"EndRun", "grace " + what, end(func(r *pb.EndRunRequest) { r.Grace = grace }), invalid("grace")})
	}
	for what, c := range map[string]struct {
		header *pb.StoreContentHeader
		fields []string
	}{
		"texts": {&pb.StoreContentHeader{
			RunId: long, SourceUrl: strings.Repeat("u", 2049), ContentType: long, RequestId: long,
		}, []string{"run_id", "source_url", "content_type", "request_id"}},
		"unknown source":   {&pb.StoreContentHeader{SourceType: 99}, []string{"source_type"}},
		"negative source":  {&pb.StoreContentHeader{SourceType: -1}, []string{"source_type"}},
		"metadata, none":   {&pb.StoreContentHeader{MetadataJson: "[" + secret}, []string{"metadata_json"}},
		"metadata, a list": {&pb.StoreContentHeader{MetadataJson: `["` + secret + `"]`}, []string{"metadata_json"}},
		"metadata, deep":   {&pb.StoreContentHeader{MetadataJson: `{"a":` + strings.Repeat("[", 8000)}, []string{"metadata_json"}},
		"much metadata":    {&pb.StoreContentHeader{MetadataJson: `{"a":"` + strings.Repeat("x", 8192) + `"}`}, []string{"metadata_json"}},
		"half a hash":      {&pb.StoreContentHeader{Sha256: strings.Repeat("a", 63)}, []string{"sha256"}},
		"no hash":          {&pb.StoreContentHeader{Sha256: strings.Repeat("g", 64)}, []string{"sha256"}},
		"a long hash":      {&pb.StoreContentHeader{Sha256: strings.Repeat("a", 1<<20)}, []string{"sha256"}},
	} {
		c.header.ConversationId = cited
		rows = append(rows, row{"StoreContent", "header, " + what, []*pb.StoreContentRequest{storing(c.header), storedBytes([]byte(secret))}, invalid(under("header.", c.fields)...)})
	}
	return rows
}

// citationRows: what a call to be answered, a recalled result and a policy can be wrong about.
func citationRows() []row {
	tokens := func(n int32) *pb.AnswerToolCallRequest {
		r := answering(cited, "retrieve_content", "{}")
		r.MaxTokens = n
		return r
	}
	recalled := func(r *pb.RecalledFrom) *pb.AppendMessageRequest {
		return appendOf(func(m *pb.Message) {
			m.Role, m.Parts = pb.Role_ROLE_TOOL, []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{CallId: "c", RecalledFrom: r}}}}
		})
	}
	const field = "message.parts[0].tool_result.recalled_from."
	rows := []row{
		{"AnswerToolCall", "nothing", &pb.AnswerToolCallRequest{}, invalid("conversation_id", "tool_call")},
		{"AnswerToolCall", "no call", &pb.AnswerToolCallRequest{ConversationId: cited, ToolCall: &pb.ToolCall{}}, invalid("tool_call.call_id", "tool_call.name")},
		{"AppendMessage", "recalled from nothing", recalled(&pb.RecalledFrom{}), invalid(field + "source")},
		{"AppendMessage", "recalled from no handle", recalled(&pb.RecalledFrom{Source: &pb.RecalledFrom_ContentId{}}), invalid(field + "content_id")},
		{"AppendMessage", "recalled from a long handle", recalled(&pb.RecalledFrom{Source: &pb.RecalledFrom_ContentId{ContentId: strings.Repeat(secret, 5)}}), invalid(field + "content_id")},
		{"AppendMessage", "recalled from before", recalled(&pb.RecalledFrom{Source: &pb.RecalledFrom_MessageIndex{MessageIndex: -1}}), invalid(field + "message_index")},
		{"AppendMessage", "a citation", appendOf(func(m *pb.Message) {
			m.Parts = []*pb.Part{{Content: &pb.Part_Citation{Citation: &pb.Citation{ContentId: madeUp, Text: secret}}}}
		}), invalid("message.parts[0].citation")},
	}
	for _, n := range []int32{-1, 1, 99, 100_000_001, math.MinInt32, math.MaxInt32} {
		rows = append(rows, row{"AnswerToolCall", fmt.Sprintf("%d tokens", n), tokens(n), invalid("max_tokens")})
	}
	for _, name := range []string{secret, "Expand_message", "expand_message ", "retrieve", "search_content", "read", "функция"} {
		rows = append(rows, row{"AnswerToolCall", fmt.Sprintf("tool %q", name), answering(cited, name, "{}"), invalid("tool_call.name")})
	}
	for _, n := range []int32{-1, 0, 199, 100_000_001} {
		p := &pb.Policy{Citations: &pb.CitationsPolicy{ThresholdChars: &n}}
		rows = append(rows,
			row{"CreateConversation", fmt.Sprintf("threshold %d", n), &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: nobody, Policy: p}}, invalid("conversation.policy.citations.threshold_chars")},
			row{"BuildContext", fmt.Sprintf("threshold %d", n), &pb.BuildContextRequest{ConversationId: cited, PolicyOverride: p}, invalid("policy_override.citations.threshold_chars")})
	}
	return rows
}

// handleRows: what handles that there are, and those of others, can be wrong about.
func (w *world) handleRows() (rows []row) {
	h := &w.handles
	missing := refusal{codes.NotFound, "CONTENT_NOT_FOUND", nil}
	noText := refusal{codes.FailedPrecondition, "CONTENT_NOT_TEXT", nil}
	expired := refusal{codes.NotFound, "CONTENT_EXPIRED", nil}
	at := func(id, handle string, r *pb.RetrieveContentRequest) *pb.RetrieveContentRequest {
		r.ConversationId, r.ContentId = id, handle
		return r
	}
	for _, handle := range append(strangers(h), h.gone) {
		rows = append(rows,
			row{"RetrieveContent", "of another, " + handle, at(cited, handle, retrieval(func(*pb.RetrieveContentRequest) {})), missing},
			row{"RetrieveContent", "passages of another, " + handle, at(cited, handle, excerpted(looking(foreign))), missing},
			row{"StreamContent", "of another, " + handle, &pb.StreamContentRequest{ConversationId: cited, ContentId: handle}, missing})
	}
	for unit, r := range units(&pb.Span{EndIndex: new(int64(5))}) {
		if unit != "bytes" {
			rows = append(rows, row{"RetrieveContent", unit + " of bytes", at(cited, h.binary, ranged(r)), noText})
		}
		rows = append(rows, row{"RetrieveContent", unit + " of what is gone", at(spent, h.gone, ranged(r)), expired})
	}
	items := units(&pb.Span{EndIndex: new(int64(1))})["items"]
	return append(rows,
		row{"RetrieveContent", "passages of bytes", at(cited, h.binary, excerpted(looking("a"))), noText},
		row{"RetrieveContent", "passages of what is gone", at(spent, h.gone, excerpted(looking("a"))), expired},
		row{"StreamContent", "what is gone", &pb.StreamContentRequest{ConversationId: spent, ContentId: h.gone}, expired},
		row{"RetrieveContent", "items of a text", at(cited, h.text, ranged(items)), invalid("range.items")},
		row{"StoreContent", "for a run that is over", []*pb.StoreContentRequest{storing(&pb.StoreContentHeader{ConversationId: spent, RunId: "over"})}, refusal{codes.FailedPrecondition, "RUN_ENDED", nil}},
		row{"StoreContent", "request id of another", []*pb.StoreContentRequest{storing(&pb.StoreContentHeader{ConversationId: cited, RequestId: "used"}), storedBytes([]byte(secret))},
			refusal{codes.AlreadyExists, "REQUEST_ID_REUSED", nil}})
}

// strangers are handles that no content of the cited conversation has: another conversation's, and what looks like its own.
func strangers(h *handles) []string {
	return []string{
		h.foreign, h.foreignOwn, madeUp, strings.ToUpper(h.own), h.own + " ", " " + h.own, h.own[:len(h.own)-1], "0" + h.own, "c01" + h.own[2:], "c9" + h.own[2:],
		"c-1-aaaaaaaa", "c1", "c", "c1-", "-", "c99999999999999999999-aaaaaaaa", "c9223372036854775807-aaaaaaaa", secret, "\x00", "../" + h.own, "c1-\u202eaaaa",
	}
}
