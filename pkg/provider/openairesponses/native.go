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
func isHosted(kind string, fields provider.Fields) bool {
	required := hosted(kind)
	return len(required) > 0 && !slices.ContainsFunc(required, fields.IsNull)
}

// readOpaque gives a part as an item, and the item's type; the type is empty if no such item may stand in an input. A part of reasoning is
// no item: it has no id, and OpenAI binds encrypted reasoning to the id that it gave it, so that none can be made up.
func readOpaque(p *conversation.Part) (item []byte, kind string) {
	if p.Kind != conversation.PartOpaque {
		return nil, ""
	}
	fields, _ := provider.ReadFields(p.Opaque.JSON.Inline)
	switch kind = fields.Text("type"); {
	case kind == "reasoning" && isReasoning(fields):
		return withoutNulls(p.Opaque.JSON.Inline, fields), kind
	case kind == "compaction" && fields.Text("encrypted_content") != "" && isOptional(fields, "id"):
		return []byte(p.Opaque.JSON.Inline), kind
	case isHosted(kind, fields):
		return []byte(p.Opaque.JSON.Inline), kind
	default:
		return nil, ""
	}
}

// isReasoning reports whether an item is a ResponseReasoningItemParam, but for members that are null.
func isReasoning(fields provider.Fields) bool {
	return fields.Text("id") != "" &&
		isTexts(fields["summary"], "summary_text") &&
		(fields.IsNull("content") || isTexts(fields["content"], "reasoning_text")) &&
		isOptional(fields, "encrypted_content") && isStatus(fields) &&
		fields.Only(reasoningKeys()...)
}

func reasoningKeys() []string {
	return []string{"id", "type", "summary", "content", "encrypted_content", "status"}
}

func isStatus(fields provider.Fields) bool {
	known := []string{"in_progress", "completed", "incomplete"}
	return fields.IsNull("status") || slices.Contains(known, fields.Text("status"))
}

// isTexts reports whether JSON is a list of texts of a kind.
func isTexts(list json.RawMessage, kind string) bool {
	var items []provider.Fields
	if json.Unmarshal(list, &items) != nil || items == nil {
		return false
	}
	return !slices.ContainsFunc(items, func(fields provider.Fields) bool {
		return fields.Text("type") != kind || !fields.Is("text", '"') || !fields.Only("type", "text")
	})
}

func isOptional(fields provider.Fields, key string) bool {
	return fields.IsNull(key) || fields.Is(key, '"')
}

// withoutNulls returns the item as it came, or without the members that are null if it has such: SDKs print what the API left out as
// null, and the API refuses an item that says it.
func withoutNulls(item string, fields provider.Fields) []byte {
	var out []byte
	null := false
	for i, key := range reasoningKeys() {
		switch member, ok := fields[key]; {
		case ok && fields.IsNull(key):
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
