package grpcserver

import (
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

const (
	maxAdditions     = 64
	maxAdditionParts = 64
)

// extended is a request's message with what comes with it.
type extended interface {
	GetMessage() *pb.Message
	GetAdditionalContent() []*pb.AdditionalContent
	GetExpirationOverride() *pb.ExpirationOverride
}

// additionsRule checks what plugins add, and that the message is one that can have additions.
func additionsRule[M extended]() rule[M] {
	additions := list("additional_content", atMost(maxAdditions), M.GetAdditionalContent, additionRules())
	return rule[M]{additions.facts, func(c *checker, m M) {
		if len(m.GetAdditionalContent()) > 0 && !input(m.GetMessage().GetRole()) {
			c.fail("belongs to messages of role user and tool alone")
		}
		additions.check(c, m)
	}}
}

// input says whether plugins may add to messages of the role. A role that is not said is a fault of its own.
func input(r pb.Role) bool {
	return r != pb.Role_ROLE_SYSTEM && r != pb.Role_ROLE_ASSISTANT
}

func additionRules() table[*pb.AdditionalContent] {
	return table[*pb.AdditionalContent]{
		text("plugin", nameLimit(), (*pb.AdditionalContent).GetPlugin),
		text("header", atMostBytes(65_536), (*pb.AdditionalContent).GetHeader),
		anything[*pb.AdditionalContent]("display_on_current_message"),
		chosen("never", func(a *pb.AdditionalContent) (set, chosen bool) {
			_, ok := a.GetSaveToChatHistory().(*pb.AdditionalContent_Never)
			return ok, a.GetNever()
		}),
		chosen("always", func(a *pb.AdditionalContent) (set, chosen bool) {
			_, ok := a.GetSaveToChatHistory().(*pb.AdditionalContent_Always)
			return ok, a.GetAlways()
		}),
		optionalNumber("keep_last", keepLimit(), func(a *pb.AdditionalContent) *int32 {
			if k, ok := a.GetSaveToChatHistory().(*pb.AdditionalContent_KeepLast); ok {
				return &k.KeepLast
			}
			return nil
		}),
		additionParts(),
	}
}

// chosen is a choice in a oneof that has no value of its own: setting it to false would mean nothing.
func chosen[M any](field string, get func(M) (set, chosen bool)) rule[M] {
	const phrase = "Must be true"
	return rule[M]{facts{field: field, limits: []string{phrase}}, func(c *checker, m M) {
		if set, ok := get(m); set && !ok {
			c.fail("must be true")
		}
	}}
}

func keepLimit() limit { return numberRange(1, 1_000_000) }

func additionParts() rule[*pb.AdditionalContent] {
	parts := list("parts", numberRange(1, maxAdditionParts), (*pb.AdditionalContent).GetParts, partRules(actionRules(), expirationRules()))
	return rule[*pb.AdditionalContent]{parts.facts, func(c *checker, a *pb.AdditionalContent) {
		parts.check(c, a)
		for i, p := range a.GetParts() {
			c.element(i)
			checkAddition(c, p)
			c.leave()
		}
	}}
}

func checkAddable(c *checker, p *pb.Part) {
	switch kind := partKind(p); kind {
	case "", "text", "media":
	default:
		c.failIn(kind, "is no part for an addition, which holds text and media")
	}
}

func checkAddition(c *checker, p *pb.Part) {
	checkAddable(c, p)
	if p.GetRetention() != nil {
		c.failIn("retention", "must not be set in an addition, whose save_to_chat_history says it")
	}
}

func retentionRules() table[*pb.Retention] {
	return table[*pb.Retention]{
		either("policy", func(r *pb.Retention) bool { return r.GetPolicy() != nil }),
		chosen("permanent", func(r *pb.Retention) (set, chosen bool) {
			_, ok := r.GetPolicy().(*pb.Retention_Permanent)
			return ok, r.GetPermanent()
		}),
		optionalNumber("keep_last", keepLimit(), func(r *pb.Retention) *int32 {
			if k, ok := r.GetPolicy().(*pb.Retention_KeepLast); ok {
				return &k.KeepLast
			}
			return nil
		}),
	}
}

// What a block adds to a variant beside its content and its plugin's name: its frame, its retention, and the spacing behind it.
const blockBytes = 32

// checkVariants refuses an append whose answer could be over the reply limit, before anything is on record. The additions count
// for both variants: what they become is not known yet.
func checkVariants(req *pb.AppendMessageRequest) error {
	if !req.GetReturnVariants() {
		return nil
	}
	size := proto.Size(req.GetMessage()) + blockBytes*len(req.GetMessage().GetParts())
	for _, a := range req.GetAdditionalContent() {
		size += proto.Size(a) + (len(a.GetParts())+2)*(blockBytes+len(a.GetPlugin()))
	}
	if most := 2*size + coordinatesBytes; most > defaultReplyBytes {
		return conversation.Errorf(conversation.ReplyTooLarge,
			"the variants could have %d bytes together, and an answer may have %d: append without return_variants", most, defaultReplyBytes)
	}
	return nil
}

// fromExtra takes what comes with a message.
func fromExtra(m extended) engine.AppendExtra {
	return engine.AppendExtra{
		Additions: each(m.GetAdditionalContent(), fromAddition),
		Override:  fromOverride(m.GetExpirationOverride()),
	}
}

func fromAddition(a *pb.AdditionalContent) conversation.Addition {
	return conversation.Addition{
		Plugin:    a.GetPlugin(),
		Header:    a.GetHeader(),
		Display:   a.GetDisplayOnCurrentMessage(),
		Retention: fromSaving(a),
		Parts:     each(a.GetParts(), fromPart),
	}
}

func fromSaving(a *pb.AdditionalContent) conversation.Retention {
	switch save := a.GetSaveToChatHistory().(type) {
	case *pb.AdditionalContent_Always:
		return conversation.Retention{Kind: conversation.RetentionPermanent}
	case *pb.AdditionalContent_KeepLast:
		return conversation.Retention{Kind: conversation.RetentionKeepLast, Last: save.KeepLast}
	default:
		return conversation.Retention{}
	}
}

func fromRetention(r *pb.Retention) conversation.Retention {
	switch policy := r.GetPolicy().(type) {
	case *pb.Retention_Permanent:
		return conversation.Retention{Kind: conversation.RetentionPermanent}
	case *pb.Retention_KeepLast:
		return conversation.Retention{Kind: conversation.RetentionKeepLast, Last: policy.KeepLast}
	default:
		return conversation.Retention{}
	}
}

func toRetention(r conversation.Retention) *pb.Retention {
	switch r.Kind {
	case conversation.RetentionPermanent:
		return &pb.Retention{Policy: &pb.Retention_Permanent{Permanent: true}}
	case conversation.RetentionKeepLast:
		return &pb.Retention{Policy: &pb.Retention_KeepLast{KeepLast: r.Last}}
	default:
		return nil
	}
}
