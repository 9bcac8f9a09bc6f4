package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func listPromptsRules() table[*pb.ListPromptsRequest] {
	return table[*pb.ListPromptsRequest]{
		pageSize((*pb.ListPromptsRequest).GetPageSize),
		pageToken[*pb.ListPromptsRequest](),
	}
}

// ListPrompts lists the prompts by id.
func (s *service) ListPrompts(ctx context.Context, req *pb.ListPromptsRequest) (*pb.ListPromptsResponse, error) {
	after, _ := openPage(req)
	found, next, err := s.engine.Prompts(ctx, defaultNamespace, after, pageLimit(req))
	if err != nil {
		return nil, err
	}
	return promptsPage(req, found, next)
}

// promptsPage ends the page where the answer would grow past the reply limit: a thousand prompts with the largest templates
// would be 31 MiB.
func promptsPage(req *pb.ListPromptsRequest, found []conversation.Prompt, next string) (*pb.ListPromptsResponse, error) {
	out := &pb.ListPromptsResponse{}
	size := 0
	for i := range found {
		p := toPrompt(found[i])
		if size += elementBytes(p); size > defaultReplyBytes-pageTokenBytes && i > 0 {
			next = found[i-1].ID
			break
		}
		out.Prompts = append(out.Prompts, p)
	}
	var err error
	out.NextPageToken, err = nextPage(req, next)
	return out, err
}
