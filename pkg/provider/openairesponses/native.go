package openairesponses

import (
	"encoding/json"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// hosted are the members that items of OpenAI's own tools must have, by the item's type, and those of others that a conversation takes back
// as they came.
func hosted(kind string) (required []string) {
	switch kind {
	case "file_search_call":
		return []string{"id", "queries", "status"}
	case "web_search_call":
		return []string{"id", "action", "status"}
	case "image_generation_call":
		return []string{"id", "status"}
	case "code_interpreter_call":
		return []string{"id", "container_id", "status"}
	case "mcp_list_tools":
		return []string{"id", "server_label", "tools"}
	case "mcp_approval_request", "mcp_call":
		return []string{"id", "server_label", "name", "arguments"}
	case "mcp_approval_response":
		return []string{"approval_request_id", "approve"}
	case "program":
		return []string{"id", "call_id", "code", "fingerprint"}
	case "program_output":
		return []string{"id", "call_id", "result", "status"}
	case "tool_search_call":
		return []string{"arguments"}
	case "tool_search_output":
		return []string{"tools"}
	case "additional_tools":
		return []string{"role", "tools"}
	case "item_reference":
		return []string{"id"}
	default:
		return nil
	}
}

// isHosted reports whether an item is one of those, with what it must have.
func isHosted(kind string, fields map[string]json.RawMessage) bool {
	required := hosted(kind)
	lacks := func(key string) bool { return isNull(fields[key]) }
	return len(required) > 0 && !slices.ContainsFunc(required, lacks)
}

// readOpaque gives a part as an item, and the item's type; the type is empty if no such item may stand in an input. A part of reasoning is
// no item: it has no id, and OpenAI binds encrypted reasoning to the id that it gave it, so that none can be made up.
func readOpaque(p *conversation.Part) (item []byte, kind string) {
	if p.Kind != conversation.PartOpaque {
		return nil, ""
	}
	fields, _ := provider.Fields(p.Opaque.JSON.Inline)
	switch kind = provider.StringField(fields, "type"); {
	case kind == "reasoning" && isReasoning(fields):
		return withoutNulls(p.Opaque.JSON.Inline, fields), kind
	case kind == "compaction" && provider.StringField(fields, "encrypted_content") != "" && isOptional(fields["id"]):
		return []byte(p.Opaque.JSON.Inline), kind
	case isHosted(kind, fields):
		return []byte(p.Opaque.JSON.Inline), kind
	default:
		return nil, ""
	}
}

// isReasoning reports whether an item is a ResponseReasoningItemParam, but for members that are null.
func isReasoning(fields map[string]json.RawMessage) bool {
	return provider.StringField(fields, "id") != "" &&
		isTexts(fields["summary"], "summary_text") &&
		(isNull(fields["content"]) || isTexts(fields["content"], "reasoning_text")) &&
		isOptional(fields["encrypted_content"]) && isStatus(fields) &&
		provider.Only(fields, reasoningKeys()...)
}

func reasoningKeys() []string {
	return []string{"id", "type", "summary", "content", "encrypted_content", "status"}
}

func isStatus(fields map[string]json.RawMessage) bool {
	known := []string{"in_progress", "completed", "incomplete"}
	return isNull(fields["status"]) || slices.Contains(known, provider.StringField(fields, "status"))
}

// isTexts reports whether JSON is a list of texts of a kind.
func isTexts(list json.RawMessage, kind string) bool {
	var items []map[string]json.RawMessage
	if isNull(list) || json.Unmarshal(list, &items) != nil {
		return false
	}
	return !slices.ContainsFunc(items, func(fields map[string]json.RawMessage) bool {
		return provider.StringField(fields, "type") != kind || !isText(fields["text"]) || !provider.Only(fields, "type", "text")
	})
}

func isOptional(member json.RawMessage) bool { return isNull(member) || isText(member) }

func isText(member json.RawMessage) bool { return len(member) > 0 && member[0] == '"' }

func isNull(member json.RawMessage) bool { return len(member) == 0 || string(member) == "null" }

// withoutNulls returns the item as it came, or without the members that are null if it has such: SDKs print what the API left out as
// null, and the API refuses an item that says it.
func withoutNulls(item string, fields map[string]json.RawMessage) []byte {
	var out []byte
	null := false
	for i, key := range reasoningKeys() {
		switch member, ok := fields[key]; {
		case ok && isNull(member):
			null = true
		case ok:
			out = append(out, "{,"[min(i, 1)])
			out = append(out, `"`+key+`":`...)
			out = append(out, member...)
		}
	}
	if !null {
		return []byte(item)
	}
	return append(out, '}')
}
