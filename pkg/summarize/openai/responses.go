package openai

import (
	"context"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// response is an answer of the Responses API.
type response struct {
	Output []struct {
		Type    string `json:"type"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	} `json:"output"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct {
		InputTokens  int64  `json:"input_tokens"`
		OutputTokens int64  `json:"output_tokens"`
		InputDetails cached `json:"input_tokens_details"`
	} `json:"usage"`
}

// respond posts a body of the Responses API.
func (c *Client) respond(ctx context.Context, call *summarize.Call) (summarize.Answer, error) {
	var r response
	if _, err := c.responses.Post(ctx, call.WithMembers("model", call.Model, "max_output_tokens", call.MaxOutput), &r); err != nil {
		return summarize.Answer{}, err
	}
	if r.Output == nil {
		return summarize.Answer{}, &summarize.Failure{Reason: summarize.BadAnswer}
	}
	out := summarize.Answer{
		Truncated: r.Incomplete.Reason == "max_output_tokens", InputTokens: r.Usage.InputTokens, OutputTokens: r.Usage.OutputTokens,
		CacheReadTokens: r.Usage.InputDetails.Read, CacheWriteTokens: r.Usage.InputDetails.Written,
	}
	var text strings.Builder
	for _, item := range r.Output {
		out.ToolCall = out.ToolCall || strings.HasSuffix(item.Type, "_call")
		for _, part := range item.Content {
			if part.Type == "output_text" {
				text.WriteString(part.Text)
			}
		}
	}
	out.Text = text.String()
	return out, nil
}
