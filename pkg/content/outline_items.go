package content

import "sort"

// outlineItems locates the items of a content.
type outlineItems struct {
	found bool
	count int64
	end   int64 // of the last item
	marks []itemMark
}

// itemMark is where an item begins, and where the one before it ends.
type itemMark struct{ index, at, previousEnd int64 }

// itemOutliner finds the items of a JSON document while it is fed: those of the document if it is an array, or those of the only array
// among its members.
type itemOutliner struct {
	scanner      JSONScanner
	at           int64 // where the chunk begins
	lastNonSpace int64 // end of the last non-space byte before the chunk
	arrays       int   // number of arrays that could be the one with the items
	previousEnd  int64 // end of the item before the last comma
	level        int   // depth of its items; 0 outside of it
	items        outlineItems
}

// feed takes the next chunk.
func (o *itemOutliner) feed(chunk []byte) {
	if o.scanner.state == broken {
		return
	}
	for event, where := range JSONEvents(&o.scanner, chunk) {
		if o.level == 0 {
			o.outside(event, where)
		} else {
			o.inside(event, where, chunk)
		}
	}
	o.lastNonSpace = o.nonSpaceEnd(chunk)
	o.at += int64(len(chunk))
}

// nonSpaceEnd returns the position after the last byte that is not white space, up to the end of part.
func (o *itemOutliner) nonSpaceEnd(part []byte) int64 {
	for size := len(part); size > 0; size-- {
		if !isJSONSpace(part[size-1]) {
			return o.at + int64(size)
		}
	}
	return o.lastNonSpace
}

// outside handles an event outside of the array.
func (o *itemOutliner) outside(event JSONEvent, where int) {
	if event != JSONOpen || !o.scanner.inArray() {
		return
	}
	depth := o.scanner.Depth()
	if depth > 2 || depth == 2 && o.scanner.brackets[0] != '{' {
		return
	}
	if o.arrays++; o.arrays == 1 {
		o.level = depth
		o.items.end = o.at + int64(where) + 1
	} else {
		o.items = outlineItems{}
	}
}

// inside handles an event inside of the array.
func (o *itemOutliner) inside(event JSONEvent, where int, chunk []byte) {
	depth := o.scanner.Depth()
	switch {
	case event == JSONComma && depth == o.level:
		o.previousEnd = o.nonSpaceEnd(chunk[:where])
	case event == JSONScalar && depth == o.level, event == JSONOpen && depth == o.level+1:
		o.item(where)
	case event == JSONClose && depth == o.level-1:
		if o.items.count > 0 {
			o.items.end = o.nonSpaceEnd(chunk[:where])
		}
		o.level = 0
	}
}

// item records that an item begins.
func (o *itemOutliner) item(where int) {
	at := o.at + int64(where)
	n := len(o.items.marks)
	if n == 0 || at-o.items.marks[n-1].at >= outlineStep {
		o.items.marks = append(o.items.marks, itemMark{index: o.items.count, at: at, previousEnd: o.previousEnd})
	}
	o.items.count++
}

// outline completes the outline.
func (o *itemOutliner) outline() outlineItems {
	if o.arrays != 1 || !o.scanner.IsComplete() {
		return outlineItems{}
	}
	o.items.found = true
	return o.items
}

// find returns the bytes of a half-open range of items.
func (o *outlineItems) find(from, to int64, read func(from, to int64) ([]byte, error)) (first, end int64, err error) {
	from, to = min(from, o.count), min(to, o.count)
	if first, _, err = o.bounds(from, read); err != nil {
		return 0, 0, err
	}
	if from == to {
		return first, first, nil
	}
	_, end, err = o.bounds(to, read)
	return first, end, err
}

// bounds returns where an item begins, and where the one before it ends. After the last item, both are its end.
func (o *outlineItems) bounds(n int64, read func(from, to int64) ([]byte, error)) (at, before int64, err error) {
	if n >= o.count {
		return o.end, o.end, nil
	}
	i := sort.Search(len(o.marks), func(i int) bool { return o.marks[i].index > n }) - 1
	mark := o.marks[i]
	if mark.index == n {
		return mark.at, mark.previousEnd, nil
	}
	chunk, err := read(mark.at, min(mark.at+outlineStep, o.end)) // otherwise another mark would precede the item
	if err != nil {
		return 0, 0, err
	}
	items := itemOutliner{scanner: JSONScanner{brackets: []byte{'['}}, at: mark.at, level: 1}
	return items.seek(chunk, n-mark.index)
}

// seek returns where the nth item begins in a chunk that begins with an item, and where the one before it ends.
func (o *itemOutliner) seek(chunk []byte, n int64) (at, before int64, err error) {
	for event, where := range JSONEvents(&o.scanner, chunk) {
		o.inside(event, where, chunk)
		if o.items.count > n {
			return o.at + int64(where), o.previousEnd, nil
		}
	}
	return 0, 0, ErrOutline
}
