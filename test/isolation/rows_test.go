package isolation

import "google.golang.org/grpc/codes"

// row is an RPC of the matrix: its request, and what it answers where it is allowed.
type row struct {
	// requests are the messages that the call sends, as JSON: $ID is what it is about, $CONTENT, $MANIFEST and $RESUME are a content, a
	// build and a place among the events of that conversation.
	requests []string
	operator bool // the call is for operators
	// own is the answer about what is the caller's, absent about what is nobody's.
	own, absent codes.Code
	creates     bool // the call makes what is not there
	lists       bool // the call asks for all there is
	endless     bool // the answer goes on until the caller leaves
}

func about(own, absent codes.Code, requests ...string) row {
	return row{requests: requests, own: own, absent: absent}
}

func plain(request string) row { return about(codes.OK, codes.NotFound, request) }

func creates(own codes.Code, requests ...string) row {
	return row{requests: requests, own: own, creates: true}
}

func operators(own, absent codes.Code, request string) row {
	return row{requests: []string{request}, operator: true, own: own, absent: absent}
}

const (
	id      = `"conversationId":"$ID"`
	message = `{"role":"ROLE_USER","parts":[{"text":"more"}]}`
	profile = `"profile":{"model":"$ID","contextWindowTokens":1000,"reservedOutputTokens":100}`
)

