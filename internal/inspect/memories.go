package inspect

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// MemoriesCommand is `sidecar memories`: what is remembered across conversations.
type MemoriesCommand struct {
	List       MemoriesListCommand       `cmd:"" help:"List what is remembered of an actor, or of a conversation's agent or namespace."`
	Search     MemoriesSearchCommand     `cmd:"" help:"Search what is remembered, as a conversation's agent would."`
	Add        MemoriesAddCommand        `cmd:"" help:"Remember a text as it is."`
	Delete     MemoriesDeleteCommand     `cmd:"" help:"Forget one memory."`
	Forget     MemoriesForgetCommand     `cmd:"" help:"Forget everything that is remembered of an actor."`
	Forgetting MemoriesForgettingCommand `cmd:"" help:"Show how far forgetting an actor is."`
	Sync       MemoriesSyncCommand       `cmd:"" help:"Show how far a conversation is remembered."`
	EndSession MemoriesEndSessionCommand `cmd:"" name:"end-session" help:"Remember now what a conversation said: it pauses."`
}

// whose are the flags that say whose memories a command is about.
type whose struct {
	Conversation string `help:"The conversation whose actor, agent or namespace the memories belong to, or @latest." xor:"whose" required:"" placeholder:"ID"`
	Actor        string `help:"The actor whose memories they are; with an operator's credential." xor:"whose" required:"" placeholder:"ID"`
	Scope        string `help:"Whose: user (the actor's), session (the conversation's), agent or org (the namespace's)." enum:"user,session,agent,org" default:"user"`
}

var memoryScopes = map[string]pb.MemoryScope{
	"user": pb.MemoryScope_MEMORY_SCOPE_USER, "session": pb.MemoryScope_MEMORY_SCOPE_SESSION,
	"agent": pb.MemoryScope_MEMORY_SCOPE_AGENT, "org": pb.MemoryScope_MEMORY_SCOPE_ORG,
}

var memoryKinds = map[string]pb.MemoryKind{
	"said": pb.MemoryKind_MEMORY_KIND_SAID, "fact": pb.MemoryKind_MEMORY_KIND_FACT, "added": pb.MemoryKind_MEMORY_KIND_ADDED,
}

// numbersOf are the values that words stand for, whose flag takes no others.
func numbersOf[E any](known map[string]E, words []string) []E {
	out := make([]E, len(words))
	for i, w := range words {
		out[i] = known[w]
	}
	return out
}

// MemoriesListCommand is `sidecar memories list`.
type MemoriesListCommand struct {
	Sidecar
	whose
	Kind  []string `help:"Only memories of this kind: said, fact or added; repeatable." enum:"said,fact,added"`
	Limit int      `help:"The most to list; 0 lists all."`
}

// Run lists the memories, superseded ones too, page by page.
func (c *MemoriesListCommand) Run(ctx context.Context, env *Env) error {
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		r := &pb.ListMemoriesRequest{Scope: memoryScopes[c.Scope], Kinds: numbersOf(memoryKinds, c.Kind), PageSize: pageSize}
		if r.Of = (&pb.ListMemoriesRequest_ConversationId{ConversationId: c.Conversation}); c.Actor != "" {
			r.Of = &pb.ListMemoriesRequest_ActorId{ActorId: c.Actor}
		}
		return memories.list(s, &r.PageToken, c.Limit, func() (string, []*pb.Memory, error) {
			reply, err := s.memories.ListMemories(ctx, r)
			return reply.GetNextPageToken(), reply.GetMemories(), err
		})
	})
}

var memories = tableOf[*pb.Memory]{[]sheet.Column{
	{Title: "id", Least: 10}, {Title: "kind", Least: 5}, {Title: "time (UTC)", Least: len(dayAndTime)}, {Title: "by", Least: 4, Most: 16}, {Title: "from", Least: 8, Most: 24}, {Title: "text"},
}, memoryRow}

