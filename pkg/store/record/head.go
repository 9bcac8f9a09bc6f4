package record

import "github.com/palimpsest-context/palimpsest/pkg/store"

func writeHead(b []byte, h *store.Head) []byte {
	b = appendID(b, 1, h.Incarnation)
	b = appendUint(b, 2, h.Version)
	b = appendInt(b, 3, h.Revision)
	b = appendInt(b, 4, h.State)
	b = appendInt(b, 5, h.Messages)
	b = appendInt(b, 6, h.Tokens)
	b = appendInt(b, 7, h.EditSeq)
	b = appendInt(b, 8, h.ManifestSeq)
	b = appendInt(b, 9, h.Turn)
	b = appendInt(b, 10, h.Seen)
	b = appendInt(b, 11, h.Start)
	b = writeLastManifest(b, h)
	b = appendInt(b, 13, h.UnitStart)
	b = appendInt(b, 14, h.LeadingSystem)
	b = appendSint(b, 15, h.Request)
	b = appendInt(b, 16, h.CallOrdinal)
	b = appendAll(b, 17, h.Unanswered, writeCall)
	b = appendAll(b, 18, h.Pins, writeRange)
	b = appendTime(b, 19, h.CreateTime)
	b = appendTime(b, 20, h.UpdateTime)
	b = appendTime(b, 21, h.ExpireTime)
	b = appendTime(b, 22, h.DeleteTime)
	b = appendTime(b, 23, h.NextDue)
	b = appendInt(b, 24, h.SeenBefore)
	b = appendInt(b, 25, h.Place.Carrying)
	b = appendInt(b, 26, h.Place.Inputs)
	b = appendInt(b, 27, h.CallsEnd)
	b = appendInt(b, 28, h.Opening+1)
	b = appendBool(b, 29, h.Reusable)
	b = appendTime(b, 30, h.Former)
	b = appendText(b, 31, h.ActorID)
	b = appendInt(b, 32, h.Bytes)
	return append(b, h.Unknown...)
}

func readHead(r *reader, h *store.Head) {
	h.Opening = -1
	for r.next() {
		switch r.field {
		case 1:
			h.Incarnation = r.id()
		case 2:
			h.Version = r.uint()
		case 3:
			h.Revision = r.int64()
		case 4:
			h.State = store.State(r.int32())
		case 5:
			h.Messages = r.int32()
		case 6:
			h.Tokens = r.int64()
		case 7:
			h.EditSeq = r.int64()
		case 8:
			h.ManifestSeq = r.int64()
		case 9:
			h.Turn = r.int32()
		case 10:
			h.Seen = r.int32()
		case 11:
			h.Start = r.int32()
		case 12:
			readLastManifest(r, h)
		case 13:
			h.UnitStart = r.int32()
		case 14:
			h.LeadingSystem = r.int32()
		case 15:
			h.Request = r.sint()
		case 16:
			h.CallOrdinal = r.int32()
		case 17:
			h.Unanswered = element(r, h.Unanswered, readCall)
		case 18:
			h.Pins = element(r, h.Pins, readRange)
		case 19:
			h.CreateTime = r.time()
		case 20:
			h.UpdateTime = r.time()
		case 21:
			h.ExpireTime = r.time()
		case 22:
			h.DeleteTime = r.time()
		case 23:
			h.NextDue = r.time()
		case 24:
			h.SeenBefore = r.int32()
		case 25:
			h.Place.Carrying = r.int32()
		case 26:
			h.Place.Inputs = r.int32()
		case 27:
			h.CallsEnd = r.int32()
		case 28:
			h.Opening = r.int32() - 1
		case 29:
			h.Reusable = r.bool()
		case 30:
			h.Former = r.time()
		case 31:
			h.ActorID = r.text()
		case 32:
			h.Bytes = r.int64()
		default:
			h.Unknown += r.raw
		}
	}
}

func writeLastManifest(b []byte, h *store.Head) []byte {
	if len(h.NewerManifests) == 0 {
		return appendPacked(b, 12, h.LastManifest[:], true)
	}
	return appendPacked(b, 12, append(h.LastManifest[:], h.NewerManifests...), false)
}

// readLastManifest keeps formats that this version does not know for those that do.
func readLastManifest(r *reader, h *store.Head) {
	i := 0
	packed(r, func(v int64) {
		if i < len(h.LastManifest) {
			h.LastManifest[i] = v
		} else {
			h.NewerManifests = append(h.NewerManifests, v)
		}
		i++
	})
}

func writeCall(b []byte, c *store.Call) []byte {
	b = appendText(b, 1, c.CallID)
	b = appendText(b, 2, c.Name)
	b = appendInt(b, 3, c.Ordinal)
	b = appendInt(b, 4, c.Message)
	return append(b, c.Unknown...)
}

func readCall(r *reader, c *store.Call) {
	for r.next() {
		switch r.field {
		case 1:
			c.CallID = r.text()
		case 2:
			c.Name = r.text()
		case 3:
			c.Ordinal = r.int32()
		case 4:
			c.Message = r.int32()
		default:
			c.Unknown += r.raw
		}
	}
}
