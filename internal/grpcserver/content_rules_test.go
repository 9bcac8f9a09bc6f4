package grpcserver

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/search"
)

func headerOf(h *pb.StoreContentHeader) *pb.StoreContentRequest {
	return &pb.StoreContentRequest{Piece: &pb.StoreContentRequest_Header{Header: h}}
}

func chunkOf(b []byte) *pb.StoreContentRequest {
	return &pb.StoreContentRequest{Piece: &pb.StoreContentRequest_Chunk{Chunk: b}}
}

// retrieve asks for a content as change says.
func retrieve(change func(*pb.RetrieveContentRequest)) *pb.RetrieveContentRequest {
	r := &pb.RetrieveContentRequest{ConversationId: "c", ContentId: "c1-abc"}
	change(r)
	return r
}

func wholeContent(r *pb.RetrieveContentRequest) {
	r.Selection = &pb.RetrieveContentRequest_Full{Full: &pb.FullContent{}}
}

func rangeOf(unit *pb.ContentRange) *pb.RetrieveContentRequest {
	return retrieve(func(r *pb.RetrieveContentRequest) { r.Selection = &pb.RetrieveContentRequest_Range{Range: unit} })
}

func excerptsOf(q *pb.ExcerptQuery) *pb.RetrieveContentRequest {
	return retrieve(func(r *pb.RetrieveContentRequest) { r.Selection = &pb.RetrieveContentRequest_Excerpts{Excerpts: q} })
}

func answering(name string, most int32) *pb.AnswerToolCallRequest {
	return &pb.AnswerToolCallRequest{ConversationId: "c", ToolCall: &pb.ToolCall{CallId: "a", Name: name, ArgumentsJson: "{not json"}, MaxTokens: most}
}

func recalledResult(r *pb.RecalledFrom) *pb.AppendMessageRequest {
	return appendOf(pb.Role_ROLE_TOOL, resultPart(&pb.ToolResult{CallId: "a", RecalledFrom: r}))
}

