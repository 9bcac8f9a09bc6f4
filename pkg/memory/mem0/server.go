package mem0

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// server is the server of the mem0 repository.
type server struct{ *client }

// mostListed is how many memories a server shows of an id: it has no pages.
const mostListed = 1000

func (v *server) add(ctx context.Context, a *addition) ([]string, string, error) {
	var out struct {
		Results []struct {
			row
			Event string `json:"event"`
		} `json:"results"`
	}
	q := &call{method: http.MethodPost, path: []string{"memories"}, body: a, change: true, partly: !a.Infer && len(a.Messages) > 1}
	if err := v.do(ctx, q, &out); err != nil {
		return nil, "", err
	}
	var ids []string
	for i := range out.Results {
		if r := &out.Results[i]; r.ID != "" && r.Event == "ADD" {
			ids = append(ids, r.ID)
		}
	}
	return ids, "", nil
}

// settled: an add is through when it is answered.
func (v *server) settled(context.Context, string, identity, string) (pending, done bool, err error) {
	return false, false, nil
}

func (v *server) search(ctx context.Context, id identity, text string, most int, floor float64) ([]row, error) {
	return v.find(ctx, map[string]any{"query": text, "filters": id.flat("", ""), "top_k": min(most, mostFound), "threshold": floor})
}

func (v *server) find(ctx context.Context, body map[string]any) ([]row, error) {
	var out results
	err := v.do(ctx, &call{method: http.MethodPost, path: []string{"search"}, body: body}, &out)
	return out.Results, err
}

// flat filters select by an id and, where there are any, by metadata, which lie beside it.
func (i identity) flat(field, value string) map[string]any {
	name, id := i.field()
	out := map[string]any{name: id}
	if field != "" {
		out[field] = value
	}
	return out
}

// all lists what the server shows of an id, and whether that is everything.
func (v *server) all(ctx context.Context, id identity) ([]row, bool, error) {
	name, value := id.field()
	var out results
	most, err := shrinking(mostListed, func(most int) error {
		out.Results = nil
		return v.do(ctx, &call{
			method: http.MethodGet, path: []string{"memories"},
			query: url.Values{name: {value}, "top_k": {strconv.Itoa(most)}, "show_expired": {"true"}},
		}, &out)
	})
	return out.Results, len(out.Results) < most, err
}

// list cuts pages of what the server shows, in the order in which memories came, and by id where they came together. A token is the place
// where the page before ended, so that what is deleted meanwhile moves nothing.
func (v *server) list(ctx context.Context, id identity, token string, limit int) ([]row, string, error) {
	after, memoryID, ok := strings.Cut(token, " ")
	if token != "" && (!ok || !isID(memoryID)) {
		return nil, "", memory.ErrRefused
	}
	rows, _, err := v.all(ctx, id)
	if err != nil {
		return nil, "", err
	}
	place := func(a, b *row) int { return cmp.Or(strings.Compare(a.Created, b.Created), strings.Compare(a.ID, b.ID)) }
	slices.SortFunc(rows, func(a, b row) int { return place(&a, &b) })
	if token != "" {
		last := &row{Created: after, ID: memoryID}
		rows = slices.DeleteFunc(rows, func(r row) bool { return place(&r, last) <= 0 })
	}
	if len(rows) <= limit {
		return rows, "", nil
	}
	last := &rows[limit-1]
	return rows[:limit], last.Created + " " + last.ID, nil
}

// marked reads the list, which is exact: a search leaves out what is unlike its query. Of a scope that is longer than the list it searches
// too.
func (v *server) marked(ctx context.Context, id identity, field, value string) ([]row, bool, error) {
	rows, complete, err := v.all(ctx, id)
	if err != nil || complete {
		return rows, complete, err
	}
	_, err = shrinking(mostFound, func(most int) error {
		found, err := v.find(ctx, map[string]any{
			"query": "memory", "filters": id.flat(field, value), "top_k": most, "threshold": 0, "show_expired": true,
		})
		rows = append(rows, found...)
		return err
	})
	return rows, false, err
}

func (v *server) get(ctx context.Context, memoryID string) (*row, error) {
	var out *row
	err := v.do(ctx, &call{method: http.MethodGet, path: []string{"memories", memoryID}, single: true}, &out)
	if err == nil && out == nil { // the answer is null
		err = memory.ErrNotFound
	}
	return out, err
}

func (v *server) remove(ctx context.Context, memoryIDs []string) error {
	for _, id := range memoryIDs {
		err := v.do(ctx, &call{method: http.MethodDelete, path: []string{"memories", id}, change: true, single: true}, &struct{}{})
		if err != nil && !errors.Is(err, memory.ErrNotFound) {
			return err
		}
	}
	return nil
}

// forget deletes an id's memories at once, which takes an administrator's credential; with another, those that are shown, one by one.
func (v *server) forget(ctx context.Context, id identity) (string, error) {
	name, value := id.field()
	err := v.do(ctx, &call{method: http.MethodDelete, path: []string{"memories"}, query: url.Values{name: {value}}, change: true}, &struct{}{})
	if !errors.Is(err, errForbidden) {
		return "", err
	}
	rows, _, err := v.all(ctx, id)
	if err != nil {
		return "", err
	}
	mine := slices.DeleteFunc(rows, func(r row) bool { return (identity{r.User, r.Agent}) != id })
	return "", v.remove(ctx, idsOf(mine[:min(len(mine), mostRemoved)]))
}

func (v *server) forgetting(context.Context, string) (bool, error) { return false, nil }

func (v *server) count(ctx context.Context, id identity) (int64, error) {
	rows, _, err := v.all(ctx, id)
	return int64(len(rows)), err
}

func (v *server) residue() string {
	return "The Mem0 server keeps the text of each deleted memory in its history, and the last ten messages of each user, of which later " +
		"facts may be drawn; both go with its reset alone."
}
