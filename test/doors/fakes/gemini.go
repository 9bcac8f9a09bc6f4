package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// gemini plays Gemini's generateContent and streamGenerateContent.
type gemini struct{}

func (gemini) read(body []byte, r *request) {
	m := r.members(body, "request", "contents", "systemInstruction", "system_instruction", "tools", "toolConfig", "tool_config",
		"safetySettings", "safety_settings", "generationConfig", "generation_config", "cachedContent", "cached_content", "serviceTier", "store",
		"model", "labels")
	if m == nil {
		return
	}
	m.rename("system_instruction", "systemInstruction")
	m.rename("tool_config", "toolConfig")
	m.rename("generation_config", "generationConfig")
	r.required(m, "contents")
	r.geminiTools(m)
	if m.has("generationConfig") {
		r.members(m["generationConfig"], "generationConfig", "candidateCount", "stopSequences", "maxOutputTokens", "temperature", "topP",
			"topK", "seed", "responseMimeType", "responseSchema", "responseJsonSchema", "presencePenalty", "frequencyPenalty", "responseLogprobs",
			"logprobs", "enableEnhancedCivicAnswers", "speechConfig", "thinkingConfig", "imageConfig", "mediaResolution", "responseModalities",
			"audioTranscriptionConfig", "responseFormat")
	}
	r.signatures(m["contents"])
	r.judge(validate.Gemini, m["systemInstruction"], m["contents"])
}

// rename takes a member by its other name.
func (m members) rename(from, to string) {
	if m.has(from) {
		m[to] = m[from]
	}
}

func (r *request) geminiTools(m members) {
	for i, raw := range r.list(m, "tools") {
		where := fmt.Sprintf("tools[%d]", i)
		tool := r.members(raw, where, "functionDeclarations", "function_declarations", "googleSearch", "google_search",
			"googleSearchRetrieval", "codeExecution", "code_execution", "urlContext", "url_context", "computerUse", "fileSearch", "googleMaps",
			"mcpServers")
		tool.rename("function_declarations", "functionDeclarations")
		for j, declaration := range r.list(tool, "functionDeclarations") {
			r.declaration(fmt.Sprintf("%s.functionDeclarations[%d]", where, j), declaration)
		}
	}
	if m.has("toolConfig") {
		config := r.members(m["toolConfig"], "toolConfig",
			"functionCallingConfig", "function_calling_config", "retrievalConfig", "includeServerSideToolInvocations")
		config.rename("function_calling_config", "functionCallingConfig")
		var calling members
		_ = json.Unmarshal(config["functionCallingConfig"], &calling) // one that is no object says nothing
		r.mute = calling.text("mode") == "NONE"
	}
}

func (r *request) declaration(where string, raw json.RawMessage) {
	f := r.members(raw, where, "name", "description", "parameters", "parametersJsonSchema", "response", "responseJsonSchema", "behavior",
		"parameters_json_schema", "response_json_schema")
	// Google's own SDK writes it so.
	f.rename("parameters_json_schema", "parametersJsonSchema")
	r.offer(where, f.text("name"), geminiToolName)
	if f.has("parameters") && f.has("parametersJsonSchema") {
		r.fault("%s: parameters and parametersJsonSchema are mutually exclusive", where)
	}
	if f.has("parameters") {
		r.geminiSchema(where+".parameters", f["parameters"])
	}
	if f.has("parametersJsonSchema") {
		r.schema(where+".parametersJsonSchema", f["parametersJsonSchema"], false)
	}
}

// signed are the parts that signatures are judged by.
type signed struct {
	ThoughtSignature string `json:"thoughtSignature"`
	FunctionCall     *struct {
		Name string `json:"name"`
	} `json:"functionCall"`
	FunctionResponse any `json:"functionResponse"`
}

