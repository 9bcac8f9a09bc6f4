// Package anthropic asks models through Anthropic's Messages API.
package anthropic

import (
	"context"
	"net/http"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// DefaultURL is Anthropic's own.
const DefaultURL = "https://api.anthropic.com"

// apiVersion is the version of the API that this client speaks.
const apiVersion = "2023-06-01"

// Options configures a Client. Its URL excludes the version of the API: https://api.anthropic.com.
type Options = summarize.EndpointOptions

// Client calls the models of one endpoint. It implements summarize.Model.
type Client struct {
	endpoint *summarize.Endpoint
}

// New returns a client, or an error if the URL is invalid. Close closes its idle connections.
func New(o Options) (*Client, error) {
	header := http.Header{"Anthropic-Version": {apiVersion}}
	if o.Key != "" {
		header.Set("X-Api-Key", o.Key)
	}
	endpoint, err := summarize.NewEndpoint(o, header, "v1", "messages")
	if err != nil {
		return nil, err
	}
	return &Client{endpoint: endpoint}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.endpoint.Close() }

type question struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    string    `json:"system"`
	Messages  []message `json:"messages"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type answer struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	StopReason string `json:"stop_reason"`
	Usage      struct {
		InputTokens              int64 `json:"input_tokens"`
		CacheCreationInputTokens int64 `json:"cache_creation_input_tokens"`
		CacheReadInputTokens     int64 `json:"cache_read_input_tokens"`
		OutputTokens             int64 `json:"output_tokens"`
	} `json:"usage"`
}

// Complete asks a model. The text of the answer is that of its text blocks; tokens read from the provider's cache count as input.
func (c *Client) Complete(ctx context.Context, call summarize.Call) (summarize.Answer, error) {
	var a answer
	if _, err := c.endpoint.Post(ctx, questionOf(&call), &a); err != nil {
		return summarize.Answer{}, err
	}
	if a.Content == nil {
		return summarize.Answer{}, &summarize.Failure{Reason: summarize.BadAnswer}
	}
	var text strings.Builder
	calls := false
	for _, block := range a.Content {
		if block.Type == "text" {
			text.WriteString(block.Text)
		}
		calls = calls || strings.HasSuffix(block.Type, "tool_use")
	}
	return summarize.Answer{
		Text:         text.String(),
		Truncated:    a.StopReason == "max_tokens",
		ToolCall:     calls,
		InputTokens:  a.Usage.InputTokens + a.Usage.CacheCreationInputTokens + a.Usage.CacheReadInputTokens,
		OutputTokens: a.Usage.OutputTokens,

		CacheReadTokens: a.Usage.CacheReadInputTokens, CacheWriteTokens: a.Usage.CacheCreationInputTokens,
	}, nil
}

// questionOf is what is posted: a body of the call's own, with the model and the limit before it, or the question.
func questionOf(call *summarize.Call) any {
	if call.Body != nil {
		return call.WithMembers("model", call.Model, "max_tokens", call.MaxOutput)
	}
	return question{
		Model: call.Model, MaxTokens: call.MaxOutput, System: call.System, Messages: []message{{"user", call.Prompt}},
	}
}
