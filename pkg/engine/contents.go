package engine

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
)

// What the calls for contents take and give.
type (
	// Cited is a citation with its texts.
	Cited = contents.Cited
	// Source is a source record: where a content came from, and who cited it. It outlives the content.
	Source = contents.Source
	// StoreContentRequest asks for a content to be kept. The digest of Request is that of the header alone.
	StoreContentRequest = contents.StoreContentRequest
	// StoreContentResult answers StoreContent.
	StoreContentResult = contents.StoreContentResult
	// ContentUnit says what a range of a content counts.
	ContentUnit = contents.ContentUnit
	// ExcerptQuery asks for passages.
	ExcerptQuery = contents.ExcerptQuery
	// RetrieveContentRequest asks for a content: passages if Excerpts is set, else the range of Unit.
	RetrieveContentRequest = contents.RetrieveContentRequest
	// RetrieveContentResult is a content, or some of it.
	RetrieveContentResult = contents.RetrieveContentResult
	// ContentExcerpt is a passage of a content.
	ContentExcerpt = contents.ContentExcerpt
	// SearchContentRequest asks for passages of all contents.
	SearchContentRequest = contents.SearchContentRequest
	// SearchContentResult is the best passages of all contents.
	SearchContentResult = contents.SearchContentResult
	// SourcesRequest asks for source records.
	SourcesRequest = contents.SourcesRequest
	// SourcesResult is a page of source records, oldest first.
	SourcesResult = contents.SourcesResult
	// EndRunRequest ends a run.
	EndRunRequest = contents.EndRunRequest
	// EndRunResult says what goes, and when.
	EndRunResult = contents.EndRunResult
)

// The units of ranges of contents.
const (
	ContentWhole = contents.ContentWhole
	ContentBytes = contents.ContentBytes
	ContentChars = contents.ContentChars
	ContentLines = contents.ContentLines
	ContentItems = contents.ContentItems
	// MaxContentBytes is the largest content.
	MaxContentBytes = contents.MaxContentBytes
)

// StoreContent keeps what the caller holds itself, and answers with what stands for it (behaviour §9).
func (e *Engine) StoreContent(ctx context.Context, r StoreContentRequest) (*StoreContentResult, error) {
	return e.contents.StoreContent(ctx, r)
}

// RetrieveContent returns a content: passages, a range, or all of it by pages.
func (e *Engine) RetrieveContent(ctx context.Context, r RetrieveContentRequest) (*RetrieveContentResult, error) {
	return e.contents.RetrieveContent(ctx, r)
}

// StreamContent gives a content's bytes from an offset on, in pieces of a chunk. Each call's bytes may be used until the next.
func (e *Engine) StreamContent(ctx context.Context, key Key, contentID string, offset int64, give func(source *Source, at int64, chunk []byte) error) error {
	return e.contents.StreamContent(ctx, key, contentID, offset, give)
}

// SearchContent finds the best passages of all contents of a conversation.
func (e *Engine) SearchContent(ctx context.Context, r SearchContentRequest) (*SearchContentResult, error) {
	return e.contents.SearchContent(ctx, r)
}

// ListSources lists source records, oldest first. A page ends early when enough was looked through.
func (e *Engine) ListSources(ctx context.Context, r SourcesRequest) (*SourcesResult, error) {
	return e.contents.ListSources(ctx, r)
}

// EndRun ends a run: its contents go after the grace time (behaviour §9).
func (e *Engine) EndRun(ctx context.Context, r EndRunRequest) (*EndRunResult, error) {
	return e.contents.EndRun(ctx, r)
}
