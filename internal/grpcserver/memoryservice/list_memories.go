package memoryservice

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func listMemoriesRules() rules.Table[*pb.ListMemoriesRequest] {
	return scopeRules(
		rules.Scalars("kinds", rules.AtMost(3), nil, (*pb.ListMemoriesRequest).GetKinds, func(c *rules.Checker, k pb.MemoryKind) {
			if k == pb.MemoryKind_MEMORY_KIND_UNSPECIFIED {
				c.Fail("must not be unspecified")
			}
			rules.CheckEnum(c, k)
		}),
		paging.PageSize((*pb.ListMemoriesRequest).GetPageSize),
		paging.Token[*pb.ListMemoriesRequest]().Then(func(c *rules.Checker, m *pb.ListMemoriesRequest) {
			if _, ok := openPlace(m); !ok {
				c.Fail("is not a token that this listing gave")
			}
		}),
	)
}

// ListMemories lists memories, superseded ones too.
func (s *Service) ListMemories(ctx context.Context, req *pb.ListMemoriesRequest) (*pb.ListMemoriesResponse, error) {
	of, err := of(ctx, req)
	if err != nil {
		return nil, err
	}
	at, _ := openPlace(req)
	listing, err := s.engine.ListMemories(ctx, engine.ListMemoriesRequest{
		Of: of, Kinds: convert.Each(req.GetKinds(), func(k pb.MemoryKind) engine.MemoryKind { return engine.MemoryKind(k) }), Token: at.token, Limit: at.limit,
	})
	if err != nil {
		return nil, err
	}
	rest := listing.Memories[min(at.skip, len(listing.Memories)):]
	page, more := paging.Cut(convert.Each(rest[:min(len(rest), paging.Limit(req))], convert.ToMemory))
	if more = more || len(page) < len(rest); more {
		at.skip += len(page)
	} else {
		at = place{token: listing.Next}
	}
	out := &pb.ListMemoriesResponse{Memories: page}
	if at != (place{}) {
		out.NextPageToken = paging.Next(req, at.cursor(paging.Limit(req)))
	}
	return out, nil
}

// place is where a page of ours begins: at an element of a page of the back end's, whose memories may have no room in one answer.
type place struct {
	token string // of the back end's page
	limit int    // of the back end's page
	skip  int
}

// cursor writes a place down, for pages of a size.
func (p place) cursor(size int) string {
	if p.skip == 0 {
		p.limit = size
	}
	return fmt.Sprintf("%d %d %s", p.limit, p.skip, p.token)
}

// openPlace reads the place that a request goes on at. It is false for a cursor that no listing gave.
func openPlace(req *pb.ListMemoriesRequest) (place, bool) {
	cursor, ok := paging.Open(req)
	if cursor == "" {
		return place{limit: paging.Limit(req)}, ok
	}
	parts := strings.SplitN(cursor, " ", 3)
	if len(parts) != 3 {
		return place{}, false
	}
	limit, badLimit := strconv.ParseUint(parts[0], 10, 16)
	skip, badSkip := strconv.ParseUint(parts[1], 10, 16)
	return place{token: parts[2], limit: int(limit), skip: int(skip)}, badLimit == nil && badSkip == nil && 0 < limit && limit <= 1000 && skip < limit
}
