package view

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// Facts reads the facts that are stored with a summary.
func (x *Extras) Facts(s *conversation.Summary) (record.Facts, error) {
	var k record.Facts
	contents, err := x.Texts(s.Facts)
	if err != nil || contents[0] == "" {
		return k, err
	}
	if k, err = record.DecodeFacts([]byte(contents[0])); err != nil {
		return k, conversation.Errorf(conversation.CorruptRecord, "the facts of summary s%d are damaged", s.ID).Because(err)
	}
	return k, nil
}
