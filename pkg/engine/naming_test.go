package engine_test

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestEngine_PromptThatDoesNotExist_IsRefusedWhereItIsNamed: this holds for appends, overrides and policies. Prompts that exist, and the
// default, are accepted.
func TestEngine_PromptThatDoesNotExist_IsRefusedWhereItIsNamed(t *testing.T) {
	b := newEager()
	naming := func(id string) conversation.Expiration { return conversation.Expiration{CompactPromptID: id} }
	calls := map[string]func(id string) error{
		"message.expiration.compact_prompt_id": func(id string) error {
			e := naming(id)
			return b.appendOne(living(user("x"), &e), nil)
		},
		"message.parts[0].tool_result.expiration.compact_prompt_id": func(id string) error {
			e := naming(id)
			b.append(t, "c", call("k"))
			return b.appendOne(resultLiving("k", "x", &e), nil)
		},
		"expiration_override.compact_prompt_id": func(id string) error {
			return b.appendOne(user("x"), &conversation.ExpirationOverride{Expiration: naming(id)})
		},
		"policy.expiration.compact_prompt_id": func(id string) error {
			p := conversation.ActionPolicy{Key: conversation.ActionKey{ToolName: "t"}, Expiration: naming(id)}
			return b.PutActionPolicy(ctx, "default", p, engine.Request{})
		},
		"policy.default_compact_prompt_id": func(id string) error {
			p := conversation.ActionPolicy{Key: conversation.ActionKey{ToolName: "t"}, DefaultPromptID: id}
			return b.PutActionPolicy(ctx, "default", p, engine.Request{})
		},
		"conversation.policy.expiration.results.compact_prompt_id": func(id string) error {
			policy := conversation.Policy{Expiration: conversation.ExpirationPolicy{Results: naming(id)}}
			_, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("new" + id), Info: store.Info{Policy: policy}})
			return err
		},
	}
	for field, name := range calls {
		err := name("none")
		expect(t, err, conversation.InvalidField)
		if got := violation(err); got != field {
			t.Errorf("violation of %q, want %q", got, field)
		}
		if err := name("default"); err != nil {
			t.Errorf("%s: %v", field, err)
		}
	}
	other := newBenchOn(b.store, 0) // another process puts it in, and this one has just looked
	if _, err := other.PutPrompt(ctx, "default", conversation.Prompt{ID: "none", Template: "{{content}}"}, engine.Request{}); err != nil {
		t.Fatal(err)
	}
	for field, name := range calls {
		if err := name("none"); err != nil {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func (b *bench) appendOne(m conversation.Message, override *conversation.ExpirationOverride) error {
	_, err := b.Append(ctx, engine.AppendRequest{
		Key: keyOf("c"), Request: engine.Request{RPC: "AppendMessage"},
		Messages: []conversation.Message{m}, Extras: []engine.AppendExtra{{Override: override}},
	})
	return err
}

// TestEngine_PutPrompt_ModelWithoutProvider_IsRefused: the error names each model that can never be asked.
func TestEngine_PutPrompt_ModelWithoutProvider_IsRefused(t *testing.T) {
	b := modelBench(t, writes(gist, 0), nil)
	put := func(models ...string) error {
		_, err := b.PutPrompt(ctx, "default", conversation.Prompt{ID: "p", Template: "{{content}}", Models: models}, engine.Request{})
		return err
	}
	err := put("m/x", "other/x")
	expect(t, err, conversation.InvalidField)
	if got := violation(err); got != "prompt.models[1]" {
		t.Errorf("violation of %q", got)
	}
	if err := put("m/x", "m/y"); err != nil {
		t.Error(err)
	}
}
