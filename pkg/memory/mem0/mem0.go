// Package mem0 is Mem0 as a target of long-term memory: its hosted platform, or a server of one's own.
//
// What is sent is the text of messages, with one id and metadata. The id is the scope's external one, in user_id for users and namespaces and
// in agent_id for agents. A conversation's scope is the user "<namespace>:session:<conversation>", which has a part more than any user's:
// with run_id, a server would compare what is new with that conversation alone. The metadata say which batch a memory is of, and where it was
// said; a memory without them is not ours, and no answer shows it.
//
// Mem0 draws facts from a whole batch and does not tell from which message: taking back a part of a batch takes back all that was drawn from
// it. Facts that two conversations said alike are kept once, under the first one.
package mem0

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/internal/endpoint"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// Kind says which of Mem0's two services a target is. Their routes, their fields and their promises differ.
type Kind int8

// The kinds of services.
const (
	Platform Kind = iota + 1 // the hosted service
	Server                   // the server of the mem0 repository
)

// PlatformURL is the hosted service's address.
const PlatformURL = "https://api.mem0.ai"

// What a target takes.
const (
	maxMessages = 20
	maxChars    = 10_000 // code points of a message or a note; a page of such is below what an answer may weigh
)

// Options configures a target.
type Options struct {
	Kind Kind
	// BaseURL is where the API lies. The platform has a default. A server's must be https, but on this machine.
	BaseURL string
	// AllowInsecure lets the secret and all texts travel over plain http, for a server behind a network that is trusted.
	AllowInsecure bool
	// APIKey gives the secret, at each call, so that it can be changed. A server without authentication needs none.
	APIKey func() string
	// HTTPClient replaces the client; redirects are never followed. Nil for one that reads proxies and roots from the system.
	HTTPClient *http.Client
	// ReadTime and ChangeTime end calls whose context has no earlier deadline; 30 s and 2 min by default. An add to a server waits for its
	// model.
	ReadTime, ChangeTime time.Duration
}

// Target is a Mem0 service.
type Target struct {
	api    api
	http   *http.Client
	limits memory.Limits

	mu     sync.Mutex
	events map[string]string // what the platform calls the work under way, by eventKey
}

var _ memory.Target = (*Target)(nil)

// api is what the two services differ in. Rows are what they show, unchecked.
type api interface {
	// add sends messages. The service answers with what it keeps, or with the name of the event that tells later.
	add(ctx context.Context, a *addition) (ids []string, event string, err error)
	// settled says whether the service works no more on what was added under a key. done: it is known to be through with it.
	settled(ctx context.Context, event string, id identity, key string) (pending, done bool, err error)
	search(ctx context.Context, id identity, text string, most int, floor float64) ([]row, error)
	// list returns rows of a page and the next page's token.
	list(ctx context.Context, id identity, token string, limit int) (rows []row, next string, err error)
	// marked returns the rows whose metadata have a value, and whether these are all.
	marked(ctx context.Context, id identity, field, value string) (rows []row, all bool, err error)
	get(ctx context.Context, memoryID string) (*row, error)
	remove(ctx context.Context, memoryIDs []string) error
	// forget deletes all that is under an id: now, or soon if it gives an event.
	forget(ctx context.Context, id identity) (event string, err error)
	// forgetting says whether a deletion is still under way. It would take what is added meanwhile.
	forgetting(ctx context.Context, event string) (bool, error)
	count(ctx context.Context, id identity) (int64, error)
	residue() string
}

// New returns a target, or an error that says what of the options is wrong, without quoting it.
func New(o Options) (*Target, error) {
	if o.Kind != Platform && o.Kind != Server {
		return nil, errors.New("the kind must be the platform or a server")
	}
	if o.Kind == Platform {
		o.BaseURL = cmp.Or(o.BaseURL, PlatformURL)
	}
	c, err := newClient(&o)
	if err != nil {
		return nil, err
	}
	t := &Target{http: c.http, events: map[string]string{}, limits: memory.Limits{
		MaxMessages: maxMessages, MaxChars: maxChars, MaxNote: maxChars, ReturnsIDs: true, ForgetsOne: true,
	}}
	if o.Kind == Platform {
		t.api, t.limits.Async, t.limits.Concurrency = &platform{c}, true, 4
	} else {
		t.api, t.limits.Concurrency = &server{c}, 1 // adds at a time break its local vector stores
	}
	return t, nil
}

func newClient(o *Options) (*client, error) {
	base, err := endpoint.Parse(o.BaseURL, !o.AllowInsecure)
	if err != nil {
		return nil, err
	}
	out := &client{
		base: base, readTime: cmp.Or(o.ReadTime, 30*time.Second), changeTime: cmp.Or(o.ChangeTime, 2*time.Minute), key: o.APIKey,
		header: "X-API-Key",
	}
	if o.Kind == Platform {
		out.header, out.prefix = "Authorization", "Token "
	}
	out.http = endpoint.NewClient(endpoint.Options{Parallel: 4})
	if o.HTTPClient != nil {
		own := *o.HTTPClient
		own.CheckRedirect = out.http.CheckRedirect
		out.http = &own
	}
	return out, nil
}

// Name implements memory.Target.
func (t *Target) Name() string { return "mem0" }

// Limits implements memory.Target.
func (t *Target) Limits() memory.Limits { return t.limits }

// Close closes idle connections.
func (t *Target) Close() { t.http.CloseIdleConnections() }

// identity is how a scope is called at Mem0. One of the two is set: both together would make the platform part facts by speaker.
type identity struct {
	User  string `json:"user_id,omitempty"`
	Agent string `json:"agent_id,omitempty"`
}

func identityOf(s memory.Scope) identity {
	switch s.Kind {
	case memory.ScopeAgent:
		return identity{Agent: s.ExternalID()}
	case memory.ScopeSession:
		// A part more than a user's name, and no part holds a colon.
		namespace, name, _ := strings.Cut(s.ExternalID(), ":")
		return identity{User: namespace + ":session:" + name}
	default:
		return identity{User: s.ExternalID()}
	}
}

// field and value are the id for a query or a path.
func (i identity) field() (name, value string) {
	if i.Agent != "" {
		return "agent_id", i.Agent
	}
	return "user_id", i.User
}

// clean is a text as services can keep it: at most so many code points, without NUL, which databases refuse for ever.
func clean(text string, most int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most])
}