func memoryRow(m *pb.Memory) []string {
	return []string{m.GetId(), sheet.EnumText(m.GetKind()), timestamp(m.GetTime()), m.GetSaidBy(), memorySources(m), memoryText(m)}
}

// memoryText is a memory's text, and before it why it may not be used.
func memoryText(m *pb.Memory) string {
	state := ""
	switch {
	case m.GetSupersededBy() != "":
		state = "(superseded by " + m.GetSupersededBy() + ")"
	case m.GetExpireTime() != nil:
		state = "(until " + timestamp(m.GetExpireTime()) + ")"
	}
	return joinNonEmpty(" ", state, m.GetText())
}

// memorySources names the messages that a memory comes from.
func memorySources(m *pb.Memory) string {
	words := make([]string, len(m.GetSources()))
	for i, s := range m.GetSources() {
		words[i] = s.GetConversationId() + " " + indexRange(s.GetStartIndex(), s.GetEndIndex())
	}
	return strings.Join(words, ", ")
}

// MemoriesSearchCommand is `sidecar memories search`.
type MemoriesSearchCommand struct {
	Sidecar
	Conversation string   `arg:"" help:"The conversation that asks, or @latest."`
	Query        string   `arg:"" help:"What to look for, in words; - reads it from standard input."`
	Scope        []string `help:"The memories to search: user (the default), session, agent or org; repeatable." enum:"user,session,agent,org"`
	Max          int32    `help:"The most memories to find." default:"10"`
	MinScore     *float64 `help:"The lowest score of a memory that is found, 0 to 1." placeholder:"SCORE"`
}

// Run searches, best first.
func (c *MemoriesSearchCommand) Run(ctx context.Context, env *Env) error {
	query, err := env.text(c.Query)
	if err != nil {
		return err
	}
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		reply, err := s.memories.SearchMemories(ctx, &pb.SearchMemoriesRequest{
			ConversationId: c.Conversation, Query: query, Scopes: numbersOf(memoryScopes, c.Scope), MaxResults: c.Max, MinScore: c.MinScore,
		})
		if err != nil {
			return err
		}
		for _, d := range reply.GetDegradations() {
			s.remark.Say(fmt.Sprintf("A scope was not searched: %s.", d.GetReason()))
		}
		return show(foundMemories.on(s), reply.GetMemories(), foundMemories.row)
	})
}

var foundMemories = tableOf[*pb.Memory]{[]sheet.Column{
	{Title: "score", Right: true, Least: 5}, {Title: "scope", Least: 5}, {Title: "id", Least: 10}, {Title: "kind", Least: 5},
	{Title: "time (UTC)", Least: len(dayAndTime)}, {Title: "by", Least: 4, Most: 16}, {Title: "from", Least: 8, Most: 24}, {Title: "text"},
}, foundMemoryRow}

func foundMemoryRow(m *pb.Memory) []string {
	return append([]string{fmt.Sprintf("%.2f", m.GetScore()), sheet.EnumText(m.GetScope())}, memoryRow(m)...)
}

// MemoriesAddCommand is `sidecar memories add`.
type MemoriesAddCommand struct {
	Sidecar
	Text string `arg:"" help:"What to remember; - reads it from standard input."`
	whose
	Metadata  string        `help:"A JSON object to keep with it." placeholder:"JSON"`
	For       time.Duration `help:"How long it is remembered, such as 720h; forever by default."`
	RequestID string        `name:"request-id" help:"An id that makes running it again safe." placeholder:"ID"`
}

// Help shows how it is used.
func (c *MemoriesAddCommand) Help() string {
	return `Examples:

    sidecar memories add "Answers in French." --actor customer-7
    sidecar memories add "Refunds take 14 days." --conversation @latest --scope org`
}