func badContents() map[string]badRequestCase {
	longText, place := strings.Repeat("x", long), int64(convert.MaxPlace+1)
	return map[string]badRequestCase{
		"no piece": {&pb.StoreContentRequest{}, []string{"piece"}},
		"header": {headerOf(&pb.StoreContentHeader{
			ConversationId: "a\n", RunId: longText, SourceType: 6, SourceUrl: strings.Repeat("u", 2049), ContentType: longText, SourceTitle: longText,
			MetadataJson: "[]", RequestId: longText, Sha256: "ab",
		}), []string{
			"header.conversation_id", "header.run_id", "header.source_type", "header.source_url", "header.content_type",
			"header.metadata_json", "header.request_id", "header.sha256", "header.source_title",
		}},
		"empty header":    {headerOf(&pb.StoreContentHeader{}), []string{"header.conversation_id"}},
		"no hexadecimal":  {headerOf(&pb.StoreContentHeader{ConversationId: "c", Sha256: strings.Repeat("g", 64)}), []string{"header.sha256"}},
		"long metadata":   {headerOf(&pb.StoreContentHeader{ConversationId: "c", MetadataJson: `{"a":"` + strings.Repeat("x", 8192) + `"}`}), []string{"header.metadata_json"}},
		"large chunk":     {chunkOf(make([]byte, 4<<20+1)), []string{"chunk"}},
		"empty retrieval": {&pb.RetrieveContentRequest{}, []string{"conversation_id", "content_id", "selection"}},
		"retrieval": {retrieve(func(r *pb.RetrieveContentRequest) {
			wholeContent(r)
			r.ContentId, r.MaxTokens, r.MaxReplyBytes, r.PageToken = strings.Repeat("x", 65), -1, new(int32(-1)), "x"
		}), []string{"content_id", "max_tokens", "max_reply_bytes", "page_token"}},
		"range of nothing":  {rangeOf(&pb.ContentRange{}), []string{"range.unit"}},
		"negative bytes":    {rangeOf(&pb.ContentRange{Unit: &pb.ContentRange_Bytes{Bytes: &pb.Span{StartIndex: -1}}}), []string{"range.bytes.start_index"}},
		"characters beyond": {rangeOf(&pb.ContentRange{Unit: &pb.ContentRange_Chars{Chars: &pb.Span{StartIndex: place, EndIndex: &place}}}), []string{"range.chars.start_index", "range.chars.end_index"}},
		"lines backwards":   {rangeOf(&pb.ContentRange{Unit: &pb.ContentRange_Lines{Lines: &pb.Span{StartIndex: 5, EndIndex: new(int64(4))}}}), []string{"range.lines.end_index"}},
		"items backwards":   {rangeOf(&pb.ContentRange{Unit: &pb.ContentRange_Items{Items: &pb.Span{StartIndex: 5, EndIndex: new(int64(0))}}}), []string{"range.items.end_index"}},
		"no terms":          {excerptsOf(&pb.ExcerptQuery{}), []string{"excerpts.search_terms"}},
		"terms": {excerptsOf(&pb.ExcerptQuery{SearchTerms: []string{"a", "", strings.Repeat("x", 8193)}, MaxExcerpts: 101, MaxExcerptChars: 501}),
			[]string{"excerpts.search_terms[1]", "excerpts.search_terms[2]", "excerpts.max_excerpts", "excerpts.max_excerpt_chars"}},
		"too many terms": {excerptsOf(&pb.ExcerptQuery{SearchTerms: slices.Repeat([]string{"a"}, 65), MaxExcerpts: -1, MaxExcerptChars: -1}),
			[]string{"excerpts.search_terms", "excerpts.max_excerpts", "excerpts.max_excerpt_chars"}},
		"stream":  {&pb.StreamContentRequest{ConversationId: "c", OffsetBytes: -1}, []string{"content_id", "offset_bytes"}},
		"search":  {&pb.SearchContentRequest{ConversationId: "c", RunId: longText, MaxTokens: 100_000_001}, []string{"excerpts", "run_id", "max_tokens"}},
		"sources": {&pb.ListSourcesRequest{RunId: longText, PageSize: 1001, PageToken: "x"}, []string{"conversation_id", "run_id", "page_size", "page_token"}},
		"no run":  {&pb.EndRunRequest{ConversationId: "c", RequestId: longText}, []string{"run_id", "request_id"}},
		"grace":   {&pb.EndRunRequest{ConversationId: "c", RunId: "r", Grace: durationpb.New(365*24*time.Hour + 1)}, []string{"grace"}},
		"no grace": {&pb.EndRunRequest{ConversationId: "c", RunId: "r", Grace: durationpb.New(-time.Second)},
			[]string{"grace"}},
	}
}

