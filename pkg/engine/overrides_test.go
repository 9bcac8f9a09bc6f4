package engine_test

import (
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// sources are the levels that set how long something lives, lowest first. Each level leaves a different number of characters.
type sources struct {
	server, conversation, request, tool, action, agentAction, message, result, appended, built bool
}

// layered returns what these levels make of a result of 2,000 characters with 0 turns to live.
func layered(t *testing.T, s sources) (*engine.BuildResult, *conversation.Expiration) {
	t.Helper()
	results := func(n int32) conversation.Policy {
		return conversation.Policy{Expiration: conversation.ExpirationPolicy{Results: *compacted(0, n)}}
	}
	b := lifeBench(memory.New(memory.Options{}), func(o *engine.Options) {
		if s.server {
			o.Defaults.Expiration = results(10).Expiration
		}
	})
	info := store.Info{}
	if s.conversation {
		info.Policy = results(20)
	}
	if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c"), Info: info}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct {
		set    bool
		key    conversation.ActionKey
		length int32
	}{
		{s.tool, conversation.ActionKey{ToolName: "search"}, 40}, {s.action, conversation.ActionKey{ActionID: "act"}, 50},
		{s.agentAction, conversation.ActionKey{AgentActionID: "agent"}, 60},
	} {
		if !p.set {
			continue
		}
		if err := b.PutActionPolicy(ctx, "default", conversation.ActionPolicy{Key: p.key, Expiration: *compacted(0, p.length)}, engine.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	m := result("k", long("r", 2000))
	m.Parts[0].Result.Name, m.Parts[0].Result.Actions = "search", []conversation.ActionRef{{ActionID: "act", AgentActionID: "agent"}}
	if s.message {
		m.Expiration = compacted(0, 70)
	}
	if s.result {
		m.Parts[0].Result.Expiration = compacted(0, 80)
	}
	extras := make([]engine.AppendExtra, 4)
	if s.appended {
		extras[2].Override = &conversation.ExpirationOverride{Expiration: conversation.Expiration{CompactLength: ptr(int32(90))}}
	}
	appended, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{user("go"), call("k"), m, user("next")}, Extras: extras})
	if err != nil {
		t.Fatal(err)
	}
	r := b.turn(t, "c", func(r *engine.BuildRequest) {
		if s.request {
			r.PolicyOverride = results(30)
		}
		if s.built {
			r.Override = &conversation.ExpirationOverride{Expiration: conversation.Expiration{CompactLength: ptr(int32(100))}}
		}
	})
	return r, appended.Messages[2].Parts[0].Result.Expiration
}

// TestEngine_Build_WhatCountsOfAllLevels: each level hides those below it, and an override replaces what it sets alone (behaviour §4, §5).
func TestEngine_Build_WhatCountsOfAllLevels(t *testing.T) {
	whole := long("r", 2000)
	for _, tt := range []struct {
		s      sources
		length int // 0: it stays in full
		from   conversation.ExpirationSource
	}{
		{sources{}, 0, 0},
		{sources{server: true}, 10, 0},
		{sources{server: true, conversation: true}, 20, 0},
		{sources{server: true, conversation: true, request: true}, 30, 0},
		{sources{server: true, conversation: true, request: true, tool: true}, 40, conversation.SourceTool},
		{sources{conversation: true, request: true, tool: true, action: true}, 50, conversation.SourceAction},
		{sources{request: true, tool: true, action: true, agentAction: true}, 60, conversation.SourceAgentAction},
		{sources{request: true, tool: true, action: true, agentAction: true, message: true}, 70, conversation.SourceExplicit},
		{sources{request: true, tool: true, action: true, agentAction: true, message: true, result: true}, 80, conversation.SourceExplicit},
		{sources{agentAction: true, message: true, result: true, appended: true}, 90, conversation.SourceOverride},
		{sources{result: true, appended: true, built: true}, 100, conversation.SourceOverride},
		{sources{agentAction: true, appended: true}, 90, conversation.SourceOverride},
		{sources{server: true, appended: true}, 90, conversation.SourceOverride},
		{sources{conversation: true, built: true}, 100, 0},
		{sources{appended: true}, 0, conversation.SourceOverride}, // a length alone
		{sources{built: true}, 0, 0},
	} {
		r, stored := layered(t, tt.s)
		want := whole
		if tt.length > 0 {
			want = firstChars(whole, tt.length, 2)
		}
		if got, _ := message(r, 2); got != want {
			t.Errorf("%+v: shows %s", tt.s, abridged(got))
		}
		if stored == nil && tt.from != 0 || stored != nil && stored.Source != tt.from {
			t.Errorf("%+v: stored %+v, want source %d", tt.s, stored, tt.from)
		}
	}
}

