package openairesponses

import (
	"encoding/json"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// hosted returns, for an item type, the members that the item must have. It covers items of OpenAI's own tools, and other items that OpenAI
// accepts back unchanged.
func hosted(kind string) (required []string, ok bool) {
	switch kind {
	case "configuration_update":
		return nil, true
	case "file_search_call":
		return []string{"id", "queries", "status"}, true
	case "web_search_call":
		return []string{"id", "action", "status"}, true
	case "image_generation_call":
		return []string{"id", "status"}, true
	case "code_interpreter_call":
		return []string{"id", "container_id", "status"}, true
	case "mcp_list_tools":
		return []string{"id", "server_label", "tools"}, true
	case "mcp_approval_request", "mcp_call":
		return []string{"id", "server_label", "name", "arguments"}, true
	case "mcp_approval_response":
		return []string{"approval_request_id", "approve"}, true
	case "program":
		return []string{"id", "call_id", "code", "fingerprint"}, true
	case "program_output":
		return []string{"id", "call_id", "result", "status"}, true
	case "tool_search_call":
		return []string{"arguments"}, true
	case "tool_search_output":
		return []string{"tools"}, true
	case "additional_tools":
		return []string{"role", "tools"}, true
	case "item_reference":
		return []string{"id"}, true
	default:
		return nil, false
	}
}

// isHosted reports whether an item is of such a type and has the members it must have.
func isHosted(kind string, fields provider.Fields) bool {
	required, ok := hosted(kind)
	return ok && !slices.ContainsFunc(required, fields.IsNull)
}

// readOpaque returns a part as an item, with the item's type. The type is empty if the item may not be part of an input. Reasoning in a
// part of its own is no item: it has no id, and OpenAI binds encrypted reasoning to the id it gave, so no id can be made up.
func readOpaque(p *conversation.Part) (item []byte, kind string) {
	if p.Kind != conversation.PartOpaque {
		return nil, ""
	}
	fields := provider.ReadFields(p.Opaque.JSON.Inline)
	switch kind = fields.Text("type"); {
	case kind == "reasoning" && isReasoning(fields):
		return provider.WithoutNulls(p.Opaque.JSON.Inline), kind
	case kind == "compaction" && fields.Text("encrypted_content") != "" && isOptional(fields, "id"):
		return []byte(p.Opaque.JSON.Inline), kind
	case isHosted(kind, fields):
		return []byte(p.Opaque.JSON.Inline), kind
	default:
		return nil, ""
	}
}

// isReasoning reports whether an item is a ResponseReasoningItemParam, where null members are allowed.
func isReasoning(fields provider.Fields) bool {
	return fields.Text("id") != "" &&
		isTexts(fields["summary"], "summary_text") &&
		(fields.IsNull("content") || isTexts(fields["content"], "reasoning_text")) &&
		isOptional(fields, "encrypted_content") && isStatus(fields)
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
		return fields.Text("type") != kind || !fields.Is("text", '"')
	})
}

func isOptional(fields provider.Fields, key string) bool {
	return fields.IsNull(key) || fields.Is(key, '"')
}