// rows are all RPCs, by their full names.
func rows() map[string]row {
	return map[string]row{
		"/palimpsest.v1.ContextService/AppendMessage":       creates(codes.OK, `{`+id+`,"message":`+message+`,"requestId":"r"}`),
		"/palimpsest.v1.ContextService/BatchAppendMessages": creates(codes.OK, `{`+id+`,"items":[{"message":`+message+`}]}`),
		"/palimpsest.v1.ContextService/BuildContext":        plain(`{` + id + `,"requestId":"r","format":"CONTEXT_FORMAT_OPENAI_CHAT"}`),
		"/palimpsest.v1.ContextService/ExpandMessage":       plain(`{` + id + `,"messageIndex":2,"mode":"EXPAND_MODE_RETURN_ONLY"}`),
		"/palimpsest.v1.ContextService/CompactConversation": about(codes.FailedPrecondition, codes.NotFound, `{`+id+`,"requestId":"r"}`),
		"/palimpsest.v1.ContextService/RewindConversation":  plain(`{` + id + `,"fromIndex":3,"requestId":"r"}`),
		"/palimpsest.v1.ContextService/UndoRewind":          about(codes.FailedPrecondition, codes.NotFound, `{`+id+`}`),
		"/palimpsest.v1.ContextService/CorrectMessage":      plain(`{` + id + `,"messageIndex":0,"corrections":[{"partIndex":0,"text":"other"}]}`),
		"/palimpsest.v1.ContextService/AnswerToolCall":      plain(`{` + id + `,"toolCall":{"callId":"x","name":"retrieve_content","argumentsJson":"{\"content_id\":\"$CONTENT\"}"}}`),
		"/palimpsest.v1.ContextService/ReportUsage":         plain(`{` + id + `,"manifestId":"$MANIFEST","model":"m","usage":{"inputTokens":"100"}}`),

		"/palimpsest.v1.ConversationService/CreateConversation": creates(codes.AlreadyExists, `{"conversation":{"id":"$ID"}}`),
		"/palimpsest.v1.ConversationService/GetConversation":    plain(`{` + id + `}`),
		"/palimpsest.v1.ConversationService/ListConversations":  {requests: []string{`{"pageSize":1000}`}, lists: true},
		"/palimpsest.v1.ConversationService/UpdateConversation": plain(`{"conversation":{"id":"$ID","title":"t"},"updateMask":"title"}`),
		"/palimpsest.v1.ConversationService/DeleteConversation": plain(`{` + id + `}`),
		"/palimpsest.v1.ConversationService/GetMessage":         plain(`{` + id + `,"messageIndex":1}`),
		"/palimpsest.v1.ConversationService/ListMessages":       plain(`{` + id + `}`),
		"/palimpsest.v1.ConversationService/CountMessages":      plain(`{` + id + `}`),
		"/palimpsest.v1.ConversationService/SearchMessages":     plain(`{` + id + `,"query":"canary"}`),
		"/palimpsest.v1.ConversationService/GetManifest":        plain(`{` + id + `,"manifestId":"$MANIFEST"}`),
		"/palimpsest.v1.ConversationService/ListManifests":      plain(`{` + id + `}`),
		"/palimpsest.v1.ConversationService/WatchEvents":        {requests: []string{`{` + id + `,"resumeToken":"$RESUME"}`}, absent: codes.NotFound, endless: true},
		"/palimpsest.v1.ConversationService/ExportConversation": plain(`{` + id + `}`),
		"/palimpsest.v1.ConversationService/ImportConversation": creates(codes.AlreadyExists, `{`+id+`}`, `{"chunk":"$EXPORT"}`),

		"/palimpsest.v1.ContentService/StoreContent":    creates(codes.OK, `{"header":{`+id+`,"runId":"run"}}`, `{"chunk":"bW9yZQ=="}`),
		"/palimpsest.v1.ContentService/RetrieveContent": plain(`{` + id + `,"contentId":"$CONTENT","full":{}}`),
		"/palimpsest.v1.ContentService/StreamContent":   plain(`{` + id + `,"contentId":"$CONTENT"}`),
		"/palimpsest.v1.ContentService/SearchContent":   plain(`{` + id + `,"excerpts":{"searchTerms":["canary"]}}`),
		"/palimpsest.v1.ContentService/ListSources":     plain(`{` + id + `}`),
		"/palimpsest.v1.ContentService/EndRun":          plain(`{` + id + `,"runId":"run"}`),

		"/palimpsest.v1.MemoryService/SearchMemories": plain(`{` + id + `,"query":"canary","scopes":["MEMORY_SCOPE_SESSION"]}`),
		"/palimpsest.v1.MemoryService/ListMemories":   plain(`{` + id + `,"scope":"MEMORY_SCOPE_SESSION"}`),
		"/palimpsest.v1.MemoryService/AddMemory":      plain(`{` + id + `,"scope":"MEMORY_SCOPE_SESSION","text":"more"}`),
		"/palimpsest.v1.MemoryService/DeleteMemory":   plain(`{` + id + `,"scope":"MEMORY_SCOPE_SESSION","memoryId":"m"}`),
		"/palimpsest.v1.MemoryService/EndSession":     plain(`{` + id + `}`),
		"/palimpsest.v1.MemoryService/GetMemorySync":  plain(`{` + id + `}`),
		"/palimpsest.v1.MemoryService/ForgetActor":    operators(codes.OK, codes.OK, `{"actorId":"$ID"}`),
		"/palimpsest.v1.MemoryService/GetForget":      operators(codes.NotFound, codes.NotFound, `{"forgetId":"$ID"}`),

		"/palimpsest.v1.PolicyService/PutModelProfile":    operators(codes.OK, codes.OK, `{`+profile+`}`),
		"/palimpsest.v1.PolicyService/GetModelProfile":    operators(codes.OK, codes.NotFound, `{"model":"$ID"}`),
		"/palimpsest.v1.PolicyService/ListModelProfiles":  {requests: []string{`{"pageSize":1000}`}, operator: true, lists: true},
		"/palimpsest.v1.PolicyService/DeleteModelProfile": operators(codes.OK, codes.NotFound, `{"model":"$ID"}`),
		"/palimpsest.v1.PolicyService/PutActionPolicy":    operators(codes.OK, codes.OK, `{"policy":{"actionId":"$ID","expiration":{"turns":1,"mode":"EXPIRATION_MODE_REMOVE"}}}`),
		"/palimpsest.v1.PolicyService/GetActionPolicy":    operators(codes.OK, codes.NotFound, `{"actionId":"$ID"}`),
		"/palimpsest.v1.PolicyService/ListActionPolicies": {requests: []string{`{"pageSize":1000}`}, operator: true, lists: true},
		"/palimpsest.v1.PolicyService/DeleteActionPolicy": operators(codes.OK, codes.NotFound, `{"actionId":"$ID"}`),
		"/palimpsest.v1.PolicyService/PutPrompt":          operators(codes.OK, codes.OK, `{"prompt":{"id":"$ID","template":"{{content}}"}}`),
		"/palimpsest.v1.PolicyService/GetPrompt":          operators(codes.OK, codes.NotFound, `{"id":"$ID"}`),
		"/palimpsest.v1.PolicyService/ListPrompts":        {requests: []string{`{"pageSize":1000}`}, operator: true, lists: true},
		"/palimpsest.v1.PolicyService/DeletePrompt":       operators(codes.OK, codes.NotFound, `{"id":"$ID"}`),
	}
}

// variant is another request of an RPC, which does what the one of its row does not.
type variant struct {
	method string
	row    row
}

// variants are by the names of their tests.
func variants() map[string]variant {
	return map[string]variant{
		"BuildContext that appends": {
			"/palimpsest.v1.ContextService/BuildContext",
			creates(codes.OK, `{`+id+`,"requestId":"r","format":"CONTEXT_FORMAT_OPENAI_CHAT","append":{"items":[{"message":`+message+`}]}}`),
		},
	}
}
