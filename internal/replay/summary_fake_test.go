package replay

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// chapters is what a fake says of its summaries: those in force, and what each
// stands for: messages by index, earlier summaries by name.
type chapters struct {
	inForce  []*pb.Summary
	children map[string][]any
	ranges   map[string][2]int32
}

// taken is a summary of messages 1 to 4 that has taken up one of 1 to 3.
func taken() *chapters {
	return &chapters{
		inForce:  []*pb.Summary{{Id: "s2", StartIndex: 1, EndIndex: 5}},
		children: map[string][]any{"s2": {"s1", 4}, "s1": {1, 2, 3}},
		ranges:   map[string][2]int32{"s1": {1, 4}},
	}
}

// expandSummary answers with one child a page.
func (f *fake) expandSummary(r *pb.ExpandMessageRequest) (*pb.ExpandMessageResponse, error) {
	children, ok := f.chapters.children[r.GetSummaryId()]
	if !ok {
		return nil, status.Error(codes.NotFound, "no summary")
	}
	at := 0
	if token := r.GetPageToken(); token != "" {
		at = int(token[0])
	}
	out := &pb.ExpandMessageResponse{}
	if at+1 < len(children) {
		out.NextPageToken = string([]byte{byte(at + 1)})
	}
	switch child := children[at].(type) {
	case int:
		m := f.stored(f.record[r.GetConversationId()][child], child)
		out.Children = []*pb.ExpandedChild{{Child: &pb.ExpandedChild_Message{Message: m}, StartIndex: int32(child), EndIndex: int32(child) + 1}}
		if f.expand != nil {
			return out, f.expand(m)
		}
	case string:
		spans := f.chapters.ranges[child]
		out.Children = []*pb.ExpandedChild{{Child: &pb.ExpandedChild_SummaryId{SummaryId: child}, StartIndex: spans[0], EndIndex: spans[1]}}
	}
	return out, nil
}

// GetModelProfile knows one model.
func (f *fake) GetModelProfile(_ context.Context, r *pb.GetModelProfileRequest) (*pb.GetModelProfileResponse, error) {
	if f.profile == nil || f.profile.GetModel() != r.GetModel() {
		return nil, status.Error(codes.NotFound, "no profile")
	}
	return &pb.GetModelProfileResponse{Profile: f.profile}, nil
}
