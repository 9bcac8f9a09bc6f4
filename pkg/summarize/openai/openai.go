// Package openai asks models through the Chat Completions API, as OpenAI offers it and vLLM, Ollama, LiteLLM and many others speak it, and
// for requests that are given to it whole through the Responses API.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// DefaultURL is OpenAI's own.
const DefaultURL = "https://api.openai.com/v1"

// Options configures a Client. Its URL includes the version of the API: https://api.openai.com/v1, http://localhost:11434/v1.
type Options = summarize.EndpointOptions

// Client calls the models of one endpoint. It implements summarize.Model.
type Client struct {
	endpoint  *summarize.Endpoint
	responses *summarize.Endpoint // of the Responses API
	newer     bool                // max_completion_tokens is tried first
}

// New returns a client, or an error if the URL is invalid. Close closes its idle connections.
func New(o Options) (*Client, error) {
	header := http.Header{}
	if o.Key != "" {
		header.Set("Authorization", "Bearer "+o.Key)
	}
	endpoint, err := summarize.NewEndpoint(o, header, "chat", "completions")
	if err != nil {
		return nil, err
	}
	responses, err := summarize.NewEndpoint(o, header.Clone(), "responses")
	if err != nil {
		return nil, err
	}
	return &Client{endpoint: endpoint, responses: responses, newer: isOpenAI(o.URL)}, nil
}

// isOpenAI reports whether the endpoint is OpenAI's or Azure's.
func isOpenAI(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && (u.Hostname() == "api.openai.com" || strings.HasSuffix(u.Hostname(), ".openai.azure.com"))
}

// Close closes idle connections.
func (c *Client) Close() {
	c.endpoint.Close()
	c.responses.Close()
}

type question struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	// One of these two is set.
	MaxTokens           int `json:"max_tokens,omitempty"`
	MaxCompletionTokens int `json:"max_completion_tokens,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type answer struct {
	Choices []struct {
		Message struct {
			Content   *string           `json:"content"`
			ToolCalls []json.RawMessage `json:"tool_calls"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     int64  `json:"prompt_tokens"`
		CompletionTokens int64  `json:"completion_tokens"`
		PromptDetails    cached `json:"prompt_tokens_details"`
	} `json:"usage"`
}

// cached is what the prompt cache knew of the input, and what was written to it.
type cached struct {
	Read    int64 `json:"cached_tokens"`
	Written int64 `json:"cache_write_tokens"`
}

// Complete asks a model. It sends only what every server supports: no response_format, and no temperature, which some refuse. The caller
// checks the answer.
//
// The limit on the answer has two names: OpenAI's newer models accept only max_completion_tokens, most other servers max_tokens. The
// endpoint's address decides which is tried first; if a server answers 400 and names the field, the other is tried once.
func (c *Client) Complete(ctx context.Context, call summarize.Call) (summarize.Answer, error) {
	if call.Format == conversation.FormatOpenAIResponses {
		return c.respond(ctx, &call)
	}
	out, refusal, err := c.post(ctx, call, c.newer)
	if isAboutTheField(refusal, err) {
		out, _, err = c.post(ctx, call, !c.newer)
	}
	if err != nil {
		return summarize.Answer{}, err
	}
	return read(out)
}

func (c *Client) post(ctx context.Context, call summarize.Call, newer bool) (out answer, refusal []byte, err error) {
	refusal, err = c.endpoint.Post(ctx, questionOf(&call, newer), &out)
	return out, refusal, err
}

// questionOf is what is posted: a body of the call's own, with the model and the limit before it, or the question.
func questionOf(call *summarize.Call, newer bool) any {
	limit := "max_tokens"
	if newer {
		limit = "max_completion_tokens"
	}
	if call.Body != nil {
		return call.WithMembers("model", call.Model, limit, call.MaxOutput)
	}
	q := question{Model: call.Model, Messages: []message{{"system", call.System}, {"user", call.Prompt}}}
	if newer {
		q.MaxCompletionTokens = call.MaxOutput
	} else {
		q.MaxTokens = call.MaxOutput
	}
	return q
}

// isAboutTheField reports whether a request was refused because of the limit's name.
func isAboutTheField(refusal []byte, err error) bool {
	var f *summarize.Failure
	return errors.As(err, &f) && f.Status == http.StatusBadRequest &&
		(bytes.Contains(refusal, []byte("max_tokens")) || bytes.Contains(refusal, []byte("max_completion_tokens")))
}

func read(a answer) (summarize.Answer, error) {
	if len(a.Choices) == 0 {
		return summarize.Answer{}, &summarize.Failure{Reason: summarize.BadAnswer}
	}
	out := summarize.Answer{
		Truncated:    a.Choices[0].FinishReason == "length",
		ToolCall:     len(a.Choices[0].Message.ToolCalls) > 0,
		InputTokens:  a.Usage.PromptTokens,
		OutputTokens: a.Usage.CompletionTokens,

		CacheReadTokens: a.Usage.PromptDetails.Read, CacheWriteTokens: a.Usage.PromptDetails.Written,
	}
	if content := a.Choices[0].Message.Content; content != nil {
		out.Text = *content
	}
	return out, nil
}
