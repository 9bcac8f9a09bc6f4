package conversation_test

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func TestMessage_Retention_OfItsParts(t *testing.T) {
	plain := conversation.Part{Kind: conversation.PartText}
	permanent := conversation.Part{Retention: conversation.Retention{Kind: conversation.RetentionPermanent}}
	kept := conversation.Part{Retention: conversation.Retention{Kind: conversation.RetentionKeepLast, Last: 1}}
	display := conversation.Part{Variant: conversation.DisplayOnly}
	persistent := conversation.Part{Variant: conversation.PersistentOnly, Retention: kept.Retention}
	for _, tt := range []struct {
		name            string
		parts           []conversation.Part
		carries, varied bool
	}{
		{"no part", nil, false, false},
		{"the caller's own", []conversation.Part{plain, plain}, false, false},
		{"all permanent", []conversation.Part{plain, permanent}, true, false},
		{"one kept for a while", []conversation.Part{plain, kept}, true, false},
		{"shown now and never again", []conversation.Part{plain, display}, false, true},
		{"shown later alone", []conversation.Part{plain, persistent}, true, true},
	} {
		m := conversation.Message{Parts: tt.parts}
		if m.Carries() != tt.carries || m.Varied() != tt.varied {
			t.Errorf("%s: carries %v, varied %v", tt.name, m.Carries(), m.Varied())
		}
	}
}

func TestPart_Shows_InItsVariant(t *testing.T) {
	for variant, want := range map[conversation.Variant][2]bool{
		conversation.BothVariants: {true, true}, conversation.DisplayOnly: {true, false}, conversation.PersistentOnly: {false, true},
	} {
		p := conversation.Part{Variant: variant}
		if got := [2]bool{p.Shows(false), p.Shows(true)}; got != want {
			t.Errorf("variant %d: shown before and after %v, want %v", variant, got, want)
		}
	}
}
