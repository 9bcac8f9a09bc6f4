package messages

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// expandSummary lists what a summary stands for: the earlier summaries that it was made of, and the messages between and
// behind them.
func (l *messageReader) expandSummary(ctx context.Context, r *ExpandRequest) (*ExpandResult, error) {
	all := make(map[int64]conversation.Edit)
	spans, err := l.service.Views.Spans(ctx, l.loaded)
	if err != nil {
		return nil, err
	}
	for _, e := range spans {
		if e.Summary != nil {
			all[e.Summary.ID] = e
		}
	}
	s, ok := all[r.Summary]
	if !ok {
		return nil, conversation.Errorf(conversation.SummaryNotFound, "no summary has this id")
	}
	at := s.Range.First
	if r.Cursor != nil {
		at = max(at, *r.Cursor)
	}
	c := &children{reader: l, request: r, out: &ExpandResult{Revision: l.loaded.Head.Revision}}
	for _, id := range s.Summary.Children {
		child := all[id].Range
		if more, err := c.addMessages(ctx, conversation.Range{First: at, End: child.First}); more || err != nil {
			return c.out, err
		}
		if child.First >= at {
			if c.full() {
				return c.stop(child.First), nil
			}
			c.out.Children = append(c.out.Children, ExpandedChild{Summary: id, Range: child})
		}
		at = max(at, child.End)
	}
	_, err = c.addMessages(ctx, conversation.Range{First: at, End: s.Range.End})
	return c.out, err
}

// children is a page of what a summary stands for.
type children struct {
	reader  *messageReader
	request *ExpandRequest
	out     *ExpandResult
	bytes   int
}

func (c *children) full() bool { return len(c.out.Children) >= c.request.Limit }

func (c *children) stop(next int32) *ExpandResult {
	c.out.Next = &next
	return c.out
}

// addMessages adds the messages of a range. more reports that the page is full before the range ends.
func (c *children) addMessages(ctx context.Context, r conversation.Range) (more bool, err error) {
	for index := r.First; index < r.End; index++ {
		m, err := c.reader.load(ctx, index)
		if err != nil {
			return false, err
		}
		shown, err := c.reader.show(ctx, m, false)
		if err != nil {
			return false, err
		}
		size := c.request.Size(shown)
		if c.full() || c.bytes+size > c.request.MaxBytes && len(c.out.Children) > 0 {
			c.stop(index)
			return true, nil
		}
		if size > c.request.MaxBytes {
			return false, conversation.Errorf(conversation.ReplyTooLarge,
				"message %d alone exceeds the reply limit of %d bytes: expand it by itself", index, c.request.MaxBytes)
		}
		c.bytes += size
		c.out.Children = append(c.out.Children, ExpandedChild{Message: shown, Range: conversation.Range{First: index, End: index + 1}})
	}
	return false, nil
}
