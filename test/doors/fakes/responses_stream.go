package main

import (
	"maps"
)

// events of Responses number themselves, and tell of each item how it begins, grows and ends.
func (responses) events(r *request, a *answer) []event {
	s := &responseStream{}
	s.add("response.created", object{"response": r.response(a, "in_progress", []object{})})
	s.add("response.in_progress", object{"response": r.response(a, "in_progress", []object{})})
	output := r.output(a)
	for i, item := range output {
		last := i == len(output)-1
		switch item["type"] {
		case "message":
			s.message(i, item, a.text, last)
		case "function_call":
			s.call(i, item, last)
		default:
			s.reasoning(i, item)
		}
	}
	s.add("response.completed", object{"response": r.response(a, "completed", output)})
	return s.out
}

type responseStream struct{ stream }

func (s *responseStream) add(kind string, data object) *event {
	return s.stream.add(kind, with(data, object{"type": kind, "sequence_number": len(s.out)}))
}

func (s *responseStream) message(i int, item object, text string, last bool) {
	at := func(more object) object {
		more["item_id"], more["output_index"], more["content_index"] = item["id"], i, 0
		return more
	}
	s.add("response.output_item.added", object{"output_index": i, "item": with(item, object{"status": "in_progress", "content": []any{}})})
	s.add("response.content_part.added", at(object{"part": textPart("")}))
	for j, piece := range pieces(text, 4) {
		s.add("response.output_text.delta", at(object{"delta": piece, "logprobs": []any{}})).cut = last && j == 1
	}
	s.add("response.output_text.done", at(object{"text": text, "logprobs": []any{}}))
	s.add("response.content_part.done", at(object{"part": textPart(text)}))
	s.add("response.output_item.done", object{"output_index": i, "item": item})
}

func (s *responseStream) call(i int, item object, last bool) {
	s.add("response.output_item.added", object{"output_index": i, "item": with(item, object{"status": "in_progress", "arguments": ""})})
	arguments, _ := item["arguments"].(string)
	for j, piece := range pieces(arguments, 2) {
		e := s.add("response.function_call_arguments.delta", object{"item_id": item["id"], "output_index": i, "delta": piece})
		e.cut = last && j == 0
	}
	s.add("response.function_call_arguments.done", object{
		"item_id": item["id"], "output_index": i, "arguments": arguments, "name": item["name"],
	})
	s.add("response.output_item.done", object{"output_index": i, "item": item})
}

func (s *responseStream) reasoning(i int, item object) {
	s.add("response.output_item.added", object{"output_index": i, "item": with(item, object{"summary": []object{}})})
	summary, _ := item["summary"].([]object)
	for j, part := range summary {
		at := func(more object) object {
			return with(more, object{"item_id": item["id"], "output_index": i, "summary_index": j})
		}
		s.add("response.reasoning_summary_part.added", at(object{"part": with(part, object{"text": ""})}))
		s.add("response.reasoning_summary_text.delta", at(object{"delta": part["text"]}))
		s.add("response.reasoning_summary_text.done", at(object{"text": part["text"]}))
		s.add("response.reasoning_summary_part.done", at(object{"part": part}))
	}
	s.add("response.output_item.done", object{"output_index": i, "item": item})
}

// with is an object with some members replaced.
func with(o, more object) object {
	out := maps.Clone(o)
	maps.Copy(out, more)
	return out
}
