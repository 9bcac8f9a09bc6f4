package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// listSamples are records of what came with the list's own weight: its setting, who named a fact, and what was dropped. Those of
// conversations that continue others came later. The goldens from before are as they were.
func listSamples() map[string]sample {
	info := sampleInfo()
	info.Policy.Compaction.ListTokens = new(int32(0))
	continuing := sampleInfo()
	continuing.Continues = "conversation"
	facts := Facts{Body: 12, Dropped: 1 << 31, Facts: []conversation.Fact{{Kind: 3, Text: "a/b.go", Count: 2, Of: []int32{4}, ByAgent: true}, {Kind: 5, Text: "x-1"}}}
	return map[string]sample{
		"continues-info": newSample(continuing, (*Codec).EncodeInfo, (*Codec).DecodeInfo),
		"successors":     inSlot([]Successor{{Conversation: "conversation~2"}, {}}, anew(EncodeSuccessors), DecodeSuccessors),
		"list-info":      newSample(info, (*Codec).EncodeInfo, (*Codec).DecodeInfo),
		"slot-list-fact": inSlot(facts, EncodeFacts, DecodeFacts),
		"slot-list-text": inSlot(DraftText{Text: "a text and a list", Model: "m/x", Facts: facts}, EncodeDraftText, DecodeDraftText),
	}
}
