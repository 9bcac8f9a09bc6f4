package appends

import (
	"context"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// staging is what an append has staged for its commit.
type staging struct {
	service *Service
	key     store.Key
	fresh   conversation.ID // the incarnation of the conversation, should the append create it
	dry     bool            // stages nothing

	incarnation conversation.ID // the one under which large contents are staged
	messages    []conversation.Message
	uploads     []conversation.ID
	shown       map[string]*conversation.ContentRef // large contents that the view shows for texts that hold base64 bytes
}

// stage moves large contents into chunks, before the commit that refers to them. The request's messages keep their contents
// inline, so that they can be staged again if another incarnation replaces the conversation in between.
func (s *staging) stage(ctx context.Context, incarnation conversation.ID, given []conversation.Message, cited *citationPlan) error {
	if s.incarnation == incarnation && cited.sharesAsStaged() {
		return nil
	}
	s.discard(ctx) // chunks of an earlier try
	s.incarnation, s.messages = incarnation, slices.Clone(given)
	if s.dry {
		return nil
	}
	if err := s.stageParts(ctx, cited); err != nil {
		s.discard(ctx)
		return err
	}
	cited.staged = cited.shares
	return nil
}

func (s *staging) stageParts(ctx context.Context, cited *citationPlan) error {
	bytes := int64(0)
	for i := range s.messages {
		m := &s.messages[i]
		if !contents.Large(m.Parts) {
			continue
		}
		m.Parts = conversation.CloneParts(m.Parts)
		cited.share(i, m.Parts)
		bytes += inlineBytes(m.Parts)
		if err := s.service.Txn.CheckRoom(ctx, s.key, s.incarnation == s.fresh, bytes); err != nil {
			return err
		}
		uploads, err := s.service.Blobs.StageParts(ctx, s.key, s.incarnation, m.Parts)
		s.uploads = append(s.uploads, uploads...)
		if err != nil {
			return err
		}
		cited.learn(i, m.Parts)
	}
	return nil
}

// discard deletes what was staged.
func (s *staging) discard(ctx context.Context) {
	incarnation, uploads := s.incarnation, s.uploads
	s.incarnation, s.uploads, s.shown = conversation.ID{}, nil, nil
	switch {
	case len(uploads) == 0:
		return
	case incarnation == s.fresh: // nothing else is staged under it: all of it goes
		uploads = nil
	}
	s.service.Txn.Discard(ctx, s.key, incarnation, uploads...)
}

// inlineBytes is the number of bytes of parts that are yet to be staged, or that stay in the record.
func inlineBytes(parts []conversation.Part) (n int64) {
	for _, c := range conversation.Contents(parts) {
		n += int64(len(c.Inline))
	}
	return n
}
