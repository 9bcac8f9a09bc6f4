package provider_test

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// TestFormat_Unit_AnyResidue_IsLegal: whatever residue callers give for a part, of whatever kind and place, the context is legal.
func TestFormat_Unit_AnyResidue_IsLegal(t *testing.T) {
	t.Parallel()
	for _, said := range hostileResidue() {
		for _, arguments := range []string{"{}", "no JSON", `{"action":{"type":"exec"},"operation":{},"actions":[]}`} {
			for _, shot := range []conversation.Part{media("image/png", "PNG", ""), media("x/y", "Z", "")} {
				for _, d := range doors() {
					kept := func(p conversation.Part) conversation.Part {
						p.Residue = &conversation.Residue{Provider: d.Traits().Provider, JSON: said}
						return p
					}
					r := newRecord().add(conversation.RoleSystem, kept(text("rules"))).add(conversation.RoleUser, kept(text("go")), kept(media("image/png", "PNG", "")), kept(media("x/y", "Z", "")))
					r.assistant(kept(text("so")), kept(media("image/png", "PNG", "")), kept(call("a", arguments)), kept(call("b", arguments)), call("c", arguments))
					several := several(result(2, "b", ""), conversation.ResultPart{Text: inline("see")}, conversation.ResultPart{Media: shot.Media})
					r.tool(kept(failed(result(1, "a", "")))).tool(kept(several)).tool(kept(asJSON(result(3, "c", `[{"stdout":""}]`)))).user("on")
					legal(t, d.Format, compose(d.Format, r.units(), "", chars4), chars4)
				}
			}
		}
	}
}
