package memories

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/store/postgres"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
)

// disk is where a store keeps its bytes, and what has it let go of those that nothing refers to any more.
type disk struct {
	store  store.Store
	folder string
	clean  func(*testing.T)
}

// disks opens one of each kind that has a disk.
var disks = map[string]func(*testing.T) disk{
	"bolt": func(t *testing.T) disk {
		folder := t.TempDir()
		s, err := bolt.Open(filepath.Join(folder, "store.db"), bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return disk{s, folder, func(*testing.T) {}}
	},
	"postgres": func(t *testing.T) disk {
		server := dbtest.StartPostgres(t, "wal_recycle=off", "full_page_writes=off")
		s, err := postgres.Open(t.Context(), postgres.Options{DSN: server.DSN, Schema: "forgotten"})
		if err != nil {
			t.Fatal(err)
		}
		return disk{s, server.Folder(), func(t *testing.T) { vacuum(t, server.DSN) }}
	},
	"redis": func(t *testing.T) disk {
		server := dbtest.StartRedis(t)
		s, err := redis.Open(t.Context(), redis.Options{URL: "redis://" + server.Address})
		if err != nil {
			t.Fatal(err)
		}
		return disk{s, server.Folder(), func(t *testing.T) { rewrite(t, server.Address) }}
	},
}

// vacuum rewrites the tables and lets go of the log before.
func vacuum(t *testing.T, dsn string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
	for _, sql := range []string{"VACUUM FULL", "SELECT pg_switch_wal()", "CHECKPOINT", "SELECT pg_switch_wal()", "CHECKPOINT"} {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}

// rewrite begins the append-only file anew.
func rewrite(t *testing.T, address string) {
	t.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: address})
	defer func() { _ = c.Close() }()
	if err := c.BgRewriteAOF(t.Context()).Err(); err != nil && !strings.Contains(err.Error(), "in progress") {
		t.Fatal(err)
	}
}

const canary = "kanarienvogel"

// TestMemories_ForgetActor_LeavesNoByte: of an actor that is forgotten with the records, nothing is left in any answer, nor on the disk once
// the store has let go of it.
func TestMemories_ForgetActor_LeavesNoByte(t *testing.T) {
	t.Parallel()
	for name, open := range disks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			p := start(t, d.store, atOnce())
			p.liveWithCanary()
			if !d.holds(t, canary) {
				t.Fatal("the disk never held it in the clear: this test sees nothing")
			}
			p.forget("ann")
			p.eventually("no byte is left on the disk", time.Minute, func() bool {
				if err := p.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
				d.clean(t)
				return !d.holds(t, canary)
			})
		})
	}
}

// liveWithCanary has ann speak of a canary in several conversations, and one of them recall it.
func (p *process) liveWithCanary() {
	p.t.Helper()
	for i := range 3 {
		id := fmt.Sprintf("c%d", i)
		p.create(id, "ann")
		p.say(id, conversation.RoleUser, fmt.Sprintf("My %s number %d sings in the kitchen, never feed it after 8.", canary, i))
		p.build(id, conversation.FormatNeutral, 10_000)
		p.say(id, conversation.RoleAssistant, "I will not feed the "+canary+".")
		p.inSync(id)
	}
	p.create("after", "ann")
	p.say("after", conversation.RoleUser, "What sings in the kitchen, my "+canary+" number 1?")
	if r := p.build("after", conversation.FormatNeutral, 10_000); r.Tokens.Memories == 0 {
		p.t.Fatalf("nothing was recalled: %+v", r.Events)
	}
	_, err := p.AddMemory(p.t.Context(), engine.AddMemoryRequest{Of: engine.MemoriesOf{Key: key("after")}, Text: "The " + canary + " is yellow."})
	if err != nil {
		p.t.Fatal(err)
	}
}

// forget forgets an actor with four conversations, and waits for it.
func (p *process) forget(actor string) {
	p.t.Helper()
	f, err := p.ForgetActor(p.t.Context(), "default", actor, true)
	if err != nil {
		p.t.Fatal(err)
	}
	p.eventually("forgotten", time.Minute, func() bool {
		if f, err = p.Forget(p.t.Context(), "default", f.ID); err != nil {
			p.t.Fatal(err)
		}
		return !f.DoneTime.IsZero()
	})
	if f.Conversations != 4 || len(f.Residue) > 0 {
		p.t.Errorf("%+v", f)
	}
	list, err := p.ListMemories(p.t.Context(), engine.ListMemoriesRequest{Of: engine.MemoriesOf{Key: key(""), ActorID: actor}, Limit: 100})
	if err != nil || len(list.Memories) > 0 {
		p.t.Errorf("%+v, %v", list, err)
	}
}

// holds says whether a text is in any file.
func (d *disk) holds(t *testing.T, text string) (held bool) {
	t.Helper()
	err := filepath.WalkDir(d.folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil //nolint:nilerr // it is gone by now
		}
		file, err := os.ReadFile(path)
		held = held || err == nil && bytes.Contains(file, []byte(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return held
}
