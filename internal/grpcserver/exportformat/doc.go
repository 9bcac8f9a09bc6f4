// Package exportformat reads and writes the exports of conversations: JSON lines, complete, and canonical, so that what was
// imported exports to the same bytes.
//
// The first line is {"palimpsest_export":1}. Each further line is an object with one key: conversation, state, message, edit,
// manifest, source, in this order, and end, which says how many there were: a file that was cut off is noticed. The chunks of a
// content follow its source, in base64; of what is a message's own, or is gone, there are none. Field names are those
// of the API's JSON where the API has the field; what it has not (ordinals, commits, what edits show) stands beside them. The
// conversation's id is not part of an export, so that one imported under another name is still the same bytes.
//
// The types of lines say how each record is spelled (lines.go, part_lines.go, policy_lines.go): a field is the record's of the same name, or
// of the path in its tag. A copier goes both ways by that; what it cannot do is in custom.go.
//
// An export says what its version knows: what a newer version wrote beside (Unknown of a record) is not in it. State travels as it is stored.
//
// An import is hostile input: lines are bounded, unknown fields are refused, and whatever refers to something is checked.
package exportformat
