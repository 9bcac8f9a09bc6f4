package record

import "github.com/palimpsest-context/palimpsest/pkg/store"

func headFields(f *fields, h *store.Head) {
	f.id(1, &h.Incarnation)
	f.uint(2, &h.Version)
	integer(f, 3, &h.Revision)
	integer(f, 4, &h.State)
	integer(f, 5, &h.Messages)
	integer(f, 6, &h.Tokens)
	integer(f, 7, &h.EditSeq)
	integer(f, 8, &h.ManifestSeq)
	integer(f, 9, &h.Turn)
	integer(f, 10, &h.Seen)
	integer(f, 11, &h.Start)
	lastManifest(f, 12, h)
	integer(f, 13, &h.UnitStart)
	integer(f, 14, &h.LeadingSystem)
	f.sint(15, &h.Request)
	integer(f, 16, &h.CallOrdinal)
	list(f, 17, &h.Unanswered, callFields)
	list(f, 18, &h.Pins, rangeFields)
	f.time(19, &h.CreateTime)
	f.time(20, &h.UpdateTime)
	f.time(21, &h.ExpireTime)
	f.time(22, &h.DeleteTime)
	f.time(23, &h.NextDue)
	integer(f, 24, &h.SeenBefore)
	integer(f, 25, &h.Place.Carrying)
	integer(f, 26, &h.Place.Inputs)
	integer(f, 27, &h.CallsEnd)
	f.plusOne(28, &h.Opening)
	f.bool(29, &h.Reusable)
	f.time(30, &h.Former)
	f.text(31, &h.ActorID)
	integer(f, 32, &h.Bytes)
	f.text(33, &h.CallIDs)
	integer(f, 34, &h.CallNumber)
	f.unknown(&h.Unknown)
}

// lastManifest keeps formats that this version does not know for those that do.
func lastManifest(f *fields, field int, h *store.Head) {
	switch {
	case f.reading && f.in.field == field:
		i := 0
		packed(&f.in, func(v int64) {
			if i < len(h.LastManifest) {
				h.LastManifest[i] = v
			} else {
				h.NewerManifests = append(h.NewerManifests, v)
			}
			i++
		})
		f.advance()
	case f.reading:
	case len(h.NewerManifests) == 0:
		f.out = appendPacked(f.out, field, h.LastManifest[:], true)
	default:
		f.out = appendPacked(f.out, field, append(h.LastManifest[:], h.NewerManifests...), false)
	}
}

func callFields(f *fields, c *store.Call) {
	f.text(1, &c.CallID)
	f.text(2, &c.Name)
	integer(f, 3, &c.Ordinal)
	integer(f, 4, &c.Message)
	f.bool(5, &c.Closed)
	f.unknown(&c.Unknown)
}
