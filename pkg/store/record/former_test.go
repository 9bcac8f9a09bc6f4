package record

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// formerSamples are records of conversations that begin anew without a tombstone. The goldens from before are as they were.
func formerSamples(at time.Time, id conversation.ID) map[string]sample {
	head := sampleHead(at, id)
	head.Reusable, head.Former = true, at.Add(3)
	counted := sampleHead(at, id)
	counted.Bytes = 5 << 40
	info := sampleInfo()
	info.Policy.TTLWithoutTombstone = new(bool)
	return map[string]sample{
		"former-head": newSample(head, (*Codec).EncodeHead, (*Codec).DecodeHead),
		"bytes-head":  newSample(counted, (*Codec).EncodeHead, (*Codec).DecodeHead),
		"former-info": newSample(info, (*Codec).EncodeInfo, (*Codec).DecodeInfo),
		"former-requests": inSlot(FormerRequests{
			Key: id, Requests: []FormerRequest{{Hash: 1<<64 - 1, Time: 1770000000123}, {Hash: 5, Time: 1770000001123}},
		}, EncodeFormerRequests, DecodeFormerRequests),
	}
}
