package engine

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
)

// The requests and results of the content calls.
type (
	// Cited is a citation with its texts.
	Cited = contents.Cited
	// Source is a source record: where a content came from, and who cited it. It outlives the content.
	Source = contents.Source
	// StoreContentRequest asks for a content to be kept. The digest in Request covers the header only.
	StoreContentRequest = contents.StoreContentRequest
	// StoreContentResult answers StoreContent.
	StoreContentResult = contents.StoreContentResult
	// ContentUnit is the unit in which a range of a content is given.
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
	// SearchContentResult holds the best passages of all contents.
	SearchContentResult = contents.SearchContentResult
	// SourcesRequest asks for source records.
	SourcesRequest = contents.SourcesRequest
	// SourcesResult is a page of source records, oldest first.
	SourcesResult = contents.SourcesResult
	// EndRunRequest ends a run.
	EndRunRequest = contents.EndRunRequest
	// EndRunResult says which contents will be deleted, and when.
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

// StoreContent keeps a content that the caller holds, and returns the citation that stands for it (behaviour §9).
func (e *Engine) StoreContent(ctx context.Context, r StoreContentRequest) (*StoreContentResult, error) {
	return e.contents.StoreContent(ctx, r)
}

// RetrieveContent returns a content: passages, a range, or all of it by pages.
func (e *Engine) RetrieveContent(ctx context.Context, r RetrieveContentRequest) (*RetrieveContentResult, error) {
	return e.contents.RetrieveContent(ctx, r)
}

// StreamContent passes the bytes of a content to give, chunk by chunk, beginning at offset. A chunk is valid until the next
// call of give.
func (e *Engine) StreamContent(ctx context.Context, key Key, contentID string, offset int64, give func(source *Source, at int64, chunk []byte) error) error {
	return e.contents.StreamContent(ctx, key, contentID, offset, give)
}

// SearchContent finds the best passages of all contents of a conversation.
func (e *Engine) SearchContent(ctx context.Context, r SearchContentRequest) (*SearchContentResult, error) {
	return e.contents.SearchContent(ctx, r)
}

// ListSources lists source records, oldest first. A page may be short: a listing stops after a bounded amount of scanning.
func (e *Engine) ListSources(ctx context.Context, r SourcesRequest) (*SourcesResult, error) {
	return e.contents.ListSources(ctx, r)
}

// EndRun ends a run: its contents are deleted after the grace time (behaviour §9).
func (e *Engine) EndRun(ctx context.Context, r EndRunRequest) (*EndRunResult, error) {
	return e.contents.EndRun(ctx, r)
}
