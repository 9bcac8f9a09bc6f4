package agentcore_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/agentcore"
	"github.com/palimpsest-context/palimpsest/pkg/memory/agentcore/agentcoretest"
)

const canary = "walnuts"

func anna() memory.Scope {
	return memory.Scope{Namespace: "default", Kind: memory.ScopeUser, ID: "anna"}
}

func at(minute int) time.Time { return time.Date(2026, 3, 2, 9, minute, 0, 0, time.UTC) }

// batch is what anna says in a conversation, from an index on.
func batch(name, session, key string, first int32, texts ...string) *memory.Batch {
	b := &memory.Batch{Scope: anna(), Conversation: name, Incarnation: conversation.ID{7}, Key: key, Session: session, Infer: true}
	for i, text := range texts {
		b.Messages = append(b.Messages, memory.Message{Index: first + int32(i), Role: conversation.RoleUser, Text: text, Time: at(i)})
	}
	return b
}

func note(key, text string) *memory.Note { return &memory.Note{Key: key, Text: text, Time: at(0)} }

func query(text string) *memory.Query {
	return &memory.Query{Text: text, Limit: 20, Now: at(0)}
}

// calls are all that a target can be asked, by whether they change something.
func calls(target *agentcore.Target) (reads, changes map[string]func(context.Context) error) {
	id := "mem-" + strings.Repeat("0", 40)
	reads = map[string]func(context.Context) error{
		"Search": func(ctx context.Context) error { _, err := target.Search(ctx, anna(), query(canary)); return err },
		"List": func(ctx context.Context) error {
			_, err := target.List(ctx, anna(), &memory.Page{Limit: 5})
			return err
		},
		"Settle": func(ctx context.Context) error {
			_, err := target.Settle(ctx, batch("talk", "1", "k", 0, canary))
			return err
		},
		"Delete": func(ctx context.Context) error { _, err := target.Delete(ctx, anna(), []string{id}); return err }, // looks first
		"Forget": func(ctx context.Context) error { _, err := target.Forget(ctx, anna(), time.Now()); return err },   // looks first
		"Retract": func(ctx context.Context) error {
			_, err := target.Retract(ctx, anna(), &memory.Retraction{Conversation: "talk", Range: conversation.Range{End: 9}})
			return err
		},
	}
	changes = map[string]func(context.Context) error{
		"Add": func(ctx context.Context) error {
			_, err := target.Add(ctx, batch("talk", "1", "k", 0, canary))
			return err
		},
		"Put": func(ctx context.Context) error { _, err := target.Put(ctx, anna(), note("k", canary)); return err },
	}
	return reads, changes
}

func both(target *agentcore.Target) map[string]func(context.Context) error {
	all, changes := calls(target)
	for name, call := range changes {
		all[name] = call
	}
	return all
}

func TestTarget_Refusals_AreTheContractsErrors(t *testing.T) {
	t.Parallel()
	server := agentcoretest.Start(t, agentcoretest.Options{})
	target := open(t, server)
	for name, test := range map[string]struct {
		fault agentcoretest.Fault
		want  error
		after time.Duration
	}{
		"throttled":               {agentcoretest.Fault{Status: 429, Code: "ThrottledException", RetryAfter: "7"}, memory.ErrUnavailable, 7 * time.Second},
		"throttled, AWS's way":    {agentcoretest.Fault{Status: 400, Code: "ThrottlingException"}, memory.ErrUnavailable, 0},
		"over quota":              {agentcoretest.Fault{Status: 402, Code: "ServiceQuotaExceededException"}, memory.ErrUnavailable, 0},
		"in conflict":             {agentcoretest.Fault{Status: 409, Code: "RetryableConflictException"}, memory.ErrUnavailable, 0},
		"broken":                  {agentcoretest.Fault{Status: 500, Code: "ServiceException"}, memory.ErrUnavailable, 0},
		"away":                    {agentcoretest.Fault{Status: 503, RetryAfter: "9"}, memory.ErrUnavailable, 9 * time.Second},
		"malformed":               {agentcoretest.Fault{Status: 400, Code: "ValidationException"}, memory.ErrRefused, 0},
		"invalid":                 {agentcoretest.Fault{Status: 400, Code: "InvalidInputException"}, memory.ErrRefused, 0},
		"too large":               {agentcoretest.Fault{Status: 413}, memory.ErrRefused, 0},
		"forbidden":               {agentcoretest.Fault{Status: 403, Code: "AccessDeniedException"}, memory.ErrDenied, 0},
		"not signed as it should": {agentcoretest.Fault{Status: 403, Code: "InvalidSignatureException"}, memory.ErrDenied, 0},
		"expired credentials":     {agentcoretest.Fault{Status: 400, Code: "ExpiredTokenException"}, memory.ErrDenied, 0},
		"unauthorized":            {agentcoretest.Fault{Status: 401}, memory.ErrDenied, 0},
		"elsewhere":               {agentcoretest.Fault{Status: 302}, memory.ErrDenied, 0},
	} {
		server.Always(&test.fault)
		for call, do := range both(target) {
			err := do(t.Context())
			if !errors.Is(err, test.want) {
				t.Errorf("%s, %s: %v", name, call, err)
				continue
			}
			var unavailable *memory.UnavailableError
			if errors.As(err, &unavailable) && (unavailable.After != test.after || unavailable.Cause == "") {
				t.Errorf("%s, %s: %+v", name, call, unavailable)
			}
			private(t, err)
		}
	}
}

// private holds an error to telling nothing of a request. The server quotes all of it.
func private(t *testing.T, err error) {
	t.Helper()
	for _, secret := range []string{canary, "anna", "talk", agentcoretest.MemoryID, agentcoretest.Key, "127.0.0.1", "injected"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error tells %q: %v", secret, err)
		}
	}
}

