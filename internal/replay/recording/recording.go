// Package recording reads recorded agent runs, in the forms that providers and tools write, as messages that can be appended. It knows no
// sidecar and no judge.
package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// Recording is one recorded conversation, ready to be appended.
type Recording struct {
	File     string
	Name     string
	Messages []*pb.Message
	Tools    string // definitions as JSON, sent as fixed input; empty if none
	// continued are the messages that were one with the message before them.
	continued map[int]bool
}

// Asks says whether a context is asked for before the message.
func (r *Recording) Asks(i int) bool {
	return r.Messages[i].GetRole() == pb.Role_ROLE_ASSISTANT && !r.continued[i]
}

// Builds is how often a context is asked for.
func (r *Recording) Builds() (n int) {
	for i := range r.Messages {
		if r.Asks(i) {
			n++
		}
	}
	return n
}

// Options says how recordings are read: every Sample-th conversation, the first
// of them at Offset, and if Join is over 1 so many of a file in a row as one.
type Options struct {
	Raw    bool
	Split  bool
	Sample int
	Offset int
	Join   int
	Model  string
}

// Load reads every file and keeps every sample-th conversation.
func Load(files []string, o Options) ([]Recording, error) {
	var out []Recording
	seen := 0
	for _, file := range files {
		var kept []Recording
		err := eachValue(file, func(raw json.RawMessage, id string) error {
			seen++
			if (seen-1)%o.Sample != o.Offset {
				return nil
			}
			r, err := parse(raw, id, o)
			r.File = file
			if o.Split {
				r.splitCalls()
			}
			kept = append(kept, r)
			return err
		})
		if err == nil && o.Join > 1 {
			kept, err = join(kept, o.Join)
		}
		if err != nil {
			return nil, fmt.Errorf("replay: %s: %w", file, err)
		}
		out = append(out, kept...)
	}
	if len(out) == 0 {
		return nil, errors.New("replay: the files hold no conversation")
	}
	return out, nil
}

// eachValue calls do for each JSON value of a file, with an id made of the
// file's name and the value's number.
func eachValue(file string, do func(raw json.RawMessage, id string) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	decoder := json.NewDecoder(f)
	for n := 1; ; n++ {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("conversation %d: %w", n, err)
		}
		if err := do(raw, fmt.Sprintf("%s-%d", name, n)); err != nil {
			return fmt.Errorf("conversation %d: %w", n, err)
		}
	}
}

// document is a conversation as it is recorded. System and max_tokens and
// their like are those of a request to a provider.
type document struct {
	ID       json.RawMessage `json:"id"`
	System   json.RawMessage `json:"system"`
	Messages []line          `json:"messages"`
	Tools    json.RawMessage `json:"tools"`
}

// line is a message of any of the documented forms.
type line struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCalls  []lineCall      `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
	Name       string          `json:"name"`
	IsError    bool            `json:"is_error"`
	Thinking   string          `json:"thinking"`
	Raw        *string         `json:"raw"`
}

// lineCall is a call: the documented form, or OpenAI's with its function.
type lineCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Function  *struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// parse reads a conversation: an object with messages, or a list of them.
func parse(raw json.RawMessage, id string, o Options) (Recording, error) {
	var d document
	var err error
	if raw[0] == '[' {
		err = json.Unmarshal(raw, &d.Messages)
	} else {
		err = json.Unmarshal(raw, &d)
	}
	if err != nil {
		return Recording{}, err
	}
	if given := strings.Trim(string(d.ID), `"`); given != "" && given != "null" {
		id = given
	}
	r := Recording{Name: id, Tools: compact(d.Tools)}
	if present(d.System) {
		d.Messages = append([]line{{Role: "system", Content: d.System}}, d.Messages...)
	}
	for i := range d.Messages {
		messages, err := d.Messages[i].messages(o)
		if err != nil {
			return r, fmt.Errorf("message %d: %w", i, err)
		}
		r.Messages = append(r.Messages, messages...)
	}
	return r, nil
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// compact returns raw without white space, or "" if it says nothing.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if !present(raw) || json.Compact(&b, raw) != nil || b.String() == "[]" {
		return ""
	}
	return b.String()
}

// messages returns what is to be appended for a line: one message, or two where
// a user's message of Anthropic's holds results and words.
func (l *line) messages(o Options) ([]*pb.Message, error) {
	role, err := roleOf(l.Role)
	if err != nil {
		return nil, err
	}
	if role == pb.Role_ROLE_TOOL {
		m, err := l.toolMessage(o)
		return []*pb.Message{m}, err
	}
	parts, err := partsOf(l.Content)
	if err != nil {
		return nil, err
	}
	if l.Thinking != "" {
		parts = append([]*pb.Part{reasoning(l.Thinking, "", "recorded")}, parts...)
	}
	for i := range l.ToolCalls {
		parts = append(parts, l.ToolCalls[i].part())
	}
	results, rest := split(parts)
	var out []*pb.Message
	if len(results) > 0 {
		out = append(out, &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: results})
	}
	if len(rest) > 0 || len(results) == 0 {
		out = append(out, &pb.Message{Role: role, Parts: spoken(rest)})
	}
	if role == pb.Role_ROLE_ASSISTANT {
		out[len(out)-1].Model = o.Model
	}
	return out, nil
}

func roleOf(name string) (pb.Role, error) {
	switch name {
	case "system", "developer":
		return pb.Role_ROLE_SYSTEM, nil
	case "user":
		return pb.Role_ROLE_USER, nil
	case "assistant":
		return pb.Role_ROLE_ASSISTANT, nil
	case "tool":
		return pb.Role_ROLE_TOOL, nil
	default:
		return pb.Role_ROLE_UNSPECIFIED, errors.New("its role is none of system, developer, user, assistant, tool")
	}
}

// split parts the results of tools from everything else.
func split(parts []*pb.Part) (results, rest []*pb.Part) {
	for _, p := range parts {
		if p.GetToolResult() != nil {
			results = append(results, p)
		} else {
			rest = append(rest, p)
		}
	}
	return results, rest
}

// spoken gives a message that holds nothing an empty text: a message has at
// least one part.
func spoken(parts []*pb.Part) []*pb.Part {
	if len(parts) == 0 {
		return []*pb.Part{textPart("")}
	}
	return parts
}

func (l *line) toolMessage(o Options) (*pb.Message, error) {
	content := l.Content
	if o.Raw && l.Raw != nil {
		// A string always encodes.
		content, _ = json.Marshal(*l.Raw)
	}
	result, err := resultOf(l.ToolCallID, l.Name, content, l.IsError)
	return &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{result}}, err
}

func (c *lineCall) part() *pb.Part {
	name, arguments := c.Name, c.Arguments
	if c.Function != nil {
		name, arguments = c.Function.Name, c.Function.Arguments
	}
	return callPart(c.ID, name, arguments)
}
