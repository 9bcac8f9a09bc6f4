// Package record is the codec of everything that stores keep: typed records to bytes and back, above all back ends, so that
// the same records are the same bytes on each of them.
//
// Every stored value is one envelope:
//
//	format version (1 byte) | CRC32C of all the rest (4, little endian) | kind (1) | flags (1) | payload
//
// The payload is a message of recordpb/record.proto, or the bytes of a slot or a chunk as they are; compressed with zstd if
// the flags say so. The codec writes and reads the protobuf wire format by hand: an append encodes a message and a head and
// decodes a head, and the generated code takes several times as long for it. A message's fields are named
// once, for writing and for reading (fields.go).
package record