func TestTarget_NoMemory_IsDenied(t *testing.T) {
	t.Parallel()
	target := open(t, agentcoretest.Start(t, agentcoretest.Options{}), func(o *agentcore.Options) { o.MemoryID = "another-0123456789" })
	for name, call := range both(target) {
		switch err := call(t.Context()); {
		case name == "Delete" && err == nil: // it asks whether there is such a record
		case name == "Settle" && errors.Is(err, memory.ErrNotFound): // and whether there is such a session
		case !errors.Is(err, memory.ErrDenied):
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTarget_LostAnswers_LeaveChangesOpen(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]agentcoretest.Fault{
		"broken connection": {Lose: true},
		"no JSON":           {Body: "<html>"},
		"cut off":           {Body: `{"event":{"eventId":`},
		"too long":          {Body: `{"x":"` + strings.Repeat("x", 5<<20) + `"}`},
		"too late":          {Delay: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := agentcoretest.Start(t, agentcoretest.Options{})
			target := open(t, server, func(o *agentcore.Options) {
				if fault.Delay > 0 {
					o.Timeout = 100 * time.Millisecond
				}
			})
			server.Always(&fault)
			reads, changes := calls(target)
			for call, do := range reads {
				err := do(t.Context())
				if !errors.Is(err, memory.ErrUnavailable) {
					t.Errorf("%s: %v", call, err)
				}
				var unavailable *memory.UnavailableError
				if errors.As(err, &unavailable) && (unavailable.Cause == "timeout") != (fault.Delay > 0) {
					t.Errorf("%s: the cause is %q", call, unavailable.Cause)
				}
			}
			for call, do := range changes {
				if err := do(t.Context()); !errors.Is(err, memory.ErrOutcomeUnknown) {
					t.Errorf("%s: %v", call, err)
				} else {
					private(t, err)
				}
			}
		})
	}
}

func TestTarget_AServerThatIsAway_DidNothing(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	target := open(t, agentcoretest.Start(t, agentcoretest.Options{}), func(o *agentcore.Options) { o.BaseEndpoint = gone.URL })
	for name, call := range both(target) {
		err := call(t.Context())
		if !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		private(t, err)
	}
}

func TestTarget_Requests_AreSentOnce(t *testing.T) {
	t.Parallel()
	server := agentcoretest.Start(t, agentcoretest.Options{})
	target := open(t, server)
	server.Next(agentcoretest.Fault{Status: 500}, agentcoretest.Fault{Lose: true})
	for range 2 {
		if _, err := target.Add(t.Context(), batch("talk", "1", "k", 0, canary)); err == nil {
			t.Error("no error")
		}
	}
	if got := server.Calls(); len(got) != 2 {
		t.Errorf("two calls are %v", got)
	}
}

func TestTarget_Redirects_AreNotFollowed(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the other host was asked") }))
	defer other.Close()
	here := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer here.Close()
	target := open(t, agentcoretest.Start(t, agentcoretest.Options{}), func(o *agentcore.Options) { o.BaseEndpoint = here.URL })
	for name, call := range both(target) {
		if err := call(t.Context()); !errors.Is(err, memory.ErrDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTarget_Credentials_ThatAreNotTheServers(t *testing.T) {
	t.Parallel()
	server := agentcoretest.Start(t, agentcoretest.Options{})
	wrong := open(t, server, func(o *agentcore.Options) {
		o.Credentials = credentials.NewStaticCredentialsProvider("AKIDOTHER", "x", "")
	})
	if _, err := wrong.Add(t.Context(), batch("talk", "1", "k", 0, canary)); !errors.Is(err, memory.ErrDenied) {
		t.Errorf("another's key: %v", err)
	}
	before := len(server.Calls())
	none := open(t, server, func(o *agentcore.Options) {
		o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{}, errors.New("the role of " + canary + " is not there")
		})
	})
	for name, call := range both(none) {
		err := call(t.Context())
		if !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		private(t, err)
	}
	if len(server.Calls()) != before {
		t.Error("something was sent without credentials")
	}
}

func TestTarget_AWrongSecret_IsDeniedByTheSignature(t *testing.T) {
	t.Parallel()
	server := agentcoretest.Start(t, agentcoretest.Options{Model: agentcoretest.StartModel(t)})
	target := open(t, server, func(o *agentcore.Options) {
		o.Credentials = credentials.NewStaticCredentialsProvider(agentcoretest.Key, "another secret", "")
	})
	for name, call := range both(target) {
		if err := call(t.Context()); !errors.Is(err, memory.ErrDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTarget_FailedRecords_AreFailures(t *testing.T) {
	t.Parallel()
	server := agentcoretest.Start(t, agentcoretest.Options{})
	target := open(t, server)
	failed := func(code string) agentcoretest.Fault {
		return agentcoretest.Fault{Body: `{"successfulRecords":[],"failedRecords":[{"memoryRecordId":"","status":"FAILED","errorCode":` + code + `}]}`}
	}
	kept := batch("talk", "1", "k", 0, canary)
	kept.Infer = false
	for code, want := range map[string]error{
		"400": memory.ErrRefused, "402": memory.ErrUnavailable, "403": memory.ErrDenied, "429": memory.ErrUnavailable, "500": memory.ErrUnavailable,
		"0": memory.ErrRefused,
	} {
		server.Next(failed(code), failed(code))
		if _, err := target.Put(t.Context(), anna(), note("k", canary)); !errors.Is(err, want) {
			t.Errorf("Put with %s: %v", code, err)
		}
		if _, err := target.Add(t.Context(), kept); !errors.Is(err, want) {
			t.Errorf("Add with %s: %v", code, err)
		}
	}
}
