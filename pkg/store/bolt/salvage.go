package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/pages"
)

// unreadable takes the place of a lost record in a salvaged store. No envelope begins with it, so reading the record reports
// damage. If it were missing, a lost message or edit would look as if it had never existed.
const unreadable = 0

// maxGap is how many such records fill a hole between two records at most.
const maxGap = 1 << 20

// Salvage copies what can be read of a file that no process has open into a new store at the path to, which must not exist. What is
// derived from other records is made anew. A conversation is copied if its head can be read. The report says what is lost.
func Salvage(from, to string, o Options, progress Progress) (_ *Report, err error) {
	if _, err := os.Stat(to); err == nil {
		return nil, fmt.Errorf("salvage to %s: there is a file of that name", to)
	}
	i, err := inspect(from, o, progress)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, i.db.Close()) }()
	if i.meta.PageSize == 0 {
		return nil, fmt.Errorf("salvage %s: neither meta page is sound, and nothing else leads to the records", from)
	}
	s := &salvage{inspection: i, incarnations: map[conversation.ID]*foundIncarnation{}, staged: map[conversation.ID]bool{}}
	if err := i.walk(s.page, s.survey); err != nil {
		return nil, err
	}
	s.adopt()
	if s.out, err = newCopying(to, o); err != nil {
		return nil, err
	}
	err = i.walk(func(pages.Error) error { return nil }, s.copy)
	if err == nil {
		err = s.fillEnds()
	}
	s.reportLosses()
	return i.report, errors.Join(err, s.out.close())
}

type salvage struct {
	*inspection
	incarnations map[conversation.ID]*foundIncarnation
	staged       map[conversation.ID]bool // incarnations that wait for a commit
	named        []stored                 // entries of due times, which also name their conversation
	torn         []pages.Error
	chunk        []byte // key of the last chunk copied
	out          *copying
}

func (s *salvage) page(d pages.Error) error {
	s.report.add("%v", d)
	s.torn = append(s.torn, d)
	return nil
}

// survey is the first pass: it finds out which conversations there are.
func (s *salvage) survey(bucket string, e pages.Entry) error {
	k, err := kindOf(bucket, e)
	if err != nil || k != isName && k != isHead && k != isPending && k != isDue {
		return nil //nolint:nilerr // the second pass counts it
	}
	v, err := verify(s.codec, s.file, bucket, e)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	switch {
	case k == isDue:
		s.named = append(s.named, v)
	case k == isPending && v.task.Upload.IsZero():
		s.staged[v.id] = true
	case k != isPending:
		foundOf(s.incarnations, v.id).note(&v)
	}
	return nil
}

// adopt gives a conversation whose name is lost the name in its entry of due times.
func (s *salvage) adopt() {
	taken := map[store.Key]bool{}
	for _, t := range s.incarnations {
		if t.key != nil {
			taken[*t.key] = true
		}
	}
	for _, due := range s.named {
		t := s.incarnations[due.task.Incarnation]
		if t != nil && t.head != nil && t.key == nil && t.head.State != store.Deleted && !taken[due.task.Key] {
			t.key = &due.task.Key
			taken[due.task.Key] = true
		}
	}
}

// keeps reports whether the records of an incarnation are copied.
func (s *salvage) keeps(id conversation.ID) bool {
	t := s.incarnations[id]
	return s.staged[id] || t != nil && t.head != nil && t.key != nil
}

// copy is the second pass: it copies the records.
func (s *salvage) copy(bucket string, e pages.Entry) error {
	s.report.Records++
	v, err := verify(s.codec, s.file, bucket, e)
	if err != nil {
		return s.putUnreadable(bucket, &v, err)
	}
	if !s.keeps(v.id) && v.kind != isDue && v.kind != isLayout && v.kind != isSeal && v.kind != isReserve {
		return nil
	}
	switch v.kind {
	case isLayout, isIndex, isDue, isName, isReserve: // these are made anew
		return nil
	case isMessage, isEdit:
		return s.copyLogged(bucket, &v)
	case isChunk:
		return s.copyChunk(&v)
	case isPending:
		return errors.Join(s.due(v.task), s.out.put(bucket, v.key, v.value))
	case isHead:
		return s.copyHead(&v)
	default:
		return s.out.put(bucket, v.key, v.value)
	}
}

// putUnreadable puts an unreadable record in the place of one that cannot be read.
func (s *salvage) putUnreadable(bucket string, v *stored, err error) error {
	if errors.Is(err, errKey) || !s.keeps(v.id) {
		s.report.add("an entry of the bucket %s is lost: %v", bucket, err)
		return nil
	}
	t := foundOf(s.incarnations, v.id)
	switch v.kind {
	case isMessage, isEdit:
		return nil // gap counts it
	case isSlot, isInfo, isOutcome, isChunk:
		t.lost[v.kind]++
		return s.out.put(bucket, v.key, []byte{unreadable})
	default:
		t.lost[v.kind]++
		return nil
	}
}

// copyLogged copies a message or an edit, after unreadable ones for those that are missing before it.
func (s *salvage) copyLogged(bucket string, v *stored) error {
	t := foundOf(s.incarnations, v.id)
	if v.kind == isMessage {
		err := s.fillGap(v.id, t, isMessage, int64(binary.BigEndian.Uint32(v.key[idBytes+1:])))
		t.messages++
		return errors.Join(err, s.out.put(bucket, v.key, v.value))
	}
	err := s.fillGap(v.id, t, isEdit, v.edit.Seq-1)
	t.edits++
	return errors.Join(err, s.out.put(bucket, v.key, v.value), s.out.put(bucket, indexKey(v.id, v.edit), []byte{}))
}

