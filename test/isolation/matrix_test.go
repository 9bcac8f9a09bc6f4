package isolation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"google.golang.org/genproto/googleapis/rpc/errdetails"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// methods are all RPCs of the API.
func methods() []string {
	var out []string
	protoregistry.GlobalFiles.RangeFilesByPackage(pb.File_palimpsest_v1_error_proto.Package(), func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			s := f.Services().Get(i)
			for j := range s.Methods().Len() {
				out = append(out, fmt.Sprintf("/%s/%s", s.FullName(), s.Methods().Get(j).Name()))
			}
		}
		return true
	})
	return out
}

func TestMatrix_EveryRPC_HasARow(t *testing.T) {
	t.Parallel()
	known := rows()
	for _, m := range methods() {
		if _, ok := known[m]; !ok {
			t.Errorf("%s has no row", m)
		}
		delete(known, m)
	}
	for m := range known {
		t.Errorf("%s is no RPC", m)
	}
}

// state is what there is of a thing before a call about it.
type state string

const (
	present   state = "present"
	deleted   state = "deleted"
	overdue   state = "expired" // its ttl has passed, and no sweep has come
	absent    state = "absent"
	malformed state = "malformed"
)

// cell is one call of the matrix.
type cell struct {
	method string
	row    row
	caller string
	owner  string // whose the thing is
	state  state
	export string
	others things // of another conversation of the caller's, where a request must name some
}

// run makes what there is, and the call.
func (c *cell) run(t testing.TB, w *world, id string) (*answer, things) {
	t.Helper()
	made := w.prepare(t, c, id)
	return w.call(t, c.caller, c.method, &c.row, c.fill(id, made)), made
}

func (c *cell) fill(id string, made things) *strings.Replacer {
	if c.state == malformed {
		id = strings.Repeat("x", 300)
	}
	return strings.NewReplacer("$ID", id, "$CONTENT", made.content, "$MANIFEST", made.manifest, "$RESUME", made.resume, "$EXPORT", c.export)
}

func (w *world) prepare(t testing.TB, c *cell, id string) things {
	t.Helper()
	switch {
	case c.state == absent || c.state == malformed:
		return c.others
	case c.row.operator:
		w.configure(t, c.owner, id)
		return things{}
	}
	made := w.converse(t, c.owner, id, c.state == overdue)
	switch c.state {
	case deleted:
		_, err := pb.NewConversationServiceClient(w.conn).DeleteConversation(as(t.Context(), c.owner), &pb.DeleteConversationRequest{ConversationId: id})
		must(t, err)
	case overdue:
		w.now.Add(int64(2 * time.Minute))
	}
	return made
}

func reason(a *answer) string {
	for _, d := range a.status.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// TestMatrix_EveryCallerAndState_SeesTheirOwnAlone is every RPC, by every caller, about what is theirs, another's, nobody's, gone and malformed.
func TestMatrix_EveryCallerAndState_SeesTheirOwnAlone(t *testing.T) {
	testlane.OneCaller(t)
	t.Parallel()
	checkMatrix(t, map[string]func(testing.TB) store.Store{"memory": openMemory, "bolt": openBolt})
}

// TestMatrix_OnServers_EveryCallerAndState_SeesTheirOwnAlone is the same on stores that sidecars share.
func TestMatrix_OnServers_EveryCallerAndState_SeesTheirOwnAlone(t *testing.T) {
	testlane.OnServers(t)
	t.Parallel()
	checkMatrix(t, map[string]func(testing.TB) store.Store{"postgres": openPostgres, "redis": openRedis})
}

func checkMatrix(t *testing.T, stores map[string]func(testing.TB) store.Store) {
	t.Helper()
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with, without := newWorld(t, open(t)), newWorld(t, open(t))
			others := with.converse(t, operator, "to-export", false)
			export := with.export(t, operator, "to-export")
			for n, method := range methods() {
				m := &matrix{with: with, without: without, prefix: fmt.Sprintf("rpc%d", n), method: method, row: rows()[method], export: export, others: others}
				t.Run(strings.TrimPrefix(method, "/palimpsest.v1."), m.check)
			}
			for name, v := range variants() {
				prefix := strings.ReplaceAll(name, " ", "-")
				m := &matrix{with: with, without: without, prefix: prefix, method: v.method, row: v.row, export: export, others: others}
				t.Run(name, m.check)
			}
		})
	}
}

// matrix is the part of one RPC. What is compared happens in two worlds: with what belongs to somebody else, and without.
type matrix struct {
	with, without *world
	prefix        string
	method        string
	row           row
	export        string
	others        things
	cells         int
}

func (m *matrix) cell(caller, owner string, s state) *cell {
	return &cell{method: m.method, row: m.row, caller: caller, owner: owner, state: s, export: m.export, others: m.others}
}

