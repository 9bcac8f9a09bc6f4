package agentcore

import (
	"encoding/base64"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/bedrockagentcore/types"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// What is written beside events and records. A record without a kind was drawn by a strategy.
const (
	kindLabel         = "palimpsest.kind"
	keyLabel          = "palimpsest.key"
	firstLabel        = "palimpsest.first"
	lastLabel         = "palimpsest.last"
	conversationLabel = "palimpsest.conversation"
	incarnationLabel  = "palimpsest.incarnation"
	speakerLabel      = "palimpsest.by"
	expireLabel       = "palimpsest.expire"
	jsonLabel         = "palimpsest.json"

	saidKind  = "said"
	addedKind = "added"

	maxLabels     = 15
	maxLabelBytes = 256
)

// labels are the metadata of a record.
type labels map[string]types.MemoryRecordMetadataValue

func (l labels) set(name, value string) {
	l[name] = &types.MemoryRecordMetadataValueMemberStringValue{Value: value}
}

func (l labels) get(name string) string {
	if v, ok := l[name].(*types.MemoryRecordMetadataValueMemberStringValue); ok {
		return v.Value
	}
	return ""
}

// pack sets a text of any characters and length, over as many labels as it takes: the service takes few characters, and 256 of them.
func (l labels) pack(name, text string) {
	rest := base64.RawURLEncoding.EncodeToString([]byte(text))
	for i := 0; rest != ""; i++ {
		n := min(len(rest), maxLabelBytes)
		l.set(name+"."+strconv.Itoa(i), rest[:n])
		rest = rest[n:]
	}
}

func (l labels) unpack(name string) string {
	var packed string
	for i := range maxLabels {
		packed += l.get(name + "." + strconv.Itoa(i))
	}
	text, err := base64.RawURLEncoding.DecodeString(packed)
	if err != nil {
		return ""
	}
	return string(text)
}

// noteLabels are those of a note.
func noteLabels(n *memory.Note) labels {
	l := labels{}
	l.set(kindLabel, addedKind)
	l.set(keyLabel, n.Key)
	l.pack(jsonLabel, n.Metadata)
	if !n.ExpireTime.IsZero() {
		l.set(expireLabel, strconv.FormatInt(n.ExpireTime.UnixMilli(), 10))
	}
	return l
}

// saidLabels are those of a message that is kept as it is.
func saidLabels(b *memory.Batch, m *memory.Message) labels {
	l := labels{}
	l.set(kindLabel, saidKind)
	l.set(keyLabel, b.Key)
	l.pack(conversationLabel, b.Conversation)
	l.set(incarnationLabel, b.Incarnation.String())
	l.set(firstLabel, strconv.Itoa(int(m.Index)))
	l.pack(speakerLabel, m.Speaker())
	return l
}

// read fills in what the labels of a record tell.
func (l labels) read(m *memory.Memory) {
	switch l.get(kindLabel) {
	case addedKind:
		m.Kind, m.Metadata = memory.Added, l.unpack(jsonLabel)
		if ms, err := strconv.ParseInt(l.get(expireLabel), 10, 64); err == nil {
			m.ExpireTime = time.UnixMilli(ms).UTC()
		}
	case saidKind:
		m.Kind, m.SaidBy = memory.Said, l.unpack(speakerLabel)
		r := rangeOf(l.get(firstLabel), l.get(firstLabel))
		m.Sources = []memory.Source{{
			Conversation: l.unpack(conversationLabel), Incarnation: memory.ParseIncarnation(l.get(incarnationLabel)), First: r.First, Last: r.First, Time: m.Time,
		}}
	default:
		m.Kind = memory.Fact
	}
}
