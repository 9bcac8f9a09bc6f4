package palimpsest

import (
	"encoding/json"
	"maps"
	"slices"
)

// object is JSON whose members are kept as they are.
type object = map[string]any

// chatAssembly makes a completion of chunks.
type chatAssembly struct {
	head     object // what chunks say beside their choices
	message  object
	calls    map[int]*chatCall
	finished any
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatDelta struct {
	Choices []struct {
		Delta        object `json:"delta"`
		FinishReason any    `json:"finish_reason"`
	} `json:"choices"`
}

func (a *chatAssembly) feed(event json.RawMessage) error {
	var chunk chatDelta
	var head object
	if err := decodeExact(event, &chunk); err != nil {
		return err
	}
	if err := decodeExact(event, &head); err != nil {
		return err
	}
	a.takeHead(head)
	for _, choice := range chunk.Choices {
		if choice.FinishReason != nil {
			a.finished = choice.FinishReason
		}
		if err := a.grow(choice.Delta); err != nil {
			return err
		}
	}
	return nil
}

func (a *chatAssembly) takeHead(head object) {
	if a.head == nil {
		a.head, a.message, a.calls = object{}, object{"role": "assistant", "content": nil}, map[int]*chatCall{}
	}
	delete(head, "choices")
	for key, value := range head {
		if value != nil {
			a.head[key] = value
		}
	}
	a.head["object"] = "chat.completion"
}

// grow adds a delta: texts grow, calls do by their index.
func (a *chatAssembly) grow(delta object) error {
	raw, err := json.Marshal(delta["tool_calls"])
	if err != nil {
		return err
	}
	var calls []struct {
		Index int `json:"index"`
		chatCall
	}
	if err := json.Unmarshal(raw, &calls); err != nil {
		return err
	}
	for _, c := range calls {
		if a.calls[c.Index] == nil {
			a.calls[c.Index] = &chatCall{}
		}
		into := a.calls[c.Index]
		into.ID, into.Type = into.ID+c.ID, "function"
		into.Function.Name += c.Function.Name
		into.Function.Arguments += c.Function.Arguments
	}
	delete(delta, "tool_calls")
	delete(delta, "role")
	growTexts(a.message, delta)
	return nil
}

// growTexts adds what pieces say to what there is: a text to a text, all else in its place.
func growTexts(into, pieces object) {
	for key, piece := range pieces {
		text, ok := piece.(string)
		before, has := into[key].(string)
		switch {
		case ok && has:
			into[key] = before + text
		case piece != nil:
			into[key] = piece
		}
	}
}

func (a *chatAssembly) whole() bool { return a.finished != nil }

func (a *chatAssembly) reply() any {
	if a.head == nil {
		return nil
	}
	message := maps.Clone(a.message)
	var calls []*chatCall
	for _, i := range slices.Sorted(maps.Keys(a.calls)) {
		if a.whole() || a.calls[i].Function.Arguments != "" {
			calls = append(calls, a.calls[i])
		}
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	if text, ok := message["content"].(string); ok && text == "" {
		message["content"] = nil
	}
	choice := object{"index": 0, "message": message, "finish_reason": a.finished}
	return with(a.head, object{"choices": []any{choice}})
}

// with is an object with some members replaced.
func with(o, more object) object {
	out := maps.Clone(o)
	if out == nil {
		out = object{}
	}
	maps.Copy(out, more)
	return out
}

// responsesAssembly takes the whole from the last event, and what there is from those before it.
type responsesAssembly struct {
	response object
	items    map[int]object
	texts    map[int]map[int]string // by item and content
	complete bool
}

type responsesEvent struct {
	Type         string `json:"type"`
	Response     object `json:"response"`
	Item         object `json:"item"`
	OutputIndex  int    `json:"output_index"`
	ContentIndex int    `json:"content_index"`
	Delta        any    `json:"delta"`
}

func (a *responsesAssembly) feed(event json.RawMessage) error {
	var e responsesEvent
	if err := decodeExact(event, &e); err != nil {
		return err
	}
	if a.items == nil {
		a.items, a.texts = map[int]object{}, map[int]map[int]string{}
	}
	switch e.Type {
	case "response.completed", "response.incomplete":
		a.response, a.complete = e.Response, true
	case "response.created":
		a.response = e.Response
	case "response.output_item.added":
		if e.Item["type"] == "message" {
			a.items[e.OutputIndex] = e.Item
		}
	case "response.output_item.done":
		a.items[e.OutputIndex] = e.Item
		delete(a.texts, e.OutputIndex)
	case "response.output_text.delta":
		a.grow(e)
	}
	return nil
}

func (a *responsesAssembly) grow(e responsesEvent) {
	if a.texts[e.OutputIndex] == nil {
		a.texts[e.OutputIndex] = map[int]string{}
	}
	piece, _ := e.Delta.(string)
	a.texts[e.OutputIndex][e.ContentIndex] += piece
}

func (a *responsesAssembly) whole() bool { return a.complete }

func (a *responsesAssembly) reply() any {
	if a.complete {
		return a.response
	}
	var items []object
	for _, at := range slices.Sorted(maps.Keys(a.items)) {
		item := a.items[at]
		if texts := a.texts[at]; item["type"] == "message" && len(texts) > 0 {
			item = with(item, object{"content": contentOf(texts)})
		}
		if content, ok := item["content"].([]any); item["type"] == "message" && ok && len(content) == 0 {
			continue
		}
		items = append(items, item)
	}
	if items == nil {
		return nil
	}
	return with(a.response, object{"object": "response", "output": items})
}

func contentOf(texts map[int]string) (content []any) {
	for _, at := range slices.Sorted(maps.Keys(texts)) {
		content = append(content, object{"type": "output_text", "text": texts[at], "annotations": []any{}})
	}
	return content
}
