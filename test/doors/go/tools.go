package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	palimpsest "github.com/palimpsest-context/palimpsest/clients/go"
)

// logLines make a log of about a megabyte.
const logLines = 16000

// tools are the toy's.
func tools() map[string]palimpsest.Tool {
	type place struct{ City string }
	return map[string]palimpsest.Tool{
		"get_weather": palimpsest.Func(func(_ context.Context, p place) (string, error) { return "Rain in " + p.City + ".", nil }),
		"web_search":  func(context.Context, json.RawMessage) (string, error) { return "Billing had an outage at 09:00.", nil },
		"fetch_log":   func(context.Context, json.RawMessage) (string, error) { return log(), nil },
	}
}

func log() string {
	var b strings.Builder
	for i := range logLines {
		if i == logLines/2 {
			b.WriteString("2026-11-23 09:00:00 FATAL billing: the disk of the ledger is full\n")
		}
		fmt.Fprintf(&b, "2026-11-23 08:%02d:%02d INFO billing: invoice %d was sent\n", i/60%60, i%60, i)
	}
	return b.String()
}

// definitions are those of the tools in a provider's form.
func definitions(format palimpsest.Format) json.RawMessage {
	var list []any
	for _, tool := range [][2]string{{"get_weather", "city"}, {"web_search", "q"}, {"fetch_log", "service"}} {
		name, argument := tool[0], tool[1]
		schema := map[string]any{
			"type": "object", "properties": map[string]any{argument: map[string]any{"type": "string"}}, "required": []string{argument},
		}
		switch format {
		case palimpsest.Responses:
			list = append(list, map[string]any{"type": "function", "name": name, "parameters": schema, "strict": false})
		case palimpsest.Anthropic:
			list = append(list, map[string]any{"name": name, "input_schema": schema})
		case palimpsest.Gemini:
			list = append(list, map[string]any{"name": name, "parameters": schema})
		default:
			list = append(list, map[string]any{"type": "function", "function": map[string]any{"name": name, "parameters": schema}})
		}
	}
	if format == palimpsest.Gemini {
		list = []any{map[string]any{"functionDeclarations": list}}
	}
	return raw(list)
}

// definitionsWith are these, and those that recall.
func definitionsWith(format palimpsest.Format) json.RawMessage {
	recall, err := palimpsest.Tools(format, false)
	if err != nil {
		panic(err)
	}
	var all [2][]json.RawMessage
	if json.Unmarshal(definitions(format), &all[0]) != nil || json.Unmarshal(recall, &all[1]) != nil {
		panic("the tools are no arrays")
	}
	return raw(slices.Concat(all[0], all[1]))
}
