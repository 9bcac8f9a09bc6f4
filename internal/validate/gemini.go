package validate

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

var geminiName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`).MatchString

// geminiSystem reads systemInstruction: a content of text alone.
func geminiSystem(r *reader, raw []byte) entry {
	o, ok := r.object(raw, "", "role", "parts")
	if !ok {
		return entry{}
	}
	if o.has("role") {
		o.one("role", RuleRole, "system", "user")
	}
	e := entry{role: "system"}
	for i, part := range o.list("parts") {
		b := r.geminiPart(part, at(".parts", i), "system")
		if len(b.Items) > 0 && b.Items[0].Kind != Text {
			r.fault(at(".parts", i), RuleValue)
		}
		e.blocks = append(e.blocks, b)
	}
	return e
}

func geminiContent(r *reader, raw []byte) entry {
	o, ok := r.geminiObject(raw, "", roleOf(raw), "role", "parts")
	if !ok {
		return entry{}
	}
	e := entry{role: o.one("role", RuleRole, "user", "model")}
	for i, part := range o.list("parts") {
		where := at(".parts", i)
		b := r.geminiPart(part, where, e.role)
		e.blocks = append(e.blocks, b)
		for _, item := range b.Items {
			if item.Kind == Call {
				e.signed = e.signed || len(e.calls) == 0 && isSignedPart(part)
				e.calls = append(e.calls, item.Name)
			}
			if item.Kind == Call && e.role != "model" || item.Kind == Result && e.role != "user" {
				r.fault(where, RuleRole)
			}
			e.spoken = e.spoken || item.Kind != Result
		}
	}
	return e
}

// roleOf is the role of a content, before it is judged.
func roleOf(raw []byte) string {
	var content struct{ Role string }
	_ = json.Unmarshal(raw, &content) // what is no content has no role
	return content.Role
}

func isSignedPart(part []byte) bool {
	var p struct{ ThoughtSignature string }
	return json.Unmarshal(part, &p) == nil && p.ThoughtSignature != ""
}

// geminiObject reads an object of a content: the model's may have keys that are newer than this page.
func (r *reader) geminiObject(raw []byte, where, role string, known ...string) (object, bool) {
	if role == "model" {
		return r.written(raw, where)
	}
	return r.object(raw, where, known...)
}

func (r *reader) geminiPart(raw []byte, where, role string) Block {
	o, ok := r.geminiObject(raw, where, role, "text", "thought", "thoughtSignature", "inlineData", "fileData", "functionCall",
		"functionResponse", "executableCode", "codeExecutionResult", "toolCall", "toolResponse", "videoMetadata", "mediaResolution", "partMetadata",
		"mediaProcessing", "documentMetadata", "spreadsheetMetadata", "audioMetadata", "speechMetadata")
	if !ok {
		return r.block(role, raw)
	}
	data := []string{"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult", "toolCall", "toolResponse"}
	held := slices.DeleteFunc(data, func(key string) bool { return !o.has(key) })
	if len(held) != 1 {
		r.fault(where, RuleValue)
		return r.block(role, raw)
	}
	signature := o.optional("thoughtSignature")
	item := o.geminiItem(held[0], raw, role)
	if o.truth("thought") && item.Kind == Text {
		item.Kind = Reasoning
		if signature == "" {
			r.fault(where, RuleSignature)
		}
	}
	return r.block(role, raw, item)
}

func (o object) geminiItem(kind string, raw []byte, role string) Item {
	switch kind {
	case "text":
		if o.has("thoughtSignature") { // the last part of a stream
			return Item{Kind: Text, Texts: []string{o.optional("text")}}
		}
		return Item{Kind: Text, Texts: []string{o.full("text")}}
	case "inlineData":
		if d, ok := o.r.geminiObject(o.fields[kind], o.path(kind), role, "mimeType", "data", "displayName"); ok {
			d.full("mimeType")
			d.full("data")
		}
		return Item{Kind: Media, Media: 1}
	case "fileData":
		if d, ok := o.r.geminiObject(o.fields[kind], o.path(kind), role, "mimeType", "fileUri", "displayName"); ok {
			d.full("fileUri")
		}
		return Item{Kind: Media, Media: 1}
	case "functionCall":
		return o.geminiCall()
	case "functionResponse":
		return o.geminiResponse()
	default:
		return Item{Kind: Opaque, Texts: []string{string(raw)}}
	}
}

func (o object) geminiCall() Item {
	c, ok := o.r.written(o.fields["functionCall"], o.path("functionCall"))
	if !ok {
		return Item{Kind: Call}
	}
	item := Item{Kind: Call, ID: c.optional("id"), Name: c.matched("name", RuleName, geminiName)}
	args := c.fields["args"]
	if len(args) > 0 && args[0] != '{' {
		o.r.fault(c.path("args"), RuleArguments)
	}
	item.Texts = []string{string(args)}
	return item
}

func (o object) geminiResponse() Item {
	c, ok := o.r.object(o.fields["functionResponse"], o.path("functionResponse"), "id", "name", "response", "parts", "scheduling", "willContinue")
	if !ok {
		return Item{Kind: Result}
	}
	item := Item{Kind: Result, ID: c.optional("id"), Name: c.matched("name", RuleName, geminiName)}
	response := c.fields["response"]
	if len(response) == 0 || response[0] != '{' {
		o.r.fault(c.path("response"), RuleType)
		return item
	}
	item.Texts = []string{wrapped(response)}
	if c.has("parts") {
		item.Media = len(c.list("parts"))
	}
	return item
}

// wrapped returns the text of a response that wraps nothing but one text, as
// text results must be wrapped for Gemini: the wrapping is no content. Of any
// other response it is the JSON.
func wrapped(response []byte) string {
	members := splitObject(response)
	if len(members) != 1 || members[0].raw[0] != '"' {
		return string(response)
	}
	text, _ := (&reader{}).text(members[0].raw, "")
	return text
}

// geminiOrder: the user first and last, in turns, and in the content after calls as many responses, of the same names in the same order. Of
// models from version 3 on, since the user last said something, the first call of each content has a signature
// (ai.google.dev/gemini-api/docs/thought-signatures, read 2026-11-26).
func geminiOrder(r *reader, entries []*entry) {
	r.turns("contents", entries)
	var asked []string
	turn := 0
	for i, e := range entries {
		var answered []string
		for _, b := range e.blocks {
			for _, item := range b.Items {
				if item.Kind == Result {
					answered = append(answered, item.Name)
				}
			}
		}
		r.pairs(asked, answered, at("contents", i))
		if asked = e.calls; e.role == "user" && e.spoken {
			turn = i
		}
	}
	r.pairs(asked, nil, "contents")
	for i, e := range entries[min(turn, len(entries)):] {
		if geminiSigned(r.model) && len(e.calls) > 0 && !e.signed {
			r.fault(at("contents", turn+i), RuleCallSigned)
		}
	}
}

var geminiVersion = regexp.MustCompile(`(?:^|/)gemini-([0-9]+)`)

// geminiSigned reports whether a model refuses calls without their signature: those that make images do not.
func geminiSigned(model string) bool {
	version := geminiVersion.FindStringSubmatch(model)
	return version != nil && version[1] != "1" && version[1] != "2" && !strings.Contains(model, "-image")
}

func (r *reader) pairs(asked, answered []string, where string) {
	switch {
	case len(answered) != len(asked):
		r.fault(where, RuleCount)
	case !slices.Equal(asked, answered):
		r.fault(where, RuleUnasked)
	}
}

// turns: the user speaks first and last, and nobody twice in a row.
func (r *reader) turns(list string, entries []*entry) {
	for i, e := range entries {
		switch {
		case i == 0 && e.role != "user":
			r.fault(at(list, i), RuleFirst)
		case i > 0 && e.role == entries[i-1].role:
			r.fault(at(list, i), RuleAlternate)
		}
	}
	if n := len(entries); n > 0 && entries[n-1].role != "user" {
		r.fault(at(list, n-1), RuleLast)
	}
}
