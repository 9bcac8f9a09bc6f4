package palimpsest

import (
	"encoding/json"
	"maps"
	"slices"
)

// anthropicAssembly makes a message of events.
type anthropicAssembly struct {
	message object
	blocks  map[int]*anthropicBlock
	stopped bool
}

// anthropicBlock is a block of content. It is open until it has ended, and for good if its input is no JSON by then.
type anthropicBlock struct {
	content object
	input   string
	open    bool
}

type anthropicEvent struct {
	Type         string `json:"type"`
	Message      object `json:"message"`
	Index        int    `json:"index"`
	ContentBlock object `json:"content_block"`
	Delta        object `json:"delta"`
	Usage        object `json:"usage"`
}

func (a *anthropicAssembly) feed(event json.RawMessage) error {
	var e anthropicEvent
	if err := decodeExact(event, &e); err != nil {
		return err
	}
	switch e.Type {
	case "message_start":
		a.message, a.blocks = e.Message, map[int]*anthropicBlock{}
	case "content_block_start":
		if a.blocks != nil && e.ContentBlock != nil {
			a.blocks[e.Index] = &anthropicBlock{content: e.ContentBlock, open: true}
		}
	case "content_block_delta":
		if block := a.blocks[e.Index]; block != nil {
			block.grow(e.Delta)
		}
	case "content_block_stop":
		if block := a.blocks[e.Index]; block != nil {
			block.end()
		}
	case "message_delta":
		usage, _ := a.message["usage"].(object)
		a.message = with(a.message, e.Delta)
		a.message["usage"] = with(usage, e.Usage)
	case "message_stop":
		a.stopped = true
	}
	return nil
}

func (b *anthropicBlock) grow(delta object) {
	switch delta["type"] {
	case "input_json_delta":
		piece, _ := delta["partial_json"].(string)
		b.input += piece
	case "citations_delta":
		citations, _ := b.content["citations"].([]any)
		b.content["citations"] = append(citations, delta["citation"])
	default:
		delete(delta, "type")
		growTexts(b.content, delta)
	}
}

func (b *anthropicBlock) end() {
	b.open = b.input != "" && !json.Valid([]byte(b.input))
	if b.input != "" && !b.open {
		b.content["input"] = json.RawMessage(b.input)
	}
}

// kept says whether a reply that broke off keeps the block.
func (b *anthropicBlock) kept() bool {
	text, _ := b.content["text"].(string)
	signature, _ := b.content["signature"].(string)
	return !b.open || b.content["type"] == "text" && text != "" || b.content["type"] == "thinking" && signature != ""
}

func (a *anthropicAssembly) whole() bool { return a.stopped }

func (a *anthropicAssembly) reply() any {
	blocks := []object{}
	for _, i := range slices.Sorted(maps.Keys(a.blocks)) {
		if a.blocks[i].kept() {
			blocks = append(blocks, a.blocks[i].content)
		}
	}
	if a.message == nil || len(blocks) == 0 && !a.stopped {
		return nil
	}
	return with(a.message, object{"content": blocks})
}

// geminiAssembly makes one answer of several. Neighboring texts become one, up to a part with a signature: it stays with its part.
type geminiAssembly struct {
	head      object
	candidate object
	parts     []object
}

func (a *geminiAssembly) feed(event json.RawMessage) error {
	var head object
	var e struct {
		Candidates []struct {
			Content struct {
				Parts []object `json:"parts"`
			} `json:"content"`
		} `json:"candidates"`
	}
	if err := decodeExact(event, &head); err != nil {
		return err
	}
	if err := decodeExact(event, &e); err != nil {
		return err
	}
	candidates, _ := head["candidates"].([]any)
	delete(head, "candidates")
	a.head = with(a.head, head)
	if len(candidates) > 0 && len(e.Candidates) > 0 {
		candidate, _ := candidates[0].(object)
		a.candidate = with(a.candidate, candidate)
		for _, part := range e.Candidates[0].Content.Parts {
			a.grow(part)
		}
	}
	return nil
}

func (a *geminiAssembly) grow(part object) {
	if text, ok := part["text"].(string); ok && len(a.parts) > 0 {
		last := a.parts[len(a.parts)-1]
		before, has := last["text"].(string)
		if has && last["thoughtSignature"] == nil && last["thought"] == part["thought"] {
			maps.Copy(last, part)
			last["text"] = before + text
			return
		}
	}
	a.parts = append(a.parts, part)
}

func (a *geminiAssembly) whole() bool { return a.candidate["finishReason"] != nil }

func (a *geminiAssembly) reply() any {
	if len(a.parts) == 0 && !a.whole() {
		return nil
	}
	content := object{"role": "model", "parts": a.parts}
	return with(a.head, object{"candidates": []any{with(a.candidate, object{"content": content})}})
}
