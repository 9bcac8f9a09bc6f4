package inspect

import (
	"context"
	"errors"
	"fmt"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// MemoriesForgetCommand is `sidecar memories forget`.
type MemoriesForgetCommand struct {
	Sidecar
	Actor   string `arg:"" help:"The actor's id."`
	Records string `help:"What becomes of the actor's conversations: keep or delete." enum:"keep,delete" default:"keep"`
	forgetWait
}

// forgetWait says how long a command looks on while an actor is forgotten.
type forgetWait struct {
	Wait  bool          `help:"Wait until nothing is left: with a service, an hour and more."`
	Every time.Duration `help:"How long to wait between looks." default:"1s" hidden:""`
}

// Help says what it does.
func (c *MemoriesForgetCommand) Help() string {
	return `Nothing that the actor said so far is remembered any more. The command looks on until all is deleted. A service that works in the
background is looked at again 10 minutes and an hour later: the state is verifying until then.`
}

// Run forgets the actor, and looks on.
func (c *MemoriesForgetCommand) Run(ctx context.Context, env *Env) error {
	records := map[string]pb.ForgetRecords{"keep": pb.ForgetRecords_FORGET_RECORDS_KEEP, "delete": pb.ForgetRecords_FORGET_RECORDS_DELETE}[c.Records]
	return c.run(env, func(s *session) error {
		reply, err := s.memories.ForgetActor(ctx, &pb.ForgetActorRequest{ActorId: c.Actor, Records: records})
		if err != nil {
			return err
		}
		return c.follow(ctx, s, reply.GetForget())
	})
}

// MemoriesForgettingCommand is `sidecar memories forgetting`.
type MemoriesForgettingCommand struct {
	Sidecar
	Forget string `arg:"" help:"The id that forget printed."`
	forgetWait
}

// Run shows how far it is.
func (c *MemoriesForgettingCommand) Run(ctx context.Context, env *Env) error {
	return c.run(env, func(s *session) error {
		reply, err := s.memories.GetForget(ctx, &pb.GetForgetRequest{ForgetId: c.Forget})
		if err != nil {
			return err
		}
		return c.follow(ctx, s, reply.GetForget())
	})
}

// follow looks on until there is nothing more to wait for, tells of each change, and prints the outcome.
func (w *forgetWait) follow(ctx context.Context, s *session, f *pb.Forget) error {
	told := ""
	for w.waitsFor(f.GetState()) {
		if words := forgetWords(f); words != told && !s.out.JSON {
			s.remark.Say(words)
			told = words
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(w.Every):
		}
		reply, err := s.memories.GetForget(ctx, &pb.GetForgetRequest{ForgetId: f.GetForgetId()})
		if err != nil {
			return err
		}
		f = reply.GetForget()
	}
	err := s.answer(f, nil, func() error {
		s.out.Say(forgetWords(f))
		for _, kept := range f.GetResidue() {
			s.out.Say("Left: " + kept)
		}
		return nil
	})
	if err == nil && f.GetState() == pb.ForgetState_FORGET_STATE_FAILED {
		return errForgetFails
	}
	return err
}

func (w *forgetWait) waitsFor(state pb.ForgetState) bool {
	return state == pb.ForgetState_FORGET_STATE_PENDING || w.Wait && state == pb.ForgetState_FORGET_STATE_VERIFYING
}

// forgetWords says how far it is.
func forgetWords(f *pb.Forget) string {
	deleted := terminal.Number(f.GetDeletedMemories()) + " memories"
	if n := int(f.GetDeletedConversations()); n > 0 {
		deleted += " and " + sheet.Count(n, "conversation")
	}
	return fmt.Sprintf("%s: %s, %s deleted.", f.GetForgetId(), sheet.EnumText(f.GetState()), deleted)
}

var errForgetFails = errors.New("the memory refuses; it is tried again every 5 minutes, and `sidecar memories forgetting` shows how far it is")