func (m *matrix) id() string {
	m.cells++
	return fmt.Sprintf("%s-%d", m.prefix, m.cells)
}

func (m *matrix) check(t *testing.T) {
	m.checkRefused(t)
	callers := []string{agent, alice, operator}
	if m.row.operator {
		m.checkAgents(t)
		callers = []string{operator}
	}
	for _, caller := range callers {
		m.checkOwn(t, caller)
		m.checkForeign(t, caller, stranger)
	}
	if !m.row.operator {
		m.checkForeign(t, alice, bob)
	}
}

// checkRefused: without a credential that holds, all is refused alike.
func (m *matrix) checkRefused(t *testing.T) {
	for _, caller := range []string{nobody, wrong, expired} {
		for _, s := range []state{present, absent, malformed} {
			got, _ := m.cell(caller, operator, s).run(t, m.with, m.id())
			if got.status.Code() != codes.Unauthenticated || reason(got) != "UNAUTHENTICATED" || got.status.Message() != "a valid credential is needed" || len(got.replies) > 0 {
				t.Errorf("%q about what is %s: %v", caller, s, got)
			}
		}
	}
}

// checkAgents: what is for operators is refused to agents alike, whatever there is.
func (m *matrix) checkAgents(t *testing.T) {
	for _, caller := range []string{agent, alice} {
		for _, s := range []state{present, absent, malformed} {
			got, _ := m.cell(caller, operator, s).run(t, m.with, m.id())
			if got.status.Code() != codes.PermissionDenied || reason(got) != "PERMISSION_DENIED" || len(got.replies) > 0 {
				t.Errorf("%q about what is %s: %v", caller, s, got)
			}
		}
	}
}

func (m *matrix) checkOwn(t *testing.T, caller string) {
	r := &m.row
	want := map[state]codes.Code{present: r.own, absent: r.absent, deleted: r.absent, overdue: r.absent, malformed: codes.InvalidArgument}
	if r.creates {
		want[deleted], want[overdue] = codes.NotFound, codes.NotFound
	}
	if m.method == "/palimpsest.v1.ConversationService/CreateConversation" {
		want[deleted], want[overdue] = codes.OK, codes.OK
	}
	for s, code := range want {
		if r.lists && s == malformed || r.operator && (s == deleted || s == overdue) {
			continue
		}
		got, _ := m.cell(caller, caller, s).run(t, m.with, m.id())
		if got.status.Code() != code {
			t.Errorf("%q about what is theirs and %s: %v, want %v", caller, s, got, code)
		}
		if gone := s == deleted || s == overdue; gone && code == codes.NotFound && reason(got) != "CONVERSATION_DELETED" {
			t.Errorf("%q about what is theirs and %s: %v", caller, s, got)
		}
	}
}

// checkForeign: what is another's looks like what is absent, and nothing happens to it.
func (m *matrix) checkForeign(t *testing.T, caller, owner string) {
	for _, s := range []state{present, deleted, overdue} {
		if m.row.operator && s != present {
			continue
		}
		id := m.id()
		theirs := m.cell(caller, owner, s)
		before := ""
		made := m.with.prepare(t, theirs, id)
		if s == present && !m.row.operator {
			before = m.with.export(t, owner, id)
		}
		// What both worlds make now has the same times and ids.
		m.without.now.Store(m.with.now.Load())
		m.with.ids.Store((m.with.ids.Load()>>16 + 1) << 16)
		m.without.ids.Store(m.with.ids.Load())
		answers := make([]*answer, 2)
		for i, w := range []*world{m.with, m.without} {
			answers[i] = w.call(t, caller, m.method, &m.row, theirs.fill(id, made))
		}
		if taken := owner == bob && m.row.creates; taken {
			// Ids are one actor's or another's in a namespace: that one is taken must show where it is to be made.
			if answers[0].status.Code() != codes.AlreadyExists || reason(answers[0]) != "CONVERSATION_EXISTS" {
				t.Errorf("%q makes what is another actor's and %s: %v", caller, s, answers[0])
			}
		} else if !m.row.lists && !answers[0].equal(answers[1]) {
			t.Errorf("%q about what is another's and %s:\n%v\nabout what is absent:\n%v", caller, s, answers[0], answers[1])
		}
		if strings.Contains(answers[0].String(), "canary") && !m.row.lists {
			t.Errorf("%q sees %v", caller, answers[0])
		}
		if m.row.lists && strings.Contains(answers[0].String(), `"`+id+`"`) {
			t.Errorf("%q lists what is another's: %v", caller, answers[0])
		}
		if before != "" && m.with.export(t, owner, id) != before {
			t.Errorf("%q changed what is another's", caller)
		}
	}
}
