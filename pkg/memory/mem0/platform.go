package mem0

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// platform is the hosted service, by its published API.
type platform struct{ *client }

const (
	platformPage  = 50   // of lists: the service gives up to 200, but so many long texts might weigh too much
	platformBatch = 1000 // memories that one call deletes
	mostFound     = 1000 // memories that one search gives
)

func (p *platform) add(ctx context.Context, a *addition) ([]string, string, error) {
	sent := *a
	sent.Timestamp = a.Metadata.Time / 1000
	var out struct {
		Status  string `json:"status"`
		EventID string `json:"event_id"`
		Results []row  `json:"results"`
	}
	q := &call{method: http.MethodPost, path: []string{"v3", "memories", "add/"}, body: &sent, change: true, partly: !a.Infer && len(a.Messages) > 1}
	if err := p.do(ctx, q, &out); err != nil {
		return nil, "", err
	}
	if a.Infer || out.Status == "PENDING" {
		return nil, out.EventID, nil
	}
	return idsOf(out.Results), "", nil
}

func idsOf(rows []row) (out []string) {
	for i := range rows {
		if rows[i].ID != "" {
			out = append(out, rows[i].ID)
		}
	}
	return out
}

// event is what the service tells of work under way.
type event struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Payload struct {
		identity
		Metadata struct {
			Key string `json:"key"`
		} `json:"metadata"`
	} `json:"payload"`
}

func (e *event) pending() bool { return e.Status == "PENDING" || e.Status == "RUNNING" }

// settled asks for the event. Where its name was lost, it is looked for among the latest: an add whose answer was lost may still be worked
// on, and would double if it were sent again.
func (p *platform) settled(ctx context.Context, name string, id identity, key string) (pending, done bool, err error) {
	found, err := p.event(ctx, name)
	if errors.Is(err, memory.ErrNotFound) {
		found, err = p.latest(ctx, id, key)
	}
	if errors.Is(err, memory.ErrDenied) { // who may add may not read the log of events: what is there decides
		return false, false, nil
	}
	return found.pending(), found.Status == "SUCCEEDED", err
}

func (p *platform) event(ctx context.Context, name string) (out event, err error) {
	if !isID(name) {
		return out, memory.ErrNotFound
	}
	err = p.do(ctx, &call{method: http.MethodGet, path: []string{"v1", "event", name + "/"}, single: true}, &out)
	return out, err
}

func (p *platform) latest(ctx context.Context, id identity, key string) (event, error) {
	var latest struct {
		Results []event `json:"results"`
	}
	if err := p.do(ctx, &call{method: http.MethodGet, path: []string{"v1", "events/"}}, &latest); err != nil {
		return event{}, err
	}
	for _, e := range latest.Results {
		if e.Payload.identity == id && e.Payload.Metadata.Key == key {
			return e, nil
		}
	}
	return event{}, nil
}

// filters select by an id and, where there are any, by metadata.
func (i identity) filters(field, value string) map[string]any {
	name, id := i.field()
	if field == "" {
		return map[string]any{name: id}
	}
	return map[string]any{"AND": []any{map[string]any{name: id}, map[string]any{"metadata": map[string]any{field: value}}}}
}

func (p *platform) search(ctx context.Context, id identity, text string, most int, floor float64) ([]row, error) {
	var out results
	err := p.do(ctx, &call{method: http.MethodPost, path: []string{"v3", "memories", "search/"}, body: map[string]any{
		"query": text, "filters": id.filters("", ""), "top_k": min(most, mostFound), "threshold": floor,
	}}, &out)
	return out.Results, err
}

type platformList struct {
	Count   int64  `json:"count"`
	Next    string `json:"next"`
	Results []row  `json:"results"`
}

func (p *platform) page(ctx context.Context, filters map[string]any, number, size int) (out platformList, err error) {
	err = p.do(ctx, &call{
		method: http.MethodPost, path: []string{"v3", "memories/"}, body: map[string]any{"filters": filters},
		query: url.Values{"page": {strconv.Itoa(number)}, "page_size": {strconv.Itoa(size)}}, single: number > 1,
	}, &out)
	if errors.Is(err, memory.ErrNotFound) { // what the page would show went meanwhile
		return platformList{}, nil
	}
	return out, err
}

// list reads a page. A token is how many memories came before, so that pages may have different sizes.
func (p *platform) list(ctx context.Context, id identity, token string, limit int) ([]row, string, error) {
	before := 0
	if token != "" {
		n, err := strconv.ParseUint(token, 10, 31)
		if err != nil {
			return nil, "", memory.ErrRefused
		}
		before = int(n)
	}
	size := min(max(limit, 1), platformPage)
	for before%size != 0 {
		size--
	}
	out, err := p.page(ctx, id.filters("", ""), before/size+1, size)
	if err != nil {
		return nil, "", err
	}
	next := ""
	if out.Next != "" && len(out.Results) > 0 {
		next = strconv.Itoa(before + size)
	}
	return out.Results[:min(len(out.Results), size)], next, nil
}

func (p *platform) marked(ctx context.Context, id identity, field, value string) (all []row, complete bool, err error) {
	for number := 1; number <= mostFound/platformPage; number++ {
		out, err := p.page(ctx, id.filters(field, value), number, platformPage)
		if err != nil {
			return nil, false, err
		}
		all = append(all, out.Results...)
		if out.Next == "" || len(out.Results) == 0 {
			return all, true, nil
		}
	}
	return all, false, nil
}

func (p *platform) get(ctx context.Context, memoryID string) (*row, error) {
	out := &row{}
	err := p.do(ctx, &call{method: http.MethodGet, path: []string{"v1", "memories", memoryID + "/"}, single: true}, out)
	return out, err
}

func (p *platform) remove(ctx context.Context, memoryIDs []string) error {
	type one struct {
		ID string `json:"memory_id"`
	}
	for chunk := range slices.Chunk(memoryIDs, platformBatch) {
		body := struct {
			Memories []one `json:"memories"`
		}{}
		for _, id := range chunk {
			body.Memories = append(body.Memories, one{id})
		}
		err := p.do(ctx, &call{method: http.MethodDelete, path: []string{"v1", "batch/"}, body: body, change: true, single: true}, &struct{}{})
		if err != nil && !errors.Is(err, memory.ErrNotFound) {
			return err
		}
	}
	return nil
}

func (p *platform) forget(ctx context.Context, id identity) (string, error) {
	kind := "user"
	if id.Agent != "" {
		kind = "agent"
	}
	_, name := id.field()
	var out struct {
		EventID string `json:"event_id"`
	}
	err := p.do(ctx, &call{method: http.MethodDelete, path: []string{"v2", "entities", kind, name + "/"}, change: true, single: true}, &out)
	if errors.Is(err, memory.ErrNotFound) {
		return "", nil
	}
	return out.EventID, err
}

func (p *platform) forgetting(ctx context.Context, name string) (bool, error) {
	found, err := p.event(ctx, name)
	if errors.Is(err, memory.ErrNotFound) {
		return false, nil
	}
	return found.pending(), err
}

func (p *platform) count(ctx context.Context, id identity) (int64, error) {
	out, err := p.page(ctx, id.filters("", ""), 1, 1)
	return max(out.Count, int64(len(out.Results))), err
}

func (p *platform) residue() string {
	return "Mem0's platform has a history of each memory and a log of events, which may hold texts after their memories are deleted."
}
