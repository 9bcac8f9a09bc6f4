package record

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record/recordpb"
)

// draw fills a value at random, field by field, whatever fields it has: one that the codec forgets fails the round trip.
func draw(t *rapid.T, v reflect.Value, texts *rapid.Generator[string]) {
	if at, ok := v.Addr().Interface().(*time.Time); ok {
		if rapid.Bool().Draw(t, "time") {
			*at = time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			// Unknown is whole fields, of numbers that are not known; an epoch is not on record.
			if name := v.Type().Field(i).Name; name != "Unknown" && name != "Epoch" {
				draw(t, v.Field(i), texts)
			}
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(v.Type().Elem()))
			draw(t, v.Elem(), texts)
		}
	case reflect.Slice:
		for n := rapid.IntRange(0, 2).Draw(t, "length"); n > 0; n-- {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			draw(t, v.Index(v.Len()-1), texts)
		}
	case reflect.Array:
		if rapid.Bool().Draw(t, "array") {
			for i := range v.Len() {
				draw(t, v.Index(i), texts)
			}
		}
	default:
		drawScalar(t, v, texts)
	}
}

func drawScalar(t *rapid.T, v reflect.Value, texts *rapid.Generator[string]) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts.Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int8, reflect.Int32, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int") >> (64 - v.Type().Bits()))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "uint") >> (64 - v.Type().Bits()))
	case reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, "float"))
	default:
		t.Fatalf("a record has a field of kind %s, which this test cannot fill", v.Kind())
	}
}

// anyText has bytes that are no UTF-8, and lengths around the threshold of compression.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.Just(""),
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.IntRange(400, 3000), func(n int) string { return strings.Repeat("abc ", n/4) }),
	)
}

// roundTrips checks one kind of record: exact both ways, the same bytes each time, and readable by the generated code.
func roundTrips[T any](t *testing.T, name string, encode func(*Codec, *T) []byte, decode func(*Codec, []byte) (T, error),
	message func() proto.Message,
) {
	c := New()
	t.Run(name, func(t *testing.T) {
		proptest.Check(t, func(rt *rapid.T) {
			var want T
			draw(rt, reflect.ValueOf(&want).Elem(), anyText())
			value := encode(c, &want)
			got, err := decode(c, bytes.Clone(value))
			if err != nil {
				rt.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatal(diff)
			}
			if !bytes.Equal(encode(New(), &got), value) {
				rt.Fatal("the same record has other bytes")
			}
		})
	})
	t.Run(name+"IsProtobuf", func(t *testing.T) {
		proptest.Check(t, func(rt *rapid.T) {
			var want T
			draw(rt, reflect.ValueOf(&want).Elem(), rapid.String())
			value := encode(c, &want)
			payload, _, err := c.open(kind(value[5]), value)
			if err != nil {
				rt.Fatal(err)
			}
			m := message()
			if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(payload, m); err != nil {
				rt.Fatal(err)
			}
			again, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
			if err != nil {
				rt.Fatal(err)
			}
			if !bytes.Equal(again, payload) {
				rt.Fatalf("the generated code reads and writes\n%x\nfor\n%x", again, payload)
			}
		})
	})
}

func TestCodec_Records_RoundTrip(t *testing.T) {
	roundTrips(t, "Message", (*Codec).EncodeMessage, (*Codec).DecodeMessage, func() proto.Message { return new(recordpb.Message) })
	roundTrips(t, "Edit", (*Codec).EncodeEdit, (*Codec).DecodeEdit, func() proto.Message { return new(recordpb.Edit) })
	roundTrips(t, "Manifest", (*Codec).EncodeManifest, (*Codec).DecodeManifest, func() proto.Message { return new(recordpb.Manifest) })
	roundTrips(t, "Head", (*Codec).EncodeHead, (*Codec).DecodeHead, func() proto.Message { return new(recordpb.Head) })
	roundTrips(t, "Info", (*Codec).EncodeInfo, (*Codec).DecodeInfo, func() proto.Message { return new(recordpb.Info) })
	roundTrips(t, "Outcome", (*Codec).EncodeOutcome, (*Codec).DecodeOutcome, func() proto.Message { return new(recordpb.Outcome) })
	roundTrips(t, "Task", (*Codec).EncodeTask, (*Codec).DecodeTask, func() proto.Message { return new(recordpb.Task) })
	roundTrips(t, "Link", func(c *Codec, id *conversation.ID) []byte { return c.EncodeLink(*id) }, (*Codec).DecodeLink,
		func() proto.Message { return new(recordpb.Link) })
}

