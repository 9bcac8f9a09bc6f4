package expire

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// shortForm is one way of showing a text shorter.
type shortForm struct {
	text     string
	reason   conversation.Reason
	degraded []conversation.Degradation // what the form says was not done
}

// forms lists the ways of showing a text shorter, the one that was asked for first (behaviour §5: model, extract, first
// characters). There is none if it has to wait for its summary.
func (d *expiring) forms(x *expiry.Due, o *originalText) []shortForm {
	if o.Chars <= x.Expiration.Length() { // nothing to shorten but media
		f := shortForm{reason: conversation.ReasonExpiredFirstChars}
		if x.Part != expiry.MessageText {
			f.text = o.text
		}
		return []shortForm{f}
	}
	if x.Expiration.CompactMode != conversation.CompactSummary {
		return firstChars(nil, x, o, nil)
	}
	s, why := d.summaryFor(x, o)
	if why != 0 {
		d.noteDeferred(x, why)
		d.Notes.Degradations = append(d.Notes.Degradations, conversation.Degradation{
			Asked: summaryOf(x), Reason: s.Err.Error(), Done: "it is shown in full, for a few turns at most",
		})
		return nil
	}
	return d.summaryForms(x, o, s)
}

// summaryForms lists a summary, if there is one, and what is shown if it does not do.
func (d *expiring) summaryForms(x *expiry.Due, o *originalText, s summarize.Result) []shortForm {
	var out []shortForm
	why := "the summary weighs no less than what it would replace"
	if s.Err != nil {
		why = s.Err.Error()
	} else {
		text := compaction.Summarized(s.Text, o.Original)
		out = append(out, shortForm{text: text, reason: conversation.ReasonExpiredSummary, degraded: promptGone(d.Given, x)})
	}
	asked := summaryOf(x)
	if extract := d.Given.Summaries.Extract(o.text, x.Expiration.Length()); extract != "" {
		out = append(out, shortForm{
			text: compaction.Extracted(extract, o.Original), reason: conversation.ReasonExpiredExtract,
			degraded: []conversation.Degradation{{Asked: asked, Reason: why, Done: "the sidecar's own extract is shown"}},
		})
	}
	return firstChars(out, x, o, []conversation.Degradation{{Asked: asked, Reason: why, Done: "its first characters are shown"}})
}

func summaryOf(x *expiry.Due) string { return fmt.Sprintf("AI summary of message %d", x.Index) }

func firstChars(forms []shortForm, x *expiry.Due, o *originalText, degraded []conversation.Degradation) []shortForm {
	if text, ok := compaction.FirstChars(o.text, x.Expiration.Length(), o.Original); ok {
		forms = append(forms, shortForm{text: text, reason: conversation.ReasonExpiredFirstChars, degraded: degraded})
	}
	return forms
}

// promptGone tells that a prompt that was named is not there, so that the default stood in for it.
func promptGone(g *pass.Given, x *expiry.Due) []conversation.Degradation {
	if _, ok := g.Settings.Catalogue.Prompt(x.Expiration.CompactPromptID); ok {
		return nil
	}
	return []conversation.Degradation{{
		Asked: fmt.Sprintf("the prompt of message %d", x.Index), Reason: "no such prompt", Done: "the default prompt was used",
	}}
}

// summaryFor finds the summary of an original, or says why there is none. If it is worth waiting for in a later turn, deferred says why it is
// not there.
func (d *expiring) summaryFor(x *expiry.Due, o *originalText) (s summarize.Result, deferred conversation.Reason) {
	if x.Message().Role == conversation.RoleSystem {
		return summarize.Result{Err: errSystem}, 0
	}
	r := summaryRequest(d.Given, x, o)
	s, ended := d.Given.Summaries.Result(r)
	switch {
	case ended && !summarize.IsRetryable(s.Err):
		return s, 0
	case ended:
		deferred = conversation.ReasonSummaryRefused
	case d.out.Requested.Has(x) || d.Given.Summaries.IsStarted(r):
		s.Err, deferred = pass.ErrNotReady, conversation.ReasonSummaryNotReady
	default:
		s.Err, deferred = errNotAsked, conversation.ReasonSummaryNotAsked
	}
	if !ended && !d.Given.DryRun {
		d.want(r, len(x.Erase) > 0) // this attempt ends, and the next one knows
	}
	if len(x.Erase) > 0 || waitedLongEnough(d.Given.Turn, d.out.Requested, x) {
		return s, 0
	}
	return s, deferred
}

var (
	errSystem   = errors.New("system messages are never given to a model")
	errNotAsked = errors.New("the model was not asked yet")
)

// summaryRequest asks for a summary of an original.
func summaryRequest(g *pass.Given, x *expiry.Due, o *originalText) *summarize.Request {
	m := x.Message()
	r := &summarize.Request{
		Scope:   summarize.Scope{Namespace: g.Loaded.Key.Namespace, Conversation: g.Loaded.Key.Conversation},
		Content: o.text, Hash: sha256.Sum256([]byte(o.text)), Chars: o.Chars, Target: x.Expiration.Length(),
		MessageType: messageType(m.Type), TurnAdded: m.TurnAdded,
	}
	r.Prompt, _ = g.Settings.Catalogue.Prompt(x.Expiration.CompactPromptID)
	if x.Part != expiry.MessageText {
		r.Tool = x.Unit.ToolOf(m.Parts[x.Part].Result)
	}
	return r
}

// messageType is a message's type as prompts name it.
func messageType(t conversation.MessageType) string {
	switch t {
	case conversation.TypeUserInput:
		return "user input"
	case conversation.TypeActionResult:
		return "action result"
	case conversation.TypeSubAgentResult:
		return "sub-agent result"
	case conversation.TypeRetryContext:
		return "retry context"
	case conversation.TypeSystem:
		return "system"
	default:
		return "unspecified"
	}
}
