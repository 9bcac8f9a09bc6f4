package engine_test

import (
	"fmt"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// TestEngine_Build_OpenedAfresh_LeavesRoomForWhatStays: a new window weighs what a cut would leave, including what is shown wherever the
// window starts, whether that lies in its tail, among the messages it looked at, or before.
func TestEngine_Build_OpenedAfresh_LeavesRoomForWhatStays(t *testing.T) {
	const small, large, step = 1000, 4000, 60
	pinned := text(conversation.RoleAssistant, words(400)+" the end.")
	pinned.Pinned = true
	for name, heavy := range map[string]conversation.Message{
		"opening": user(words(350) + " the end."), "request": user(words(400) + " the end."), "pin": pinned,
	} {
		for place, steps := range map[string][2]int{"in the tail": {50, 10}, "looked at": {0, 58}, "before": {0, 200}} {
			b := summarizes(conversation.StrategySlidingWindow)
			goOn := func(steps int) {
				for i := range steps {
					b.append(t, "c", text(conversation.RoleAssistant, fmt.Sprint(words(step), i)))
				}
			}
			if name == "opening" {
				b.append(t, "c", heavy, user("Go on."))
				goOn(steps[0] + steps[1])
			} else {
				b.append(t, "c", user("Fix the bug."))
				goOn(steps[0])
				b.append(t, "c", heavy)
				goOn(steps[1])
			}
			b.asked(t, "c", small, asMessages)
			r := b.asked(t, "c", large, asMessages)
			if total := r.Tokens.Total; total > large/2 || total < large/2-2*step || !shows(r, " the end.") {
				t.Errorf("%s, %s: %d tokens, window %+v", name, place, total, r.Manifest.Window)
			}
		}
	}
}
