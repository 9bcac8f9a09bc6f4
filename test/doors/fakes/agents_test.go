package main

import "encoding/json"

func chatTools(names []string) (tools []object) {
	for _, name := range names {
		tools = append(tools, object{"type": "function", "function": object{"name": name, "parameters": schema()}})
	}
	return tools
}

func chatAgent() *agent {
	return &agent{
		path: "/v1/chat/completions", list: "messages", request: object{"model": "fake", "tools": chatTools(toolNames)},
		user: func(text string) any { return object{"role": "user", "content": text} },
		reply: func(a *agent, answer object) (calls []call, said string) {
			message := mapOf(mapOf(listOf(answer["choices"])[0])["message"])
			delete(message, "annotations")
			delete(message, "refusal")
			a.messages = append(a.messages, message)
			for _, c := range listOf(message["tool_calls"]) {
				f := mapOf(mapOf(c)["function"])
				calls = append(calls, callOf(mapOf(c)["id"], f["name"], f["arguments"]))
			}
			return calls, text(message["content"])
		},
		results: func(a *agent, calls []call) {
			for _, c := range calls {
				a.messages = append(a.messages, object{"role": "tool", "tool_call_id": c.id, "content": returned(c.name)})
			}
		},
		assemble: assembleChat,
	}
}

func assembleChat(events []object) object {
	message := object{"role": "assistant", "content": nil}
	var calls []any
	for _, e := range events {
		delta := mapOf(mapOf(listOf(e["choices"])[0])["delta"])
		if piece := text(delta["content"]); piece != "" {
			message["content"] = text(message["content"]) + piece
		}
		for _, c := range listOf(delta["tool_calls"]) {
			if mapOf(c)["id"] != nil {
				begun := with(mapOf(c), nil)
				delete(begun, "index")
				calls = append(calls, begun)
				continue
			}
			f := mapOf(mapOf(calls[len(calls)-1])["function"])
			f["arguments"] = text(f["arguments"]) + text(mapOf(mapOf(c)["function"])["arguments"])
		}
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return object{"choices": []any{object{"message": message}}}
}

func responsesAgent() *agent {
	var tools []object
	for _, name := range toolNames {
		tools = append(tools, object{"type": "function", "name": name, "parameters": schema(), "strict": false})
	}
	return &agent{
		path: "/v1/responses", list: "input",
		request: object{"model": "fake", "tools": tools, "store": false, "include": []string{encrypted}},
		user:    func(text string) any { return object{"role": "user", "content": text} },
		reply: func(a *agent, answer object) (calls []call, said string) {
			for _, item := range listOf(answer["output"]) {
				a.messages = append(a.messages, item)
				switch i := mapOf(item); i["type"] {
				case "function_call":
					calls = append(calls, callOf(i["call_id"], i["name"], i["arguments"]))
				case "message":
					said += text(mapOf(listOf(i["content"])[0])["text"])
				}
			}
			return calls, said
		},
		results: func(a *agent, calls []call) {
			for _, c := range calls {
				a.messages = append(a.messages, object{"type": "function_call_output", "call_id": c.id, "output": returned(c.name)})
			}
		},
		// The items as they ended must be those of the whole response.
		assemble: func(events []object) object {
			var output []any
			for _, e := range events {
				if e["type"] == "response.output_item.done" {
					output = append(output, e["item"])
				}
			}
			return object{"output": output}
		},
	}
}

func anthropicAgent() *agent {
	var tools []object
	for _, name := range toolNames {
		tools = append(tools, object{"name": name, "input_schema": schema()})
	}
	return &agent{
		path: "/v1/messages", list: "messages",
		request: object{"model": "fake", "max_tokens": 4000, "tools": tools, "thinking": object{"type": "enabled", "budget_tokens": 1024}},
		user:    func(text string) any { return object{"role": "user", "content": text} },
		reply: func(a *agent, answer object) (calls []call, said string) {
			for _, block := range listOf(answer["content"]) {
				switch b := mapOf(block); b["type"] {
				case "tool_use":
					calls = append(calls, callOf(b["id"], b["name"], b["input"]))
				case "text":
					said += text(b["text"])
				}
			}
			a.messages = append(a.messages, object{"role": "assistant", "content": answer["content"]})
			return calls, said
		},
		results: func(a *agent, calls []call) {
			var blocks []object
			for _, c := range calls {
				blocks = append(blocks, object{"type": "tool_result", "tool_use_id": c.id, "content": returned(c.name)})
			}
			a.messages = append(a.messages, object{"role": "user", "content": blocks})
		},
		assemble: assembleAnthropic,
	}
}

func assembleAnthropic(events []object) object {
	var blocks []any
	input := ""
	for _, e := range events {
		delta := mapOf(e["delta"])
		switch e["type"] {
		case "content_block_start":
			blocks, input = append(blocks, e["content_block"]), ""
		case "content_block_delta":
			block := mapOf(blocks[len(blocks)-1])
			for _, key := range []string{"text", "thinking", "signature"} {
				if piece, ok := delta[key].(string); ok {
					block[key] = text(block[key]) + piece
				}
			}
			input += text(delta["partial_json"])
		case "content_block_stop":
			if input != "" {
				mapOf(blocks[len(blocks)-1])["input"] = json.RawMessage(input)
			}
		}
	}
	return object{"content": blocks}
}

func geminiAgent() *agent {
	var tools []object
	for _, name := range toolNames {
		tools = append(tools, object{"name": name, "parameters": schema()})
	}
	return &agent{
		path: "/v1beta/models/fake:generateContent", list: "contents",
		request: object{"tools": []object{{"functionDeclarations": tools}}},
		user:    func(text string) any { return object{"role": "user", "parts": []object{{"text": text}}} },
		reply: func(a *agent, answer object) (calls []call, said string) {
			content := mapOf(mapOf(listOf(answer["candidates"])[0])["content"])
			a.messages = append(a.messages, content)
			for _, part := range listOf(content["parts"]) {
				if f := mapOf(mapOf(part)["functionCall"]); f != nil {
					calls = append(calls, callOf("", f["name"], f["args"]))
				}
				said += text(mapOf(part)["text"])
			}
			return calls, said
		},
		results: func(a *agent, calls []call) {
			var parts []object
			for _, c := range calls {
				parts = append(parts, object{"functionResponse": object{"name": c.name, "response": object{"result": returned(c.name)}}})
			}
			a.messages = append(a.messages, object{"role": "user", "parts": parts})
		},
		assemble: func(events []object) object {
			var parts []any
			for _, e := range events {
				parts = append(parts, listOf(mapOf(mapOf(listOf(e["candidates"])[0])["content"])["parts"])...)
			}
			return object{"candidates": []any{object{"content": object{"role": "model", "parts": parts}}}}
		},
	}
}
