package agentcore

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	ac "github.com/aws/aws-sdk-go-v2/service/bedrockagentcore"
	"github.com/aws/aws-sdk-go-v2/service/bedrockagentcore/types"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// pageOfRecords is the size of pages of records: so many of the longest, of whatever characters, are an answer that is still read.
const pageOfRecords = int32(20)

// leastExpiry is the shortest time for which the service keeps what it is to delete by itself.
const leastExpiry = 31

// said are the records of a batch that is kept as it is.
func said(path *string, b *memory.Batch) (out []types.MemoryRecordCreateInput) {
	for i := range b.Messages {
		m := &b.Messages[i]
		out = append(out, recordInput(path, i, cut(m.Text, maxRecord), m.Time, saidLabels(b, m)))
	}
	return out
}

func recordInput(path *string, i int, text string, at time.Time, l labels) types.MemoryRecordCreateInput {
	id := strconv.Itoa(i)
	return types.MemoryRecordCreateInput{
		RequestIdentifier: &id, Namespaces: []string{*path}, Timestamp: &at, Content: &types.MemoryContentMemberText{Value: text}, Metadata: l,
	}
}

// Put implements memory.Target.
func (t *Target) Put(ctx context.Context, s memory.Scope, n *memory.Note) (string, error) {
	if n.Text == "" || utf8.RuneCountInString(n.Text) > maxRecord {
		return "", memory.ErrRefused
	}
	input := []types.MemoryRecordCreateInput{recordInput(t.layout.path(s), 0, n.Text, n.Time, noteLabels(n))}
	ids, err := t.create(ctx, tokenOf("put", s, n.Key), input, expiryOf(n))
	switch {
	case err != nil:
		return "", err
	case len(ids) == 1:
		return ids[0], nil
	default: // the token was known, and the service says no more
		id, err := t.kept(ctx, s, t.layout.path(s), memory.Added, n.Key)
		if errors.Is(err, memory.ErrNotFound) {
			err = &memory.UnavailableError{Cause: "answer"}
		}
		return id, err
	}
}

// expiryOf lets the service delete a note some time after it has expired. Until then it is not shown.
func expiryOf(n *memory.Note) types.RecordExpirySpecification {
	if n.ExpireTime.IsZero() {
		return nil
	}
	days := n.ExpireTime.Sub(n.Time)/(24*time.Hour) + 1
	return &types.RecordExpirySpecificationMemberRecordExpiryDurationDays{Value: int32(max(days, leastExpiry))}
}

// create makes records, and returns their ids.
func (t *Target) create(ctx context.Context, token *string, records []types.MemoryRecordCreateInput, expiry types.RecordExpirySpecification) (ids []string, err error) {
	if slices.ContainsFunc(records, func(r types.MemoryRecordCreateInput) bool { return len(r.Metadata) > maxLabels }) {
		return nil, memory.ErrRefused
	}
	out, err := call(ctx, t, changes, asking(t.api.createRecords, &ac.BatchCreateMemoryRecordsInput{
		MemoryId: t.memoryID, ClientToken: token, Records: records, RecordExpirySpecification: expiry,
	}))
	if err != nil {
		return nil, err
	}
	for i := range out.SuccessfulRecords {
		ids = append(ids, aws.ToString(out.SuccessfulRecords[i].MemoryRecordId))
	}
	return ids, firstFailure(out.FailedRecords)
}

// firstFailure is the error of records that the service did not make or delete, although it answered.
func firstFailure(failed []types.MemoryRecordOutput) error {
	for i := range failed {
		if status := int(aws.ToInt32(failed[i].ErrorCode)); status != 404 {
			return (&attempt{}).statusError(changes, max(status, 400))
		}
	}
	return nil
}

// record is a memory and the segment of its session, if the namespace has one.
type record struct {
	memory.Memory
	session string
	key     string
}

// recordOf reads a record; false if it is none of the scope's, or not a text.
func (t *Target) recordOf(s memory.Scope, r *types.MemoryRecordSummary) (record, bool) {
	text, isText := r.Content.(*types.MemoryContentMemberText)
	below, ok := within(*t.layout.path(s), r.Namespaces)
	if !isText || !ok || aws.ToString(r.MemoryRecordId) == "" {
		return record{}, false
	}
	at := r.Timestamp
	if at == nil {
		at = r.CreatedAt
	}
	out := record{Memory: memory.Memory{ID: *r.MemoryRecordId, Text: text.Value, Time: aws.ToTime(at), Scope: s, Score: score(r.Score)}}
	if t.layout.sessions {
		out.session, _, _ = strings.Cut(below, "/")
	}
	out.key = labels(r.Metadata).get(keyLabel)
	labels(r.Metadata).read(&out.Memory)
	return out, true
}