func TestCodec_Bytes_RoundTrip(t *testing.T) {
	c := New()
	for _, n := range []int{0, 1, compressFrom - 1, compressFrom, store.ChunkBytes, 5 << 20} {
		for _, data := range [][]byte{bytes.Repeat([]byte("ab"), n)[:n], noise(n)} {
			got, err := c.DecodeChunk(c.EncodeChunk(data))
			if err != nil || !bytes.Equal(got, data) || got == nil {
				t.Fatalf("%d bytes: %v", n, err)
			}
			got, err = c.DecodeSlot(c.EncodeSlot(data))
			if err != nil || !bytes.Equal(got, data) || got == nil {
				t.Fatalf("%d bytes: %v", n, err)
			}
		}
	}
}

func noise(n int) []byte {
	out := make([]byte, n)
	x := uint64(1)
	for i := range out {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		out[i] = byte(x)
	}
	return out
}

func TestCodec_Compression_OnlyWhereItPays(t *testing.T) {
	c := New()
	for _, tc := range []struct {
		data []byte
		flag byte
	}{
		{bytes.Repeat([]byte("a"), compressFrom-1), 0},
		{bytes.Repeat([]byte("a"), compressFrom), flagZstd},
		{noise(4096), 0},
	} {
		if value := c.EncodeChunk(tc.data); value[6] != tc.flag {
			t.Errorf("%d bytes: flags %d, wanted %d", len(tc.data), value[6], tc.flag)
		}
	}
}

// TestCodec_Compression_SameBytesFromUsedCompressors: what a compressor saw before must not show.
func TestCodec_Compression_SameBytesFromUsedCompressors(t *testing.T) {
	used := New()
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			data := bytes.Repeat(fmt.Appendf(nil, "line %d of many; ", i), 100+i)
			if !bytes.Equal(used.EncodeChunk(data), New().EncodeChunk(data)) {
				t.Error("other bytes")
			}
		})
	}
	wg.Wait()
}

// TestCodec_Damage_IsAlwaysFound flips each bit, and cuts at each length.
func TestCodec_Damage_IsAlwaysFound(t *testing.T) {
	c := New()
	for name, sample := range samples() {
		value := sample.encode(c)
		for i := range len(value) * 8 {
			broken := bytes.Clone(value)
			broken[i/8] ^= 1 << (i % 8)
			if _, err := sample.decode(c, broken); !errors.Is(err, store.ErrCorrupt) {
				t.Fatalf("%s with bit %d flipped: %v", name, i, err)
			}
		}
		for n := range value {
			if _, err := sample.decode(c, value[:n]); !errors.Is(err, store.ErrCorrupt) {
				t.Fatalf("%s cut to %d bytes: %v", name, n, err)
			}
		}
	}
}

// TestCodec_ForeignValues_AreRefused: good checksums over what is not ours to read.
func TestCodec_ForeignValues_AreRefused(t *testing.T) {
	c := New()
	for name, value := range map[string][]byte{
		"encrypted":          finish(append(make([]byte, headerBytes), "sealed"...), kindHead, flagEncrypted),
		"unknown flag":       finish(make([]byte, headerBytes), kindHead, 1<<7),
		"another kind":       finish(make([]byte, headerBytes), kindEdit, 0),
		"not zstd":           finish(append(make([]byte, headerBytes), "plain"...), kindHead, flagZstd),
		"not protobuf":       finish(append(make([]byte, headerBytes), 0xff), kindHead, 0),
		"a short id":         finish(append(make([]byte, headerBytes), 1<<3|2, 3, 1, 2, 3), kindHead, 0),
		"a wrong wire type":  finish(append(make([]byte, headerBytes), 2<<3|2, 1, 7), kindHead, 0),
		"an impossible time": finish(append(make([]byte, headerBytes), 0x9a, 1, 6, 2<<3, 0xff, 0xff, 0xff, 0xff, 0x0f), kindHead, 0),
	} {
		if _, err := c.DecodeHead(value); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCodec_UnknownFields_AreSkipped: an older version reads what a newer one wrote.
func TestCodec_UnknownFields_AreSkipped(t *testing.T) {
	b := appendUint(nil, 2, 7)
	b = appendText(b, 1000, "from the future")
	b = appendFloat(b, 1001, 3)
	b = appendUint(b, 1002, 9)
	h, err := New().DecodeHead(New().seal(kindHead, b))
	if err != nil || h.Version != 7 {
		t.Fatalf("version %d: %v", h.Version, err)
	}
}

func FuzzCodec_Decode(f *testing.F) {
	c := New()
	for _, sample := range samples() {
		value := sample.encode(c)
		f.Add(value[5], value[6], value[headerBytes:])
	}
	f.Fuzz(func(t *testing.T, k, flags byte, payload []byte) {
		value := finish(append(make([]byte, headerBytes), payload...), kind(k), flags)
		for name, sample := range samples() {
			if _, err := sample.decode(c, value); err != nil && !errors.Is(err, store.ErrCorrupt) {
				t.Fatalf("%s: %v", name, err)
			}
			if _, err := sample.decode(c, payload); err != nil && !errors.Is(err, store.ErrCorrupt) {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
}
