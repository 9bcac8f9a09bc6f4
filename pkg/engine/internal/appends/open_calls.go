package appends

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// openCalls returns the calls of an append that none of its results answers. Calls of a message that was cut off are not
// included: nobody will answer them.
func openCalls(messages []conversation.Message, tools conversation.RecallTools) []OpenCall {
	answered := map[int32]bool{}
	var out []OpenCall
	for i := range messages {
		m := &messages[i]
		for p := range m.Parts {
			switch part := &m.Parts[p]; {
			case part.Result != nil:
				answered[part.Result.Ordinal] = true
			case part.Call != nil && !m.Aborted():
				out = append(out, OpenCall{Call: *part.Call, Message: m.Index, Recalls: tools.Meant(part.Call.Name) != ""})
			}
		}
	}
	open := out[:0]
	for i := range out {
		if !answered[out[i].Call.Ordinal] {
			open = append(open, out[i])
		}
	}
	return open
}

// wholeCalls reads the arguments of calls into memory.
func (as *Service) wholeCalls(ctx context.Context, key store.Key, incarnation conversation.ID, calls []OpenCall) error {
	for i := range calls {
		c := &calls[i].Call
		whole, err := as.Blobs.Texts(ctx, key, incarnation, c.Arguments)
		if err != nil {
			return err
		}
		c.Arguments = conversation.Content{Inline: whole[0]}
	}
	return nil
}