func score(s *float64) float64 {
	if v := aws.ToFloat64(s); v > 0 { // not a number is not, either
		return min(v, 1)
	}
	return 0
}

// only says whether nothing but this conversation said a memory, as far as the service tells.
func (r *record) only(name string) bool {
	if name == "" {
		return false
	}
	if r.Kind == memory.Fact {
		return strings.HasPrefix(r.session, ofConversation(name))
	}
	return len(r.Sources) > 0 && !slices.ContainsFunc(r.Sources, func(s memory.Source) bool { return s.Conversation != name })
}

// Search implements memory.Target.
func (t *Target) Search(ctx context.Context, s memory.Scope, q *memory.Query) (found []memory.Memory, err error) {
	text := cut(q.Text, maxQuery)
	if text == "" || q.Limit < 1 {
		return nil, nil
	}
	size, most := pageOfRecords, int32(maxFound)
	in := &ac.RetrieveMemoryRecordsInput{
		MemoryId: t.memoryID, NamespacePath: t.layout.path(s), MaxResults: &size,
		SearchCriteria: &types.SearchCriteria{SearchQuery: &text, TopK: &most},
	}
	next := func(o *ac.RetrieveMemoryRecordsOutput) *string { return o.NextToken }
	for page, err := range pages(ctx, t, reads, t.api.retrieve, in, &in.NextToken, next) {
		if err != nil {
			return nil, err
		}
		for _, r := range t.recordsOf(s, page.MemoryRecordSummaries) {
			if r.Score >= q.Floor && !r.Expired(q.Now) && !r.only(q.Except) {
				found = append(found, r.Memory)
			}
		}
		if len(found) >= q.Limit {
			break
		}
	}
	slices.SortStableFunc(found, func(a, b memory.Memory) int { return cmp.Compare(b.Score, a.Score) })
	return found[:min(len(found), q.Limit)], nil
}

// List implements memory.Target. Its tokens are the service's.
func (t *Target) List(ctx context.Context, s memory.Scope, p *memory.Page) (out memory.Listing, err error) {
	for page, err := range t.recordPages(ctx, t.layout.path(s), p.Token, int32(min(max(p.Limit, 1), int(pageOfRecords)))) {
		if err != nil {
			return memory.Listing{}, err
		}
		for _, r := range t.recordsOf(s, page.MemoryRecordSummaries) {
			if p.Shows(&r.Memory) {
				out.Memories = append(out.Memories, r.Memory)
			}
		}
		if out.Next = aws.ToString(page.NextToken); len(out.Memories) > 0 {
			break
		}
	}
	return out, nil
}

func (t *Target) recordPages(ctx context.Context, path *string, token string, size int32) iter.Seq2[*ac.ListMemoryRecordsOutput, error] {
	in := &ac.ListMemoryRecordsInput{MemoryId: t.memoryID, NamespacePath: path, MaxResults: &size}
	if token != "" {
		in.NextToken = &token
	}
	next := func(o *ac.ListMemoryRecordsOutput) *string { return o.NextToken }
	return pages(ctx, t, reads, t.api.listRecords, in, &in.NextToken, next)
}

// records are those of a scope that are below a path.
func (t *Target) records(ctx context.Context, s memory.Scope, path *string) iter.Seq2[record, error] {
	return items(t.recordPages(ctx, path, "", pageOfRecords), func(page *ac.ListMemoryRecordsOutput) []record {
		return t.recordsOf(s, page.MemoryRecordSummaries)
	})
}

// recordsOf are those summaries that are records of a scope.
func (t *Target) recordsOf(s memory.Scope, all []types.MemoryRecordSummary) (out []record) {
	for i := range all {
		if r, ok := t.recordOf(s, &all[i]); ok {
			out = append(out, r)
		}
	}
	return out
}

// kept is the id of what was put below a path under a key, or ErrNotFound.
func (t *Target) kept(ctx context.Context, s memory.Scope, path *string, k memory.Kind, key string) (string, error) {
	for r, err := range t.records(ctx, s, path) {
		if err != nil || r.Kind == k && r.key == key {
			return r.ID, err
		}
	}
	return "", memory.ErrNotFound
}

// from says whether a message that is kept as it is is one of those to be forgotten.
func (r *record) from(q *memory.Retraction) bool {
	return slices.ContainsFunc(r.Sources, func(s memory.Source) bool {
		return s.Conversation == q.Conversation && s.Incarnation == q.Incarnation && q.Range.Contains(s.First)
	})
}

// inSession says whether a fact was drawn from a session of the conversation.
func (r *record) inSession(q *memory.Retraction) bool {
	return strings.HasPrefix(r.session, ofIncarnation(q.Conversation, q.Incarnation))
}
