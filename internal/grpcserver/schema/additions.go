package schema

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
)

const (
	maxAdditions     = 64
	maxAdditionParts = 64
)

// Extended is a request's message with what comes with it.
type Extended interface {
	GetMessage() *pb.Message
	GetAdditionalContent() []*pb.AdditionalContent
	GetExpirationOverride() *pb.ExpirationOverride
}

// Additions checks what plugins add, and that the message is one that can have additions.
func Additions[M Extended]() rules.Rule[M] {
	additions := rules.List("additional_content", rules.AtMost(maxAdditions), M.GetAdditionalContent, additionRules())
	return rules.Rule[M]{Facts: additions.Facts, Check: func(c *rules.Checker, m M) {
		if len(m.GetAdditionalContent()) > 0 && !input(m.GetMessage().GetRole()) {
			c.Fail("belongs to messages of role user and tool alone")
		}
		additions.Check(c, m)
	}}
}

func additionRules() rules.Table[*pb.AdditionalContent] {
	return rules.Table[*pb.AdditionalContent]{
		rules.Text("plugin", NameLimit(), (*pb.AdditionalContent).GetPlugin),
		rules.Text("header", rules.AtMostBytes(65_536), (*pb.AdditionalContent).GetHeader),
		rules.Anything[*pb.AdditionalContent]("display_on_current_message"),
		rules.Message("never", (*pb.AdditionalContent).GetNever, rules.Table[*pb.Never]{}),
		rules.Message("always", (*pb.AdditionalContent).GetAlways, rules.Table[*pb.Always]{}),
		rules.OptionalNumber("keep_last", keepLimit(), func(a *pb.AdditionalContent) *int32 {
			if k, ok := a.GetSaveToChatHistory().(*pb.AdditionalContent_KeepLast); ok {
				return &k.KeepLast
			}
			return nil
		}),
		additionParts(),
	}
}

func additionParts() rules.Rule[*pb.AdditionalContent] {
	parts := rules.List("parts", rules.NumberRange(1, maxAdditionParts), (*pb.AdditionalContent).GetParts, partRules(actionRules(), Expiration()))
	return parts.Also(func(c *rules.Checker, a *pb.AdditionalContent) {
		for i, p := range a.GetParts() {
			c.Element(i)
			checkAddition(c, p)
			c.Leave()
		}
	})
}

func checkAddition(c *rules.Checker, p *pb.Part) {
	checkAddable(c, p)
	if p.GetRetention() != nil {
		c.FailIn("retention", "must not be set in an addition, whose save_to_chat_history says it")
	}
}
