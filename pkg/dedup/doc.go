// Package dedup finds runs of lines of a text that stand verbatim in other texts, or further up in the text itself.
//
// Lines are compared by hash: who makes something of a run compares its bytes. The work is linear in the lines of all texts, whatever they
// hold.
package dedup
