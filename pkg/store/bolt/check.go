package bolt

import (
	"errors"
	"fmt"

	"os"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/pages"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// Progress is told how many of the file's pages have been read. Free pages are not, so that it need not come to the end.
type Progress func(pages, of uint64)

// Report is what was found in a file. It names pages, conversations and kinds of records, never what they say.
type Report struct {
	// Pages are those in use, Records the entries of all kinds, and Conversations those that a name leads to.
	Pages, Records, Conversations uint64
	// Damages are sentences, one for each thing that is damaged, at most maxDamages. Unlisted are those beyond.
	Damages  []string
	Unlisted int
}

// maxDamages bounds a report: of a file that is no store any more nobody reads more.
const maxDamages = 1000

// OK says whether nothing is damaged.
func (r *Report) OK() bool { return len(r.Damages) == 0 }

func (r *Report) add(format string, args ...any) {
	if len(r.Damages) == maxDamages {
		r.Unlisted++
		return
	}
	r.Damages = append(r.Damages, fmt.Sprintf(format, args...))
}

// inspection reads a file that nobody has open.
type inspection struct {
	db       *bbolt.DB
	file     *os.File
	meta     pages.Meta
	codec    *record.Codec
	report   *Report
	progress Progress
}

func inspect(path string, o Options, progress Progress) (*inspection, error) {
	db, file, err := openLocked(path, o.withDefaults())
	if err != nil {
		return nil, err
	}
	i := &inspection{db: db, file: file, meta: pages.NewestMeta(file), codec: record.New(), report: &Report{}, progress: progress}
	if err := pages.CheckWhole(file, i.meta); err != nil {
		i.report.add("%v", err)
	}
	return i, i.checkMark(path)
}

func (i *inspection) checkMark(path string) error {
	file, err := os.Open(path + marking)
	if err != nil {
		return nil //nolint:nilerr // it need not be there
	}
	if last, ok := readMark(file); ok && last > i.meta.Tx {
		i.report.add("transaction %d was acknowledged, and the newest that can be found is %d: the last commits are lost", last, i.meta.Tx)
	}
	return file.Close()
}

// walk goes over the file with all damage noted, and calls record with every entry.
func (i *inspection) walk(damaged func(pages.Error) error, record func(bucket string, e pages.Entry) error) error {
	w := &pages.Walk{File: i.file, Meta: i.meta, Damaged: damaged, Record: record}
	w.Passed = func(*pages.Page) {
		if i.progress != nil && w.Used%1024 == 0 {
			i.progress(w.Used, i.meta.Pages)
		}
	}
	err := w.Run()
	i.report.Pages = w.Used
	if i.progress != nil {
		i.progress(w.Used, i.meta.Pages)
	}
	return err
}

// Check reads a file that no process has open, and all that is in it: its structure by itself and with bbolt's own check, each
// record by its checksum and its key, and whether the records belong together. The error is for a file that cannot be read at all.
func Check(path string, o Options, progress Progress) (*Report, error) {
	i, err := inspect(path, o, progress)
	if err != nil {
		return nil, err
	}
	c := &checker{inspection: i, talks: map[conversation.ID]*talk{}}
	if err := i.walk(c.page, c.record); err != nil {
		return nil, errors.Join(err, i.db.Close())
	}
	c.together()
	if c.sound { // it ends the process for most of what walk finds
		c.byBbolt()
	}
	return i.report, i.db.Close()
}

type checker struct {
	*inspection
	talks map[conversation.ID]*talk
	sound bool
}

// talk is what was seen of an incarnation.
type talk struct {
	key                   *store.Key // if a name leads to it
	head                  *store.Head
	messages, edits, rows int64
	lost                  map[kind]int
}

func (c *checker) talk(id conversation.ID) *talk { return talkOf(c.talks, id) }

func talkOf(talks map[conversation.ID]*talk, id conversation.ID) *talk {
	t := talks[id]
	if t == nil {
		t = &talk{lost: map[kind]int{}}
		talks[id] = t
	}
	return t
}

func (c *checker) page(d pages.Error) error {
	c.report.add("%v", d)
	return nil
}

func (c *checker) record(bucket string, e pages.Entry) error {
	c.report.Records++
	s, err := verify(c.codec, c.file, bucket, e)
	t := c.talk(s.id)
	switch {
	case errors.Is(err, errKey) || s.kind == "":
		c.report.add("an entry of the bucket %s: %v", bucket, err)
	case err != nil:
		t.lost[s.kind]++
	}
	t.note(&s)
	return nil
}

// note counts an entry, be it damaged or not.
func (t *talk) note(s *stored) {
	switch s.kind {
	case isName:
		if key, ok := nameOf(s.key); ok {
			t.key = &key
		}
	case isHead:
		t.head = s.head
	case isMessage:
		t.messages++
	case isEdit:
		t.edits++
	case isIndex:
		t.rows++
	}
}

// together checks that the records of each conversation are those that its head speaks of.
func (c *checker) together() {
	for id, t := range c.talks {
		if t.key != nil {
			c.report.Conversations++
		}
		who := t.name(id)
		for k, n := range t.lost {
			c.report.add("%s: %d damaged: %s", who, n, k)
		}
		switch {
		case t.head == nil && t.key != nil && t.lost[isHead] == 0:
			c.report.add("%s: its head is missing", who)
		case t.head == nil || t.head.State == store.Deleted:
		default:
			c.complete(who, t)
		}
	}
	c.sound = c.report.OK()
}

func (c *checker) complete(who string, t *talk) {
	if t.messages != int64(t.head.Messages) {
		c.report.add("%s: %d messages of %d", who, t.messages, t.head.Messages)
	}
	if t.edits != t.head.EditSeq || t.rows != t.edits {
		c.report.add("%s: %d edits of %d, %d in the index", who, t.edits, t.head.EditSeq, t.rows)
	}
}

// name is how reports speak of a conversation.
func (t *talk) name(id conversation.ID) string {
	switch {
	case t.key == nil:
		return "incarnation " + id.String() + " without a name"
	case t.key.Conversation == "":
		return fmt.Sprintf("the settings of namespace %q", t.key.Namespace)
	default:
		return fmt.Sprintf("conversation %q of namespace %q", t.key.Conversation, t.key.Namespace)
	}
}

func (c *checker) byBbolt() {
	err := c.db.View(func(t *bbolt.Tx) error {
		for err := range t.Check() {
			c.report.add("bbolt: %v", err)
		}
		return nil
	})
	if err != nil {
		c.report.add("bbolt: %v", err)
	}
}
