package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// livePolicySamples are records that use what came with summaries behind a live prefix.
func livePolicySamples() map[string]sample {
	info := sampleInfo()
	info.Policy.Compaction = conversation.CompactionPolicy{LivePrefix: new(true), SummaryInputTokens: new(int32(9000))}
	return map[string]sample{
		"live-info":         newSample(info, (*Codec).EncodeInfo, (*Codec).DecodeInfo),
		"slot-live-profile": inSlot(conversation.ModelProfile{Model: "model", LivePrefix: new(true)}, EncodeModelProfile, DecodeModelProfile),
	}
}
