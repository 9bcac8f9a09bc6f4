// Package inspect is the commands that show what a sidecar has on record, what a model sees of it and why: tables for people, JSON
// for programs; and those that do an agent's part from a shell: append, build and what belongs to them. They are clients of the
// API like any other.
package inspect

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// Commands are the commands, for kong.
type Commands struct {
	Context       ContextCommand       `cmd:"" help:"Show what the model would see now: what is in, what is out and why, and what it weighs."`
	Events        EventsCommand        `cmd:"" help:"Show what happened to a conversation's messages, and go on with --follow."`
	Conversations ConversationsCommand `cmd:"" help:"List conversations."`
	Messages      MessagesCommand      `cmd:"" help:"List messages, and whether the model sees them."`
	Expand        ExpandCommand        `cmd:"" help:"Print a message as it was appended, or what a summary stands for."`
	Explain       ExplainCommand       `cmd:"" help:"Tell what was done to a message, when and why, and what the model sees of it now."`
	Sources       SourcesCommand       `cmd:"" help:"List the contents outside of the view: what citations stand for, and what was stored."`
	Retrieve      RetrieveCommand      `cmd:"" help:"Print a content, a part of it, or the passages that answer a search."`
	Memories      MemoriesCommand      `cmd:"" help:"Show and change what is remembered across conversations."`

	Create CreateCommand `cmd:"" help:"Create a conversation with a policy or an owner. An append creates one too."`
	Append AppendCommand `cmd:"" help:"Append a message, or several; a conversation that is not there begins."`
	Build  BuildCommand  `cmd:"" help:"Build the context of the next turn, in the shape of a provider's request."`
	Delete DeleteCommand `cmd:"" help:"Delete a conversation."`
	Export ExportCommand `cmd:"" help:"Print everything on record of a conversation, as JSON lines that import takes."`
	Import ImportCommand `cmd:"" help:"Create a conversation from an export."`
	Policy PolicyCommand `cmd:"" help:"Say how long the results of a tool or an action live."`
	Prompt PromptCommand `cmd:"" help:"Say what models are told that write summaries."`
	Model  ModelCommand  `cmd:"" help:"Say what the models take and cost that builds name."`
}

// Env is what the commands need from the program around them.
type Env struct {
	// Stdin is read where a command line says -.
	Stdin io.Reader
	// Stdout gets what was asked for, Stderr remarks about it.
	Stdout, Stderr io.Writer
}

// Sidecar is the flags that all commands share.
type Sidecar struct {
	dial.Flags
	Timeout time.Duration `help:"How long to wait for each answer." default:"30s"`
	JSON    bool          `name:"json" help:"Print JSON, one object a line: the API's messages as protobuf maps them."`
	ASCII   bool          `name:"ascii" help:"Print nothing but ASCII; the default of tables where the locale is not UTF-8."`
}

const (
	// pageSize is how many entries of a list are asked for at once.
	pageSize = 100
	// largestPage is the most that the API gives at once, for lists that are read whole.
	largestPage = 1000
)

// session is one run of a command: a sidecar, and where to print.
type session struct {
	loop     pb.ContextServiceClient
	record   pb.ConversationServiceClient
	contents pb.ContentServiceClient
	memories pb.MemoryServiceClient
	policies pb.PolicyServiceClient
	out      *sheet.Sheet
	remark   *sheet.Sheet
}

// run does a command's work with a session. Errors come back in words.
func (s *Sidecar) run(env *Env, work func(*session) error) error {
	conn, err := s.Dial(grpc.WithUnaryInterceptor(s.bounded))
	if err != nil {
		return describeError(s.Address, err)
	}
	defer func() { _ = conn.Close() }()
	open := &session{
		loop:     pb.NewContextServiceClient(conn),
		record:   pb.NewConversationServiceClient(conn),
		contents: pb.NewContentServiceClient(conn),
		memories: pb.NewMemoryServiceClient(conn),
		policies: pb.NewPolicyServiceClient(conn),
		out:      sheet.New(env.Stdout, s.JSON, s.ASCII),
		remark:   sheet.New(env.Stderr, false, s.ASCII),
	}
	if err := work(open); err != nil {
		return describeError(s.Address, err)
	}
	return errors.Join(open.out.Err(), open.remark.Err())
}

// bounded gives a call its deadline. Streams have none: they are watched until somebody leaves.
func (s *Sidecar) bounded(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	return invoke(ctx, method, request, reply, conn, opts...)
}
