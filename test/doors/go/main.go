// Scenarios plays scenarios of an agent through the package for Go, built as
// any program builds it that is not of this repository. It prints what it sees.
//
//	scenarios NAME SIDECAR FAKES CONVERSATION FORMAT
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	palimpsest "github.com/palimpsest-context/palimpsest/clients/go"
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func main() {
	err := run(context.Background(), os.Args[1:])
	if errors.Is(err, palimpsest.ErrOlderSidecar) {
		fmt.Println("older sidecar:", err)
		return
	}
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

// agent is one conversation with a model that is played.
type agent struct {
	conv   *palimpsest.Conversation
	fakes  string
	format palimpsest.Format
	model  string
	stream bool
}

func run(ctx context.Context, a []string) error {
	name, sidecar, fakes, id, format := a[0], a[1], a[2], a[3], palimpsest.Format(a[4])
	p, err := open(ctx, sidecar)
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	citing := true
	threshold := int32(3000)
	policy := &pb.Policy{Citations: &pb.CitationsPolicy{Enabled: &citing, ThresholdChars: &threshold}}
	one := &agent{p.Conversation(id, palimpsest.WithPolicy(policy)), fakes, format, "fake", name == "stream"}
	switch name {
	case "toy", "stream":
		return one.toy(ctx)
	case "steps":
		one.conv = p.Conversation(id, palimpsest.WithPolicy(policy), palimpsest.WithDurableSteps())
		return errors.Join(one.toy(ctx), one.conv.Flush(ctx))
	case "abort":
		return one.abort(ctx)
	case "kill":
		return one.kill(ctx)
	case "resume":
		return one.resume(ctx)
	case "sync":
		return one.sync(ctx)
	case "refused":
		return refused(ctx, p, id)
	}
	return fmt.Errorf("there is no scenario %s", name)
}

// open takes local as a sidecar of the program's own.
func open(ctx context.Context, sidecar string) (*palimpsest.Palimpsest, error) {
	if sidecar == "local" {
		return palimpsest.Local(ctx)
	}
	return palimpsest.New(sidecar, palimpsest.WithTimeout(20*time.Second))
}

func (a *agent) toy(ctx context.Context) error {
	for _, said := range []string{"Why does billing fail?", "Say that twice."} {
		a.conv.User(said)
		if err := a.loop(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (a *agent) loop(ctx context.Context) error {
	for {
		reply, calls, err := a.step(ctx)
		if err != nil {
			return err
		}
		if len(calls) == 0 {
			fmt.Println("->", strings.ReplaceAll(string(reply), "\n", " "))
			return nil
		}
		if err := a.conv.Answer(ctx, calls, tools()); err != nil {
			return err
		}
	}
}

// step builds, calls the model, and puts its reply on record.
func (a *agent) step(ctx context.Context) ([]byte, []palimpsest.Call, error) {
	body, err := a.request(ctx)
	if err != nil {
		return nil, nil, err
	}
	response, err := a.post(ctx, body)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if !a.stream {
		reply, err := io.ReadAll(response.Body)
		if err != nil {
			return nil, nil, err
		}
		calls, err := a.conv.Add(ctx, reply)
		return reply, calls, err
	}
	var seen []byte
	stream := a.conv.Stream(palimpsest.Events(response.Body))
	for event := range stream.Events() {
		seen = append(seen, event...)
	}
	calls, err := stream.End(ctx)
	return seen, calls, err
}

func (a *agent) request(ctx context.Context) ([]byte, error) {
	r := palimpsest.Request{Model: a.model, System: "You are terse.", Tools: definitions(a.format), With: map[string]any{}}
	if a.stream && a.format != palimpsest.Gemini {
		r.With["stream"] = true
	}
	switch a.format {
	case palimpsest.Responses:
		return a.conv.Responses(ctx, r)
	case palimpsest.Anthropic:
		r.With["max_tokens"] = 1000
		return a.conv.Anthropic(ctx, r)
	case palimpsest.Gemini:
		return a.conv.Gemini(ctx, r)
	default:
		if a.stream {
			r.With["stream_options"] = map[string]any{"include_usage": true}
		}
		return a.conv.OpenAI(ctx, r)
	}
}

func (a *agent) path() string {
	switch a.format {
	case palimpsest.Responses:
		return "/v1/responses"
	case palimpsest.Anthropic:
		return "/v1/messages"
	case palimpsest.Gemini:
		if a.stream {
			return "/v1beta/models/" + a.model + ":streamGenerateContent?alt=sse"
		}
		return "/v1beta/models/" + a.model + ":generateContent"
	default:
		return "/v1/chat/completions"
	}
}

func (a *agent) post(ctx context.Context, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.fakes+a.path(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Anthropic-Version", "2023-06-01")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(response.Body)
		return nil, fmt.Errorf("the provider refused: %s", said)
	}
	return response, nil
}

// abort has the first stream break off, and goes on.
func (a *agent) abort(ctx context.Context) error {
	a.conv.User("Why does billing fail?")
	a.model, a.stream = "fake-abort", true
	_, calls, err := a.step(ctx)
	if err == nil || len(calls) > 0 {
		return fmt.Errorf("the stream did not break off: %d calls", len(calls))
	}
	fmt.Println("aborted")
	a.stream = false // the same model, whose signatures it alone takes
	return a.loop(ctx)
}

// kill ends the process between a reply and its results.
func (a *agent) kill(ctx context.Context) error {
	a.conv.User("Why does billing fail?")
	_, calls, err := a.step(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("killed with %d calls\n", len(calls))
	os.Exit(7)
	return nil
}

// resume goes on where a killed process ended.
func (a *agent) resume(ctx context.Context) error {
	calls, err := a.conv.Waiting(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("resumed with %d calls\n", len(calls))
	if err := a.conv.Answer(ctx, calls, tools()); err != nil {
		return err
	}
	return a.loop(ctx)
}

// refused prints why calls are refused.
func refused(ctx context.Context, p *palimpsest.Palimpsest, id string) error {
	conv := p.Conversation(id)
	for _, list := range []string{
		`[{"role":"user","content":"one"},{"role":"assistant","content":"two"},{"role":"user","content":"three"}]`,
		`[{"role":"user","content":"one"},{"role":"assistant","content":"other"},{"role":"user","content":"three"}]`,
		`[{"role":"nobody"}]`,
	} {
		_, err := conv.Sync(ctx, palimpsest.OpenAI, json.RawMessage(list), palimpsest.Request{Model: "fake"})
		var refusal *palimpsest.Error
		if errors.As(err, &refusal) {
			fmt.Println("refused:", refusal.Reason, len(refusal.Violations) > 0)
		}
	}
	return nil
}

// sync is an agent that keeps the whole list itself, as frameworks do, of Chat alone.
func (a *agent) sync(ctx context.Context) error {
	var list []json.RawMessage
	all := definitionsWith(palimpsest.OpenAI)
	for _, said := range []string{"Why does billing fail?", "Say that twice."} {
		list = append(list, raw(map[string]any{"role": "user", "content": said}))
		for {
			body, err := a.conv.Sync(ctx, palimpsest.OpenAI, raw(list), palimpsest.Request{Model: "fake", Tools: all})
			if err != nil {
				return err
			}
			message, calls, err := a.chat(ctx, body)
			if err != nil {
				return err
			}
			list = append(list, message)
			if len(calls) == 0 {
				fmt.Println("->", string(message))
				break
			}
			if list, err = a.results(ctx, list, calls); err != nil {
				return err
			}
		}
	}
	fmt.Printf("the list has %d messages\n", len(list))
	return nil
}

type chatCall struct {
	ID       string
	Function struct{ Name, Arguments string }
}

// chat calls the model, and returns its message and the calls in it.
func (a *agent) chat(ctx context.Context, body []byte) (json.RawMessage, []chatCall, error) {
	response, err := a.post(ctx, body)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	var reply struct {
		Choices []struct{ Message json.RawMessage }
	}
	whole, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, nil, err
	}
	if _, err := a.conv.Add(ctx, whole); err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(whole, &reply); err != nil {
		return nil, nil, err
	}
	var message struct {
		ToolCalls []chatCall `json:"tool_calls"`
	}
	err = json.Unmarshal(reply.Choices[0].Message, &message)
	return reply.Choices[0].Message, message.ToolCalls, err
}

func (a *agent) results(ctx context.Context, list []json.RawMessage, calls []chatCall) ([]json.RawMessage, error) {
	for _, c := range calls {
		var text string
		var err error
		if tool := tools()[c.Function.Name]; tool != nil {
			text, err = tool(ctx, json.RawMessage(c.Function.Arguments))
		} else {
			text, err = a.conv.Recall(ctx, c.Function.Name, json.RawMessage(c.Function.Arguments), c.ID)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, raw(map[string]any{"role": "tool", "tool_call_id": c.ID, "content": text}))
	}
	return list, nil
}

func raw(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