// Run adds the memory, and prints its id.
func (c *MemoriesAddCommand) Run(ctx context.Context, env *Env) error {
	text, err := env.text(c.Text)
	if err != nil {
		return err
	}
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		r := &pb.AddMemoryRequest{Scope: memoryScopes[c.Scope], Text: text, MetadataJson: c.Metadata, RequestId: c.RequestID}
		if r.Of = (&pb.AddMemoryRequest_ConversationId{ConversationId: c.Conversation}); c.Actor != "" {
			r.Of = &pb.AddMemoryRequest_ActorId{ActorId: c.Actor}
		}
		if c.For != 0 {
			r.ExpireTime = timestamppb.New(time.Now().Add(c.For))
		}
		reply, err := s.memories.AddMemory(ctx, r)
		return s.done(reply, err, "%s is remembered.", reply.GetMemoryId())
	})
}

// MemoriesDeleteCommand is `sidecar memories delete`.
type MemoriesDeleteCommand struct {
	Sidecar
	Memory string `arg:"" help:"The memory's id."`
	whose
}

// Run forgets the memory.
func (c *MemoriesDeleteCommand) Run(ctx context.Context, env *Env) error {
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		r := &pb.DeleteMemoryRequest{Scope: memoryScopes[c.Scope], MemoryId: c.Memory}
		if r.Of = (&pb.DeleteMemoryRequest_ConversationId{ConversationId: c.Conversation}); c.Actor != "" {
			r.Of = &pb.DeleteMemoryRequest_ActorId{ActorId: c.Actor}
		}
		reply, err := s.memories.DeleteMemory(ctx, r)
		words := "%s is forgotten."
		if !reply.GetDeleted() {
			words = "%s was not remembered."
		}
		return s.done(reply, err, words, c.Memory)
	})
}

// MemoriesSyncCommand is `sidecar memories sync`.
type MemoriesSyncCommand struct {
	Sidecar
	Conversation string `arg:"" help:"The conversation's id, or @latest for the one that changed last."`
}

// Run shows how far the conversation is remembered, by each back end.
func (c *MemoriesSyncCommand) Run(ctx context.Context, env *Env) error {
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		reply, err := s.memories.GetMemorySync(ctx, &pb.GetMemorySyncRequest{ConversationId: c.Conversation})
		if err != nil {
			return err
		}
		if len(reply.GetSync()) == 0 {
			s.remark.Say("Its policy remembers nothing: policy.memory.enabled switches it on.")
			return nil
		}
		return show(memorySync.on(s), reply.GetSync(), memorySync.row)
	})
}

var memorySync = tableOf[*pb.MemorySync]{[]sheet.Column{
	{Title: "memory", Least: 9}, {Title: "up to", Right: true, Least: 5}, {Title: "waiting", Right: true}, {Title: "skipped", Right: true}, {Title: "session", Right: true},
	{Title: "state", Least: 8}, {Title: "next try (UTC)", Least: len(dayAndTime)}, {Title: "why"},
}, memorySyncRow}

func memorySyncRow(m *pb.MemorySync) []string {
	return []string{
		m.GetTarget(), terminal.Number(int64(m.GetSyncedTo())), terminal.Number(int64(m.GetLagMessages())), terminal.Number(int64(m.GetSkippedMessages())),
		fmt.Sprint(m.GetSession()), sheet.EnumText(m.GetState()), timestamp(m.GetNextTry()), m.GetReason(),
	}
}

// MemoriesEndSessionCommand is `sidecar memories end-session`.
type MemoriesEndSessionCommand struct {
	Sidecar
	Conversation string `arg:"" help:"The conversation's id, or @latest for the one that changed last."`
}

// Run ends the session, and says how far it is remembered.
func (c *MemoriesEndSessionCommand) Run(ctx context.Context, env *Env) error {
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		reply, err := s.memories.EndSession(ctx, &pb.EndSessionRequest{ConversationId: c.Conversation})
		return s.answer(reply, err, func() error {
			s.out.Say(fmt.Sprintf("Session %d of %s has ended.", reply.GetSession(), c.Conversation))
			return show(memorySync.on(s), reply.GetSync(), memorySync.row)
		})
	})
}
