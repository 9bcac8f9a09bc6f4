package engine

import (
	"context"
	"errors"
)

var errLater = errors.New("not built yet")

func (e *Engine) StoreContent(ctx context.Context, r StoreContentRequest) (*StoreContentResult, error) {
	return nil, errLater
}
func (e *Engine) RetrieveContent(ctx context.Context, r RetrieveContentRequest) (*RetrieveContentResult, error) {
	return nil, errLater
}
func (e *Engine) StreamContent(ctx context.Context, key Key, contentID string, offset int64, give func(source *Source, at int64, chunk []byte) error) error {
	return errLater
}
func (e *Engine) SearchContent(ctx context.Context, r SearchContentRequest) (*SearchContentResult, error) {
	return nil, errLater
}
func (e *Engine) ListSources(ctx context.Context, r SourcesRequest) (*SourcesResult, error) {
	return nil, errLater
}
func (e *Engine) EndRun(ctx context.Context, r EndRunRequest) (*EndRunResult, error) {
	return nil, errLater
}
func (e *Engine) SearchMessages(ctx context.Context, r SearchMessagesRequest) (*SearchMessagesResult, error) {
	return nil, errLater
}
func (e *Engine) AnswerToolCall(ctx context.Context, r ToolCallRequest) (*ToolCallResult, error) {
	return nil, errLater
}
