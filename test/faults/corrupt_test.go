package faults

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// kept is a data file that was written in order, and what must be read from it.
type kept struct {
	file   []byte
	mark   []byte // of the last commit, which lies beside it
	ledger *ledger
}

func newKept(t *testing.T) *kept { return keptOf(t, 10) }

func keptOf(t *testing.T, rounds int) *kept {
	t.Helper()
	f := newFixture(t)
	for range rounds {
		f.need(f.fill(single, 4))
		f.need(f.fill(large, 1))
		f.need(f.fill(building, 1))
		f.need(f.fill(storing, 1))
		f.need(f.fill(citing, 1))
	}
	return f.keep()
}

// keep stops the sidecar and takes the file.
func (f *fixture) keep() *kept {
	f.t.Helper()
	f.need(f.sidecar.Stop())
	file, err := os.ReadFile(path(f.folder))
	f.need(err)
	mark, err := os.ReadFile(path(f.folder) + ".last")
	f.need(err)
	return &kept{file: file, mark: mark, ledger: f.ledger}
}

// over starts a sidecar over a damaged file; nil if it did not serve.
func (k *kept) over(t *testing.T, file []byte) *fixture {
	t.Helper()
	f := &fixture{t: t, folder: t.TempDir(), ledger: k.ledger}
	if err := os.WriteFile(path(f.folder), file, 0o600); err != nil {
		t.Fatal(err)
	}
	sidecar, err := process.Launch(binary, f.folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sidecar.Kill)
	if sidecar.Ready() != nil {
		if ended := sidecar.Ended(); ended == nil {
			t.Errorf("the sidecar neither serves nor fails: %.200s", sidecar.Log())
		}
		return nil
	}
	f.call(sidecar)
	return f
}

// honest reads everything, message by message and build by build: each is as it was, or the sidecar says that it is damaged.
func (f *fixture) honest() (damaged int, err error) {
	for _, o := range f.ledger.ops {
		faults := []error{nil}
		switch o.kind {
		case building:
			_, faults[0] = (&ledger{conversation: "c", ops: []*op{o}}).rebuild(f.ctx, f.Client)
		case storing:
			faults = f.sameContent(o, o.content())
		case citing:
			faults = f.sameContent(o, []byte(o.messages()[1].GetParts()[0].GetToolResult().GetText()))
			faults = append(faults, f.same(o))
		default:
			faults[0] = f.same(o)
		}
		worst, err := verdict(faults)
		if err != nil {
			return damaged, fmt.Errorf("request %s: %w", o.request, err)
		}
		damaged += worst
	}
	worst, err := verdict([]error{f.sameSearch()})
	return damaged + worst, err
}

// verdict is 1 if anything was answered to be damaged, and an error if anything is wrong that was not.
func verdict(faults []error) (damaged int, err error) {
	for _, fault := range faults {
		if c := status.Code(errors.Unwrap(fault)); c == codes.DataLoss || status.Code(fault) == codes.DataLoss {
			damaged = 1
		} else if fault != nil {
			return damaged, fault
		}
	}
	return damaged, nil
}

// same reads an op's messages and compares them.
func (f *fixture) same(o *op) error {
	limit := int32(64 << 20)
	record := make([]*pb.Message, 0, 1)
	places := map[string]int{}
	for i, m := range o.messages() {
		got, err := f.Conversations.GetMessage(f.ctx, &pb.GetMessageRequest{ConversationId: "c", MessageIndex: o.first + int32(i), MaxReplyBytes: &limit})
		if err != nil {
			return err
		}
		places[m.GetId()] = i
		record = append(record, got.GetMessage())
	}
	at := *o
	at.first = 0
	return at.check(record, places)
}

// TestCorrupt_FlippedBitInContent_IsNeverServed flips a bit in the middle of what a message holds.
func TestCorrupt_FlippedBitInContent_IsNeverServed(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	for _, o := range k.ledger.ops {
		if o.kind != large {
			continue
		}
		// Media are noise, which no codec makes smaller: they lie in the file as they are, and old copies of the page may too.
		media := o.messages()[0].GetParts()[2].GetMedia().GetData()
		file, found := bytes.Clone(k.file), 0
		for at := bytes.Index(file, media[5000:5100]); at >= 0; at = bytes.Index(file, media[5000:5100]) {
			file[at+50] ^= 4
			found++
		}
		if found == 0 {
			t.Fatal("the file does not hold the media: nothing is tested")
		}
		f := k.over(t, file)
		if f == nil {
			t.Fatal("one flipped bit in a picture keeps the sidecar from starting")
		}
		damaged, err := f.honest()
		f.need(err)
		if damaged == 0 {
			t.Error("a flipped bit in a picture was not noticed")
		}
		return
	}
}

// TestCorrupt_TruncatedFile_IsRefusedOrHonest cuts the file, as a copy that was interrupted does.
func TestCorrupt_TruncatedFile_IsRefusedOrHonest(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	page := os.Getpagesize()
	for _, length := range []int{0, 1, 100, page, 2*page + 17, 8 * page, 40*page + 1, len(k.file) / 2} {
		t.Run(fmt.Sprint(length), func(t *testing.T) { k.tell(t, k.file[:length]) })
	}
}

// tell starts a sidecar over a file and reads everything, if it starts.
func (k *kept) tell(t *testing.T, file []byte) {
	t.Helper()
	f := k.over(t, file)
	if f == nil {
		return
	}
	damaged, err := f.honest()
	f.need(err)
	t.Logf("the sidecar serves; %d of %d calls' records are damaged", damaged, len(k.ledger.ops))
}

// flips is how many damaged files are tried by default; faults tries more.
const flips = 6

// TestCorrupt_FlippedBytesAnywhere_AreNeverServed overwrites bytes anywhere in what is in use.
func TestCorrupt_FlippedBytesAnywhere_AreNeverServed(t *testing.T) {
	t.Parallel()
	k, r := newKept(t), rand.New(rand.NewPCG(proptest.Seed(t), 0))
	used := len(bytes.TrimRight(k.file, "\x00"))
	for i := range flips * roundsOf(t) / defaultRounds {
		file := bytes.Clone(k.file)
		for range 1 + r.IntN(3) {
			file[r.IntN(used)] ^= byte(1 + r.IntN(255))
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) { k.tell(t, file) })
	}
}
