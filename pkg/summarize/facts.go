package summarize

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"strings"
)

// factsDocument is what users said as a model is given it to draw facts from.
type factsDocument struct {
	Messages []FactsMessage `json:"messages"`
}

// FactsMessage is what one user said.
type FactsMessage struct {
	Index int32  `json:"index"`
	Name  string `json:"name,omitempty"`
	Text  string `json:"text"`
}

// maxFactsOutput limits what a model may write of facts, in tokens, what it thinks before it writes included.
const maxFactsOutput = 4_096

// Facts has a model draw facts from what users said, and returns the JSON object that it answered with: {"facts": [{"text", "said_by",
// "indices"}]}. Nothing in it was checked but its form. It asks the models of summaries, within their limits.
func (d *Service) Facts(ctx context.Context, s Scope, messages []FactsMessage) (string, error) {
	content := encodeJSON(factsDocument{Messages: messages})
	r := &Request{Scope: s, Content: content, Hash: sha256.Sum256([]byte(content)), Chars: countChars(content), Target: maxFactsOutput - thinkingTokens, Facts: true}
	if failure := d.withoutModel(d.modelsFor(r)); failure != nil {
		return "", failure
	}
	d.Start(r) //nolint:contextcheck // as all requests, it has its own deadline
	d.Wait(ctx, []*Request{r})
	result, ok := d.Result(r)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case !ok:
		return "", &Failure{Reason: Timeout}
	}
	d.Forget(s, r.Hash) // it is asked for once, and nobody has to find it here
	return result.Text, result.Err
}

// readFacts takes the one JSON object with a list "facts" out of an answer that may have words or a Markdown fence around it.
func readFacts(a Answer) (string, Reason) {
	begin := strings.IndexByte(a.Text, '{')
	if begin < 0 || len(a.Text) > maxAnswerBytes {
		return "", BadAnswer
	}
	var answer struct {
		Facts *json.RawMessage `json:"facts"`
	}
	decoder := json.NewDecoder(strings.NewReader(a.Text[begin:]))
	switch err := decoder.Decode(&answer); {
	case err != nil && a.Truncated:
		return "", Truncated
	case err != nil || answer.Facts == nil:
		return "", BadAnswer
	}
	return a.Text[begin : begin+int(decoder.InputOffset())], ""
}