// fillGap puts unreadable records for all numbers below up. An edit also gets an entry in the index that every answer looks at.
func (s *salvage) fillGap(id conversation.ID, t *foundIncarnation, k kind, up int64) error {
	next := &t.messages
	if k == isEdit {
		next = &t.edits
	}
	if up-*next > maxGap {
		return fmt.Errorf("%s: %d records are missing in one place", t.name(id), up-*next)
	}
	for ; *next < up; *next++ {
		t.lost[k]++
		var err error
		if k == isMessage {
			err = s.out.put(string(bucketRecords), messageKey(id, int32(*next)), []byte{unreadable})
		} else {
			err = errors.Join(
				s.out.put(string(bucketRecords), editKey(id, kindEdit, *next+1), []byte{unreadable}),
				s.out.put(string(bucketRecords), editKey(id, kindWide, *next+1), []byte{}),
			)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyChunk copies a chunk, after unreadable ones for those of the same content that are missing before it.
func (s *salvage) copyChunk(v *stored) error {
	number := binary.BigEndian.Uint32(v.key[2*idBytes:])
	next := uint32(0)
	if bytes.HasPrefix(s.chunk, v.key[:2*idBytes]) {
		next = binary.BigEndian.Uint32(s.chunk[2*idBytes:]) + 1
	}
	s.chunk = v.key
	for ; next < number && number-next < maxGap; next++ {
		foundOf(s.incarnations, v.id).lost[isChunk]++
		key := binary.BigEndian.AppendUint32(bytes.Clone(v.key[:2*idBytes]), next)
		if err := s.out.put(string(bucketChunks), key, []byte{unreadable}); err != nil {
			return err
		}
	}
	return s.out.put(string(bucketChunks), v.key, v.value)
}

// copyHead copies a head and its name.
func (s *salvage) copyHead(v *stored) error {
	t := s.incarnations[v.id]
	s.report.Conversations++
	return errors.Join(
		s.out.put(string(bucketRecords), v.key, v.value),
		s.out.put(string(bucketNames), nameKey(*t.key), s.codec.EncodeLink(v.id)),
		s.due(&store.Task{Key: *t.key, Incarnation: v.id, Time: t.head.NextDue}),
	)
}

func (s *salvage) due(t *store.Task) error {
	if t.Time.IsZero() {
		return nil
	}
	return s.out.put(string(bucketDue), dueKey(t), s.codec.EncodeTask(t))
}

// fillEnds puts unreadable records for the messages and edits that are missing at the end.
func (s *salvage) fillEnds() error {
	for id, t := range s.incarnations {
		if !s.keeps(id) || t.head == nil || t.head.State == store.Deleted {
			continue
		}
		if err := errors.Join(s.fillGap(id, t, isMessage, int64(t.head.Messages)), s.fillGap(id, t, isEdit, t.head.EditSeq)); err != nil {
			return err
		}
	}
	return nil
}

// reportLosses reports what is lost of each conversation.
func (s *salvage) reportLosses() {
	for id, t := range s.incarnations {
		if t.head == nil && t.key != nil {
			s.report.add("%s is lost: its head cannot be read", t.name(id))
		}
		if t.head != nil && t.key == nil && t.head.State != store.Deleted {
			s.report.add("%s is lost: nothing says what it was called", t.name(id))
		}
		for k, n := range t.lost {
			s.report.add("%s: %d lost: %s", t.name(id), n, k)
		}
		if t.head != nil && t.key != nil && s.touched(id) {
			s.report.add("%s: slots, request ids and manifests may be lost: they lay in a page that is damaged", t.name(id))
		}
	}
}

// touched reports whether a damaged page may have held records of an incarnation.
func (s *salvage) touched(id conversation.ID) bool {
	for _, d := range s.torn {
		low := d.Min == nil || bytes.Compare(d.Min[:min(idBytes, len(d.Min))], id[:]) <= 0
		if d.Bucket == string(bucketRecords) && low && (d.Max == nil || bytes.Compare(id[:], d.Max) < 0) {
			return true
		}
	}
	return false
}

// copying writes a new store, in transactions of limited size. It is synced only at the end: before that it is worthless.
type copying struct {
	db    *bbolt.DB
	tx    *bbolt.Tx
	bytes int
}

const copyingBytes = 8 << 20

func newCopying(path string, o Options) (*copying, error) {
	o = o.withDefaults()
	if err := create(path, o); err != nil {
		return nil, err
	}
	options := boltOptions(o)
	options.NoSync = true
	db, _, err := openBolt(path, options)
	return &copying{db: db}, err
}

func (c *copying) put(bucket string, key, value []byte) (err error) {
	if c.tx == nil {
		if c.tx, err = c.db.Begin(true); err != nil {
			return err
		}
	}
	if err := c.tx.Bucket([]byte(bucket)).Put(key, value); err != nil {
		return err
	}
	if c.bytes += len(key) + len(value); c.bytes < copyingBytes {
		return nil
	}
	return c.flush()
}

func (c *copying) flush() error {
	if c.tx == nil {
		return nil
	}
	err := c.tx.Commit()
	c.tx, c.bytes = nil, 0
	return err
}

func (c *copying) close() error { return errors.Join(c.flush(), c.db.Sync(), c.db.Close()) }