// signatures: since the user last spoke, the first call of each content carries its signature, and any signature is one that was given.
func (r *request) signatures(raw json.RawMessage) {
	var contents []struct {
		Role  string   `json:"role"`
		Parts []signed `json:"parts"`
	}
	if json.Unmarshal(raw, &contents) != nil {
		return // the judge says what is wrong
	}
	spoke := 0
	for i, c := range contents {
		if c.Role == "user" && slices.ContainsFunc(c.Parts, func(p signed) bool { return p.FunctionResponse == nil }) {
			spoke = i
		}
	}
	for i, c := range contents {
		first := slices.IndexFunc(c.Parts, func(p signed) bool { return p.FunctionCall != nil })
		for j, p := range c.Parts {
			if fault := p.fault(j == first && i > spoke && !signsNothing(r.model)); fault != "" {
				r.fault("contents[%d].parts[%d]: %s", i, j, fault)
			}
		}
	}
}

// placeholders are what Google documents for calls that Gemini did not make, and the first as SDKs write bytes.
var placeholders = []string{
	"skip_thought_signature_validator", "context_engineering_is_the_way_to_go", "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",
}

// signsNothing reports whether a model is older than the demand for signatures, or makes images.
func signsNothing(model string) bool {
	return strings.HasPrefix(model, "gemini-1") || strings.HasPrefix(model, "gemini-2") || strings.Contains(model, "-image")
}

func (p signed) fault(needed bool) string {
	switch {
	case p.ThoughtSignature == "" && needed:
		return "function call is missing a thought_signature"
	case p.ThoughtSignature == "" || p.FunctionCall == nil || slices.Contains(placeholders, p.ThoughtSignature):
		return ""
	case p.ThoughtSignature != sign(p.FunctionCall.Name):
		return "thought signature is not valid"
	}
	return ""
}

// sign stands for the signature of a call.
func sign(name string) string { return base64.StdEncoding.EncodeToString([]byte("signed:" + name)) }

func (gemini) refusal(faults []string) any {
	return object{"error": object{"code": 400, "message": strings.Join(faults, "; "), "status": "INVALID_ARGUMENT"}}
}

// parts of an answer: calls have no id, as Gemini often gives none, and the first carries the signature.
func (a *answer) parts() (parts []object) {
	if a.scripted && a.thought != "" {
		parts = append(parts, object{"text": a.thought, "thought": true})
	}
	if a.text != "" {
		parts = append(parts, object{"text": a.text})
		if a.scripted && a.thought != "" && len(a.calls) == 0 {
			parts[len(parts)-1]["thoughtSignature"] = sign(a.thought)
		}
	}
	for i, c := range a.calls {
		called := object{"name": c.name, "args": json.RawMessage(c.arguments)}
		if a.ids {
			called["id"] = "g_" + c.id
		}
		part := object{"functionCall": called}
		if i == 0 {
			part["thoughtSignature"] = sign(c.name)
		}
		parts = append(parts, part)
	}
	return parts
}

func (gemini) whole(r *request, a *answer) any { return r.generated(a, a.parts(), "STOP") }

func (r *request) generated(a *answer, parts []object, finish string) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return object{
		"candidates": []object{candidate}, "modelVersion": r.model, "responseId": a.id,
		"usageMetadata": object{
			"promptTokenCount": r.tokens, "cachedContentTokenCount": r.cached(), "candidatesTokenCount": a.weight(), "thoughtsTokenCount": 0,
			"totalTokenCount": r.tokens + a.weight(), "promptTokensDetails": []object{{"modality": "TEXT", "tokenCount": r.tokens}},
		},
	}
}

// events: a text grows, a call comes whole. A stream that breaks off breaks within the bytes of the last.
func (gemini) events(r *request, a *answer) []event {
	var out []event
	parts := a.parts()
	for i, part := range parts {
		last := i == len(parts)-1
		finish := ""
		if last {
			finish = "STOP"
		}
		text, ok := part["text"].(string)
		if !ok {
			out = append(out, event{data: r.generated(a, []object{part}, finish), cut: last, torn: true})
			continue
		}
		grown := pieces(text, 4)
		for j, piece := range grown {
			end := ""
			if j == len(grown)-1 {
				end = finish
			}
			said := object{"text": piece}
			if j == len(grown)-1 {
				said = with(part, said)
			} else if part["thought"] == true {
				said["thought"] = true
			}
			out = append(out, event{data: r.generated(a, []object{said}, end), cut: last && j == 1})
		}
	}
	return out
}
