package retain

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestRetain_CountSince_WhatTheWindowShowsAndCameLater: messages that carry blocks count, and inputs where these do, from the window's first
// message on, if they were appended after the restoration.
func TestRetain_CountSince_WhatTheWindowShowsAndCameLater(t *testing.T) {
	const start, restored = 3, 7
	said := func(index int32, role conversation.Role, commit uint64, carries bool) conversation.Message {
		m := conversation.Message{Index: index, Role: role, Commit: commit, Parts: []conversation.Part{{Kind: conversation.PartText}}}
		if carries {
			m.Parts[0].Retention.Kind = conversation.RetentionPermanent
		}
		return m
	}
	snap := &store.Snapshot{Info: &store.Info{}, Messages: []conversation.Message{
		said(0, conversation.RoleUser, 1, true), // the one that was restored
		said(1, conversation.RoleUser, restored, true),
		said(2, conversation.RoleUser, restored+1, true), // before the window
		said(3, conversation.RoleUser, restored+1, true),
		said(4, conversation.RoleTool, restored+1, false),
		said(5, conversation.RoleAssistant, restored+1, false),
		said(6, conversation.RoleUser, restored+2, true),
	}, Edits: []conversation.Edit{{Seq: 1, Commit: restored, Kind: conversation.EditRestore, Range: conversation.Range{End: 1}}}}
	w := view.New(store.Key{}, snap)
	w.Supply(snap, []conversation.Range{{End: 7}})
	g := &pass.Given{Composer: &view.Composer{Loaded: w}}
	d := retaining{Sketch: g.Sketch(pass.Draft{View: w.View}), start: start}
	for inputs, want := range map[bool]int32{false: 2, true: 3} {
		if n := d.countSince(&w.Messages[0], 1, inputs); n != want {
			t.Errorf("%d messages since, want %d (all inputs: %t)", n, want, inputs)
		}
	}
	if n := d.countSince(&w.Messages[0], 2, false); n != 0 {
		t.Errorf("%d messages since an edit that is not loaded", n)
	}
}
