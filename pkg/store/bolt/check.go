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

// Progress is told how many of the file's pages have been read. Free pages are not read, so pages may not reach of.
type Progress func(pages, of uint64)

// Report says what was found in a file. It names pages, conversations and kinds of records, but never their contents.
type Report struct {
	// Pages are the pages in use, Records the entries of all kinds, and Conversations those that a name leads to.
	Pages, Records, Conversations uint64
	// Damages has a sentence for each damage, at most maxDamages. Unlisted is the number of further ones.
	Damages  []string
	Unlisted int
}

// maxDamages bounds a report: nobody reads more about a file that is beyond repair.
const maxDamages = 1000

// OK reports whether nothing is damaged.
func (r *Report) OK() bool { return len(r.Damages) == 0 }

func (r *Report) add(format string, args ...any) {
	if len(r.Damages) == maxDamages {
		r.Unlisted++
		return
	}
	r.Damages = append(r.Damages, fmt.Sprintf(format, args...))
}

// inspection reads a file that no process has open.
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
		return nil //nolint:nilerr // the mark is optional
	}
	if last, ok := readMark(file); ok && last > i.meta.Tx {
		i.report.add("transaction %d was acknowledged, and the newest that can be found is %d: the last commits are lost", last, i.meta.Tx)
	}
	return file.Close()
}

// walk goes through the file. It records all damage, and calls record with every entry.
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

// Check reads all of a file that no process has open: its structure, also with bbolt's own check; each record, with its checksum
// and its key; and whether the records belong together. It returns an error if the file cannot be read at all.
func Check(path string, o Options, progress Progress) (*Report, error) {
	i, err := inspect(path, o, progress)
	if err != nil {
		return nil, err
	}
	c := &checker{inspection: i, incarnations: map[conversation.ID]*foundIncarnation{}}
	if err := i.walk(c.page, c.record); err != nil {
		return nil, errors.Join(err, i.db.Close())
	}
	c.together()
	if c.sound { // bbolt's check ends the process at most of the damage that walk finds
		c.byBbolt()
	}
	return i.report, i.db.Close()
}

type checker struct {
	*inspection
	incarnations map[conversation.ID]*foundIncarnation
	sound        bool
}

// foundIncarnation is what was found of an incarnation.
type foundIncarnation struct {
	key                   *store.Key // set if a name leads to it
	head                  *store.Head
	messages, edits, rows int64
	lost                  map[kind]int
}

func (c *checker) incarnation(id conversation.ID) *foundIncarnation {
	return foundOf(c.incarnations, id)
}

func foundOf(talks map[conversation.ID]*foundIncarnation, id conversation.ID) *foundIncarnation {
	t := talks[id]
	if t == nil {
		t = &foundIncarnation{lost: map[kind]int{}}
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
	t := c.incarnation(s.id)
	switch {
	case errors.Is(err, errKey) || s.kind == "":
		c.report.add("an entry of the bucket %s: %v", bucket, err)
	case err != nil:
		t.lost[s.kind]++
	}
	t.note(&s)
	return nil
}

// note counts an entry, damaged or not.
func (t *foundIncarnation) note(s *stored) {
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

// together checks that each conversation has exactly the records that its head tells of.
func (c *checker) together() {
	for id, t := range c.incarnations {
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

func (c *checker) complete(who string, t *foundIncarnation) {
	if t.messages != int64(t.head.Messages) {
		c.report.add("%s: %d messages of %d", who, t.messages, t.head.Messages)
	}
	if t.edits != t.head.EditSeq || t.rows != t.edits {
		c.report.add("%s: %d edits of %d, %d in the index", who, t.edits, t.head.EditSeq, t.rows)
	}
}

// name is the name of a conversation in reports.
func (t *foundIncarnation) name(id conversation.ID) string {
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
