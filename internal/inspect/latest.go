package inspect

import (
	"context"
	"errors"
	"slices"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// latest stands for the id of the conversation that changed last.
const latest = "@latest"

// errNoneYet is the error of asking for the latest conversation of none.
var errNoneYet = errors.New("there is no conversation yet: `sidecar append` begins one")

// runIn is run for a command about one conversation: it puts an id in the place of latest.
func (s *Sidecar) runIn(ctx context.Context, env *Env, conversation *string, work func(*session) error) error {
	return s.run(env, func(open *session) error {
		if *conversation != latest {
			return work(open)
		}
		found, err := open.newestFirst(ctx, &pb.ListConversationsRequest{})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return errNoneYet
		}
		*conversation = found[0].GetId()
		return work(open)
	})
}

// newestFirst lists all conversations by their last change. The sidecar lists them by id.
func (s *session) newestFirst(ctx context.Context, r *pb.ListConversationsRequest) (found []*pb.Conversation, err error) {
	r.PageSize = largestPage
	err = pages(&r.PageToken, 0, func(int) (string, int, error) {
		reply, err := s.record.ListConversations(ctx, r)
		found = append(found, reply.GetConversations()...)
		return reply.GetNextPageToken(), 0, err
	})
	slices.SortStableFunc(found, func(a, b *pb.Conversation) int {
		return b.GetUpdateTime().AsTime().Compare(a.GetUpdateTime().AsTime())
	})
	return found, err
}