// TestEngine_Build_DisableAtEachLevel: disable works at every level, and undoes nothing.
func TestEngine_Build_DisableAtEachLevel(t *testing.T) {
	whole := long("r", 2000)
	off := conversation.ExpirationPolicy{Off: ptr(true)}
	disable := &conversation.ExpirationOverride{Disable: true}
	for _, tt := range []struct {
		name    string
		server  conversation.ExpirationPolicy
		info    conversation.ExpirationPolicy
		append  *conversation.ExpirationOverride
		request conversation.ExpirationPolicy
		build   *conversation.ExpirationOverride
		stays   bool
	}{
		{"nowhere", conversation.ExpirationPolicy{}, conversation.ExpirationPolicy{}, nil, conversation.ExpirationPolicy{}, nil, false},
		{"the server's policy", off, conversation.ExpirationPolicy{}, nil, conversation.ExpirationPolicy{}, nil, true},
		{"the server's, on again in the conversation's", off, conversation.ExpirationPolicy{Off: ptr(false)}, nil, conversation.ExpirationPolicy{}, nil, false},
		{"the conversation's", conversation.ExpirationPolicy{}, off, nil, conversation.ExpirationPolicy{}, nil, true},
		{"the conversation's, on again in the request", conversation.ExpirationPolicy{}, off, nil, conversation.ExpirationPolicy{Off: ptr(false)}, nil, false},
		{"the append's override", conversation.ExpirationPolicy{}, conversation.ExpirationPolicy{}, disable, conversation.ExpirationPolicy{}, nil, true},
		{"the request's policy", conversation.ExpirationPolicy{}, conversation.ExpirationPolicy{}, nil, off, nil, true},
		{"the build's override", conversation.ExpirationPolicy{}, conversation.ExpirationPolicy{}, nil, conversation.ExpirationPolicy{}, disable, true},
		{"off, whatever the build's override says", conversation.ExpirationPolicy{}, off, nil, conversation.ExpirationPolicy{},
			&conversation.ExpirationOverride{Expiration: *removed(0)}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := lifeBench(memory.New(memory.Options{}), func(o *engine.Options) { o.Defaults.Expiration = tt.server })
			if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c"), Info: store.Info{Policy: conversation.Policy{Expiration: tt.info}}}); err != nil {
				t.Fatal(err)
			}
			_, err := b.Append(ctx, engine.AppendRequest{
				Key: keyOf("c"), Messages: []conversation.Message{user("go"), call("k"), resultLiving("k", whole, compacted(0, 100)), user("next")},
				Extras: []engine.AppendExtra{{}, {}, {Override: tt.append}, {}},
			})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				r := b.turn(t, "c", func(r *engine.BuildRequest) { r.PolicyOverride.Expiration, r.Override = tt.request, tt.build })
				want := firstChars(whole, 100, 2)
				if tt.stays {
					want = whole
				}
				wantShown(t, r, 2, want)
			}
		})
	}
}

// TestEngine_Append_ResolvesOnce: the source of a lifetime is resolved once, at append. Later changes of policies do not affect it
// (behaviour §5).
func TestEngine_Append_ResolvesOnce(t *testing.T) {
	b := newEager()
	key := conversation.ActionKey{ToolName: "search"}
	put := func(length int32) {
		t.Helper()
		if err := b.PutActionPolicy(ctx, "default", conversation.ActionPolicy{Key: key, Expiration: *compacted(1, length)}, engine.Request{}); err != nil {
			t.Fatal(err)
		}
		b.now = b.now.Add(2 * time.Second)
	}
	search := func(id string) conversation.Message {
		m := result(id, long("r", 2000))
		m.Parts[0].Result.Name = "search"
		return m
	}
	b.append(t, "c", user("go"), call("k"), search("k"), user("next"))
	put(100)
	b.append(t, "c", call("k"), search("k"), user("next"))
	put(50)
	b.append(t, "c", call("k"), search("k"), user("next"))
	if err := b.DeleteActionPolicy(ctx, "default", key, engine.Request{}); err != nil {
		t.Fatal(err)
	}
	b.turn(t, "c")
	r := b.turn(t, "c")
	wantShown(t, r, 2, long("r", 2000))
	wantShown(t, r, 5, firstChars(long("r", 2000), 100, 5))
	wantShown(t, r, 8, firstChars(long("r", 2000), 50, 8))
}

// TestEngine_Build_SeveralResultsOfOneMessage: each has its own settings, and its own actions or the message's.
func TestEngine_Build_SeveralResultsOfOneMessage(t *testing.T) {
	b := newEager()
	for id, length := range map[string]int32{"a": 100, "b": 200} {
		p := conversation.ActionPolicy{Key: conversation.ActionKey{ActionID: id}, Expiration: *compacted(0, length)}
		if err := b.PutActionPolicy(ctx, "default", p, engine.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	m := results("1", "2", "3", "4")
	m.Actions = []conversation.ActionRef{{ActionID: "b"}}
	for i := range m.Parts {
		m.Parts[i].Result.Text.Inline = long("r", 2000)
	}
	m.Parts[0].Result.Actions = []conversation.ActionRef{{ActionID: "a"}}
	m.Parts[1].Result.Actions = []conversation.ActionRef{{ActionID: "b"}, {ActionID: "a"}}
	m.Parts[3].Result.Expiration = lives(0, conversation.ExpirationNone)
	b.append(t, "c", user("go"), call("1", "2", "3", "4"), m, user("next"))
	r := b.turn(t, "c")
	one, two := firstChars(long("r", 2000), 100, 2), firstChars(long("r", 2000), 200, 2)
	wantShown(t, r, 2, one+"|"+one+"|"+two+"|"+long("r", 2000))
}