func badCitations() map[string]badRequestCase {
	citation := &pb.Part{Content: &pb.Part_Citation{Citation: &pb.Citation{ContentId: "c1-abc", Text: "x"}}}
	return map[string]badRequestCase{
		"a user's citation":  {appendOf(pb.Role_ROLE_USER, citation), []string{"message.parts[0].citation"}},
		"a model's citation": {appendOf(pb.Role_ROLE_ASSISTANT, citation), []string{"message.parts[0].citation"}},
		"a tool's citation":  {appendOf(pb.Role_ROLE_TOOL, citation), []string{"message.parts[0].citation"}},
		"an added citation":  {with(addition(citation)), []string{"additional_content[0].parts[0].citation"}},
		"source": {
			appendOf(pb.Role_ROLE_TOOL, resultPart(&pb.ToolResult{CallId: "a", Source: &pb.ResultSource{Type: 6, Url: "a\nb", Title: strings.Repeat("x", long)}})),
			[]string{"message.parts[0].tool_result.source.type", "message.parts[0].tool_result.source.url", "message.parts[0].tool_result.source.title"},
		},
		"recalled from":       {recalledResult(&pb.RecalledFrom{}), []string{"message.parts[0].tool_result.recalled_from.source"}},
		"recalled, no handle": {recalledResult(&pb.RecalledFrom{Source: &pb.RecalledFrom_ContentId{}}), []string{"message.parts[0].tool_result.recalled_from.content_id"}},
		"recalled, handle": {recalledResult(&pb.RecalledFrom{Source: &pb.RecalledFrom_ContentId{ContentId: strings.Repeat("x", 65)}}),
			[]string{"message.parts[0].tool_result.recalled_from.content_id"}},
		"recalled, index": {recalledResult(&pb.RecalledFrom{Source: &pb.RecalledFrom_MessageIndex{MessageIndex: -1}}),
			[]string{"message.parts[0].tool_result.recalled_from.message_index"}},
		"recall tools": {
			policy(&pb.Policy{Citations: &pb.CitationsPolicy{RecallTools: &pb.NameList{Names: []string{"a", ""}}}}),
			[]string{"conversation.policy.citations.recall_tools.names[1]"},
		},
		"threshold": {policy(&pb.Policy{Citations: &pb.CitationsPolicy{ThresholdChars: new(int32(199))}}), []string{"conversation.policy.citations.threshold_chars"}},
		"empty search": {&pb.SearchMessagesRequest{ConversationId: "c", MaxHits: 101, MaxSnippetChars: 501},
			[]string{"query", "max_hits", "max_snippet_chars"}},
		"search of messages": {&pb.SearchMessagesRequest{
			ConversationId: "c", Query: strings.Repeat("x", 65_537), MaxHits: -1, MaxSnippetChars: -1,
			Range: &pb.MessageRange{StartIndex: -1}, Filter: &pb.MessageFilter{Roles: []pb.Role{9}},
		}, []string{"query", "max_hits", "max_snippet_chars", "range.start_index", "filter.roles[0]"}},
		"no call":       {&pb.AnswerToolCallRequest{ConversationId: "c"}, []string{"tool_call"}},
		"empty call":    {&pb.AnswerToolCallRequest{ConversationId: "c", ToolCall: &pb.ToolCall{}}, []string{"tool_call.call_id", "tool_call.name"}},
		"small answer":  {answering(conversation.ToolSearch, 99), []string{"max_tokens"}},
		"no answer":     {answering(conversation.ToolSearch, -1), []string{"max_tokens"}},
		"large answer":  {answering(conversation.ToolSearch, 100_000_001), []string{"max_tokens"}},
		"hostile pages": {retrieveAt(-1), []string{"page_token"}},
		"beyond pages":  {retrieveAt(convert.MaxPlace + 1), []string{"page_token"}},
		"messages from": {listAt(1 << 31), []string{"page_token"}},
		"messages at":   {listAt(-1), []string{"page_token"}},
	}
}

// retrieveAt has a token for a place, which anybody can make.
func retrieveAt(place int64) *pb.RetrieveContentRequest {
	r := retrieve(wholeContent)
	r.PageToken = paging.NextNumber(r, &place)
	return r
}

func listAt(index int64) *pb.ListMessagesRequest {
	r := &pb.ListMessagesRequest{ConversationId: "c"}
	r.PageToken = paging.NextNumber(r, &index)
	return r
}

