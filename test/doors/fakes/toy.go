package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// Models that do not answer whole.
const (
	aborting = "fake-abort"
	slow     = "fake-slow"
)

// again is what the user says for the second time around.
const again = "Say that twice."

// answer is what the toy says to a request.
type answer struct {
	id      string
	text    string
	calls   []call
	thought string
	// scripted: it thinks where it has a thought, in every API.
	scripted bool
	ids      bool // Gemini: its calls have ids
	slow     bool // a stream pauses between pieces
	cut      bool // a stream breaks off
}

type call struct{ id, name, arguments string }

// step is what the toy asks of tools at once.
type step struct {
	text  string
	calls []wish
}

type wish struct {
	tool      string
	arguments func(r *request) (object, bool)
}

var (
	handle    = regexp.MustCompile(`c[0-9]+-[a-z2-7]{8}`)
	noted     = regexp.MustCompile(`expand_message\("?(s?[0-9]+)"?\)`)
	fatalLine = regexp.MustCompile(`[^\n]*FATAL[^\n]*`)
)

// steps are the toy's, in order. A tool that is not offered, or lacks what to ask for, is left out.
func steps() []step {
	return []step{
		{"Let me look at both.", []wish{
			{"get_weather", always(object{"city": "Kraków"})}, {"web_search", always(object{"q": "billing outage"})},
		}},
		{"", []wish{{"fetch_log", always(object{"service": "billing"})}}},
		{"", []wish{{"retrieve_content", func(r *request) (object, bool) {
			id := r.find(handle)
			return object{"content_id": id, "search_terms": []string{"FATAL"}}, id != ""
		}}}},
		{"", []wish{
			{"expand_message", func(r *request) (object, bool) { return object{"id": r.noted()}, true }},
			{"search_conversation", always(object{"query": "weather"})},
		}},
	}
}

func always(arguments object) func(*request) (object, bool) {
	return func(*request) (object, bool) { return arguments, true }
}

// play decides what to answer.
func play(r *request) *answer {
	a := &answer{id: r.seed, thought: "I think of " + r.seed + ".", slow: r.model == slow, cut: r.model == aborting}
	if r.mute {
		a.text = r.conclusion()
		return a
	}
	plan, called := steps(), r.called(r.blocks)
	repeated := r.after(again)
	if repeated >= 0 {
		plan, called = []step{{"Once more.", plan[0].calls[:1]}}, r.called(r.blocks[repeated:])
	}
	for _, s := range plan {
		if a.calls = r.wanted(s, called); len(a.calls) > 0 {
			a.text = s.text
			if r.model == aborting && a.text == "" {
				a.text = "Let me look."
			}
			return a
		}
	}
	a.text = r.conclusion()
	if repeated >= 0 {
		a.text += " " + a.text
	}
	return a
}

// wanted are the calls of a step that can be made and were not.
func (r *request) wanted(s step, called []string) (out []call) {
	for _, w := range s.calls {
		name := r.offers(w.tool)
		arguments, ok := w.arguments(r)
		if name == "" || !ok || slices.Contains(called, w.tool) {
			continue
		}
		text, err := json.Marshal(arguments)
		if err != nil {
			panic(err) // the fakes write what they made
		}
		out = append(out, call{id: fmt.Sprintf("%s_%d", r.seed, len(out)), name: name, arguments: string(text)})
		if r.single {
			break
		}
	}
	return out
}

// offers returns the name under which a tool is offered.
func (r *request) offers(tool string) string {
	i := slices.IndexFunc(r.offered, func(name string) bool { return toolOf(name) == tool })
	if i < 0 {
		return ""
	}
	return r.offered[i]
}

// toolOf is a tool's name without what a framework puts before it.
func toolOf(name string) string {
	for _, tool := range []string{
		"get_weather", "web_search", "fetch_log", "retrieve_content", "expand_message", "search_conversation", "search_memory",
	} {
		before, ok := strings.CutSuffix(name, tool)
		if ok && (before == "" || slices.ContainsFunc([]string{"__", ".", "/", "-"}, func(s string) bool { return strings.HasSuffix(before, s) })) {
			return tool
		}
	}
	return name
}

// called are the tools that were called in blocks.
func (r *request) called(blocks []validate.Block) (out []string) {
	for _, item := range itemsOf(blocks, validate.Call) {
		out = append(out, toolOf(item.Name))
	}
	return out
}

// after returns where the user said a text last, or -1.
func (r *request) after(said string) int {
	for i := len(r.blocks) - 1; i >= 0; i-- {
		if r.blocks[i].Role != "user" {
			continue
		}
		for _, item := range itemsOf(r.blocks[i:i+1], validate.Text) {
			if strings.Contains(strings.Join(item.Texts, ""), said) {
				return i
			}
		}
	}
	return -1
}

// find returns what first matches in the tools' results.
func (r *request) find(pattern *regexp.Regexp) string {
	for _, item := range itemsOf(r.blocks, validate.Result) {
		for _, text := range item.Texts {
			if found := pattern.FindString(text); found != "" {
				return found
			}
		}
	}
	return ""
}

// noted is the message that a note in the context names, or the second.
func (r *request) noted() string {
	for _, b := range r.blocks {
		for _, item := range b.Items {
			for _, text := range item.Texts {
				if m := noted.FindStringSubmatch(text); m != nil {
					return m[1]
				}
			}
		}
	}
	return "1"
}

// conclusion is the final text: it tells whether the log's one line reached the model.
func (r *request) conclusion() string {
	const most = 200
	line := []rune(strings.TrimSpace(r.find(fatalLine)))
	if len(line) == 0 {
		return "I have seen no fatal line."
	}
	return "The log says: " + string(line[:min(len(line), most)])
}

func itemsOf(blocks []validate.Block, kind validate.Kind) (out []validate.Item) {
	for _, b := range blocks {
		for _, item := range b.Items {
			if item.Kind == kind {
				out = append(out, item)
			}
		}
	}
	return out
}

// digest is a short name of a text, made of letters and digits.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}
