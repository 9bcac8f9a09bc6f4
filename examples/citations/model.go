package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// message is what a model is sent, in the form of OpenAI's Chat Completions.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// model answers the messages that it is shown.
type model func(shown []message) *pb.Message

// step is what a scripted model does next. It sees the newest message.
type step func(newest string) *pb.Message

// script is a model that takes one step a call.
func script(steps ...step) model {
	return func(shown []message) *pb.Message {
		if shown[0] != (message{Role: "system", Content: prompt}) {
			check(false, "the system prompt stands first")
		}
		next := steps[0]
		steps = steps[1:]
		return next(shown[len(shown)-1].Content)
	}
}

var (
	handles   = regexp.MustCompile(`c\d+-[a-z0-9]{8}`)
	locations = regexp.MustCompile(`lines (\d+)`)
)

// readsLog: citations first, then excerpts, then a few lines around one.
func readsLog() model {
	var handle string
	return script(
		func(string) *pb.Message { return calls("run_build", arguments{"release": release}) },
		func(newest string) *pb.Message {
			handle = handles.FindString(newest)
			check(handle != "" && !strings.Contains(newest, fault), "the model sees a citation, %d characters of %d, and not the fault",
				len([]rune(newest)), len(buildLog()))
			return calls("retrieve_content", arguments{"content_id": handle, "search_terms": []string{"undefined reference", "error"}})
		},
		func(newest string) *pb.Message {
			check(strings.Contains(newest, fault), "one call for excerpts, and it reads: %s", fault)
			first, err := strconv.Atoi(locations.FindStringSubmatch(newest)[1])
			must(err)
			return calls("retrieve_content", arguments{"content_id": handle, "unit": "lines", "start": first - 1, "end": first + 9})
		},
		func(newest string) *pb.Message {
			check(strings.Contains(newest, fault), "a range shows the lines around it")
			return calls("search_conversation", arguments{"query": "build of a release fails"})
		},
		func(newest string) *pb.Message {
			check(strings.Contains(newest, release), "a search finds what the user asked")
			return calls("expand_message", arguments{"id": "0"})
		},
		func(newest string) *pb.Message {
			check(strings.Contains(newest, "Why does the build of release "+release+" fail?"), "and expanding brings it back, word for word")
			return textMessage(pb.Role_ROLE_ASSISTANT, "The linker does not find parse_header.")
		},
	)
}

// readsPage looks into what the agent stored.
func readsPage(handle string) model {
	return script(
		func(newest string) *pb.Message {
			check(strings.Contains(newest, handle) && !strings.Contains(newest, remedy), "the model sees its citation: %s", handle)
			return calls("retrieve_content", arguments{"content_id": handle, "search_terms": []string{"undefined reference to a function"}})
		},
		func(newest string) *pb.Message {
			check(strings.Contains(newest, remedy), "one call, and it reads: %s", remedy)
			return textMessage(pb.Role_ROLE_ASSISTANT, remedy)
		},
	)
}

// readsAgain asks for what is gone, and for what is not.
func readsAgain(gone, kept string) model {
	return script(
		func(string) *pb.Message {
			return calls("retrieve_content", arguments{"content_id": gone, "search_terms": []string{"undefined reference"}})
		},
		func(newest string) *pb.Message {
			check(strings.Contains(strings.ToLower(newest), "do not retry"), "of what is gone it is told so once: %s", newest)
			return calls("retrieve_content", arguments{"content_id": kept, "search_terms": []string{"undefined reference"}})
		},
		func(newest string) *pb.Message {
			check(strings.Contains(newest, fault), "what a message cites lives as long as the message")
			return textMessage(pb.Role_ROLE_ASSISTANT, "The page is gone; the log says the same as before.")
		},
	)
}

// arguments are those of a call, by name.
type arguments map[string]any

func calls(tool string, a arguments) *pb.Message {
	text, err := json.Marshal(a)
	must(err)
	call := &pb.ToolCall{CallId: "call-1", Name: tool, ArgumentsJson: string(text)}
	return &pb.Message{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{{Content: &pb.Part_ToolCall{ToolCall: call}}}}
}

const (
	release = "4.7.1"
	fault   = "ld: error: undefined reference to parse_header in http_reader.o"
	remedy  = "Name the library that defines it behind the files that use it."
)

// ownTool answers the one tool that is the agent's own.
func ownTool(call *pb.ToolCall) *pb.ToolResult {
	return &pb.ToolResult{CallId: call.GetCallId(), Name: call.GetName(), Output: &pb.ToolResult_Text{Text: buildLog()}}
}

// buildLog is what the build prints: 6,000 lines, one of which matters.
func buildLog() string {
	var b strings.Builder
	for n := range 6000 {
		if n == 4321 {
			b.WriteString(fault + "\n")
			continue
		}
		fmt.Fprintf(&b, "[%04d] cc -O2 -c src/module_%d/part_%d.c -o build/part_%d.o\n", n, n%37, n, n)
	}
	return b.String()
}

// linkerPage is a page of the web: sixty sections, one for each message of a linker.
func linkerPage() string {
	var b strings.Builder
	b.WriteString("<html><head><title>Messages</title></head><body>")
	for n := range 60 {
		title, text := fmt.Sprintf("Warning %d", n), strings.Repeat("This warning can be left alone in most builds. ", 8)
		if n == 41 {
			title, text = "Undefined reference", "A function is called and nothing that is linked defines it. "+remedy
		}
		fmt.Fprintf(&b, "<h2>%s</h2><p>%s</p>", title, text)
	}
	return b.String() + "</body></html>"
}
