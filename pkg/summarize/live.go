package summarize

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Live has the agent's own model write a summary, behind the bytes that its provider has cached (behaviour §8, "At cache price").
type Live struct {
	Format conversation.Format // of Body
	Model  string              // provider/model
	// Body is the whole request, a JSON object, without the model and the limit of the answer. It is conversation text, with the system
	// prompt and the tools: it is held for as long as the request runs, and never cached.
	Body []byte
}

// LiveTask says what is to be summarized of a conversation that a model sees.
type LiveTask struct {
	Prompt conversation.Prompt // its Template is empty for the built-in one
	Chars  int                 // Unicode code points of what is to be summarized
	Target int                 // characters that the summary aims at
	Stays  *conversation.Unit  // the first unit that stays, contents inline; nil if nothing does
	// Unseen is to be summarized too, and is not in the context: what fit has left out, and requests that were kept apart. It is shortened
	// to UnseenChars, if that is positive.
	Unseen      []conversation.Unit
	UnseenChars int
}

// liveDocument is what a live request says of the conversation before it.
type liveDocument struct {
	Leaves  string        `json:"leaves"`
	Stays   *liveStays    `json:"stays_from,omitempty"`
	Earlier []spanMessage `json:"earlier_messages,omitempty"`
}

// liveStays is how a message begins.
type liveStays struct {
	Role string `json:"role"`
	Text string `json:"text,omitempty"`
	Call string `json:"tool_call,omitempty"`
}

// stayChars is how much is quoted of a message.
const stayChars = 160

// Text is the user message that a live request ends with.
func (t *LiveTask) Text() (string, error) {
	document := liveDocument{Leaves: "all messages above this note"}
	if t.Stays != nil {
		document.Leaves, document.Stays = "the messages above this note that come before the one of stays_from", staysOf(t.Stays)
	}
	if len(t.Unseen) > 0 {
		unseen := newSpanDocument(nil, t.Unseen)
		if t.UnseenChars > 0 {
			unseen.shrink(t.UnseenChars)
		}
		document.Earlier = unseen.Messages
	}
	content := encodeJSON(document)
	r := Request{Content: content, Chars: t.Chars, Target: t.Target, Prompt: t.Prompt, Span: true, Live: &Live{}}
	text, err := r.task()
	return strings.TrimRight(text, "\n") + "\n\n" + liveAnswerPrompt, err
}

// staysOf quotes how a unit begins.
func staysOf(u *conversation.Unit) *liveStays {
	if u.Summary != nil || len(u.Items) == 0 {
		return nil
	}
	it := &u.Items[0]
	out := &liveStays{Role: it.Message.Role.String()}
	for i := range it.Parts {
		switch p := &it.Parts[i]; p.Kind {
		case conversation.PartText:
			if out.Text == "" {
				out.Text = headChars(validUTF8(strings.TrimSpace(p.Text.Inline)), stayChars)
			}
		case conversation.PartToolCall:
			if out.Call == "" {
				out.Call = headChars(validUTF8(p.Call.Name+" "+p.Call.Arguments.Inline), stayChars)
			}
		}
	}
	return out
}

// CanAskLive reports whether there is a client for an agent's own model in a format, and returns the model as provider/model.
func (d *Service) CanAskLive(f conversation.Format, model string) (name string, ok bool) {
	provider, known := d.options.Live[f]
	if !known || model == "" || d.options.Providers[provider] == nil {
		return "", false
	}
	return provider + "/" + model, true
}

// bodyBytes is how long the body is that a request holds.
func (r *Request) bodyBytes() int {
	if r.Live == nil {
		return 0
	}
	return len(r.Live.Body)
}

// modelsFor returns the models to ask for a request, in order.
func (d *Service) modelsFor(r *Request) []string {
	if r.Live != nil {
		return []string{r.Live.Model}
	}
	return d.ModelsOf(&r.Prompt)
}
