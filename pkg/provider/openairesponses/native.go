package openairesponses

import (
	"encoding/json"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// readOpaque gives a part as an item, and the item's type; the type is empty if no such item may stand in an input. Other items of
// OpenAI's own tools are tied by their ids to reasoning that may be gone. A part of reasoning is no item either: it has no id, and
// OpenAI binds encrypted reasoning to the id that it gave it, so that none can be made up.
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