func goodContents() map[string]proto.Message {
	cited := resultPart(&pb.ToolResult{CallId: "a", Citation: &pb.Citation{ContentId: strings.Repeat("x", long)}})
	return map[string]proto.Message{
		"least header": headerOf(&pb.StoreContentHeader{ConversationId: "c"}),
		"largest header": headerOf(&pb.StoreContentHeader{
			ConversationId: "c", SourceType: pb.SourceType_SOURCE_TYPE_TOOL, SourceUrl: strings.Repeat("u", 2048),
			MetadataJson: `{"a":"` + strings.Repeat("x", 8192-8) + `"}`, Sha256: strings.Repeat("Ab", 32),
		}),
		"empty chunk":       chunkOf(nil),
		"largest chunk":     chunkOf(make([]byte, 4<<20)),
		"the whole content": retrieve(wholeContent),
		"a page of it":      retrieveAt(convert.MaxPlace),
		"all bytes":         rangeOf(&pb.ContentRange{Unit: &pb.ContentRange_Bytes{Bytes: &pb.Span{}}}),
		"no bytes":          rangeOf(&pb.ContentRange{Unit: &pb.ContentRange_Bytes{Bytes: &pb.Span{EndIndex: new(int64(0))}}}),
		"farthest lines":    rangeOf(&pb.ContentRange{Unit: &pb.ContentRange_Lines{Lines: &pb.Span{StartIndex: convert.MaxPlace, EndIndex: new(int64(convert.MaxPlace))}}}),
		"a question":        excerptsOf(&pb.ExcerptQuery{SearchTerms: []string{"wo ist das?"}}),
		"stream's end":      &pb.StreamContentRequest{ConversationId: "c", ContentId: "x", OffsetBytes: convert.MaxPlace},
		"longest grace":     &pb.EndRunRequest{ConversationId: "c", RunId: "r", Grace: durationpb.New(365 * 24 * time.Hour)},
		"at once":           &pb.EndRunRequest{ConversationId: "c", RunId: "r", Grace: durationpb.New(0)},
		"a shown result":    appendOf(pb.Role_ROLE_TOOL, cited),
		"recalled message":  recalledResult(&pb.RecalledFrom{Source: &pb.RecalledFrom_MessageIndex{}}),
		"recall":            answering(conversation.ToolRetrieve, 0),
		"least recall":      answering(conversation.ToolExpand, 100),
		"messages' end":     listAt(schema.MaxIndex),
	}
}

// TestRetrieveContent_PageToken_BelongsToItsQuestion: a page of one content is no page of another, nor of another selection.
func TestRetrieveContent_PageToken_BelongsToItsQuestion(t *testing.T) {
	book, good := allRules(), retrieveAt(5)
	for name, change := range map[string]func(*pb.RetrieveContentRequest){
		"conversation": func(r *pb.RetrieveContentRequest) { r.ConversationId = "d" },
		"content":      func(r *pb.RetrieveContentRequest) { r.ContentId = "c2-abc" },
		"tokens":       func(r *pb.RetrieveContentRequest) { r.MaxTokens = 7 },
		"selection": func(r *pb.RetrieveContentRequest) {
			r.Selection = &pb.RetrieveContentRequest_Range{Range: &pb.ContentRange{Unit: &pb.ContentRange_Bytes{Bytes: &pb.Span{EndIndex: new(int64(9))}}}}
		},
	} {
		other := proto.CloneOf(good)
		change(other)
		s, _ := toStatus(book.Validate(other))
		if v := wantReason(t, s.Err(), codes.InvalidArgument, "INVALID_FIELD"); v["page_token"] == "" {
			t.Errorf("%s: %v", name, v)
		}
	}
	good.MaxReplyBytes = new(int32(9999))
	if err := book.Validate(good); err != nil {
		t.Errorf("another reply limit: %v", err)
	}
}

// TestComments_DefaultsOfCitations_AreTheCodes: what a comment says that 0 or nothing stands for is what is done.
func TestComments_DefaultsOfCitations_AreTheCodes(t *testing.T) {
	comments := protoComments(t)
	for field, n := range map[string]int64{
		"CitationsPolicy.threshold_chars":         conversation.DefaultThresholdChars,
		"ExcerptQuery.max_excerpts":               search.DefaultExcerpts,
		"ExcerptQuery.max_excerpt_chars":          search.MaxExcerptChars,
		"AnswerToolCallRequest.max_tokens":        engine.DefaultAnswerTokens,
		"SearchMessagesRequest.max_hits":          10,
		"SearchMessagesRequest.max_snippet_chars": 200,
	} {
		if comment := comments["palimpsest.v1."+field]; !strings.Contains(comment, "; "+rules.Grouped(n)+" by default") {
			t.Errorf("%s is %d by default: %s", field, n, comment)
		}
	}
}
