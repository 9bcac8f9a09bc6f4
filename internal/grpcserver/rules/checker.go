package rules

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// maxViolations bounds what one request can make the server remember; the rest is counted.
const maxViolations = 256

// Checker gathers the faults of one request. It knows where in the request it is, and writes the path out only for a fault.
type Checker struct {
	path  []step
	found []conversation.Violation
	more  int
}

// step is a field, or an element of the list before it.
type step struct {
	field string
	index int
}

// Enter steps into a field.
func (c *Checker) Enter(field string) { c.path = append(c.path, step{field: field}) }

// Element steps into an element of a list.
func (c *Checker) Element(i int) { c.path = append(c.path, step{index: i}) }

// Leave steps back out.
func (c *Checker) Leave() { c.path = c.path[:len(c.path)-1] }

// Fail notes a fault of the field the checker is at. The text never holds the value.
func (c *Checker) Fail(format string, args ...any) {
	if len(c.found) == maxViolations {
		c.more++
		return
	}
	c.found = append(c.found, conversation.Violation{Field: c.at(), Text: fmt.Sprintf(format, args...)})
}

// FailIn notes a fault of a field below the one the checker is at.
func (c *Checker) FailIn(field, text string) {
	c.Enter(field)
	c.Fail("%s", text)
	c.Leave()
}

func (c *Checker) at() string {
	var b strings.Builder
	for i, s := range c.path {
		switch {
		case s.field == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case i > 0:
			b.WriteString("." + s.field)
		default:
			b.WriteString(s.field)
		}
	}
	return b.String()
}

// Err is nil if nothing was found.
func (c *Checker) Err() error {
	if len(c.found) == 0 {
		return nil
	}
	e := conversation.Errorf(conversation.InvalidField, "the request breaks the rules of its fields")
	e.Violations = c.found
	if c.more > 0 {
		e.Violations = append(e.Violations, andMore(c.more))
	}
	return e
}

func andMore(n int) conversation.Violation {
	return conversation.Violation{Text: fmt.Sprintf("and %d more", n)}
}

// Violation makes the error of a single fault that is found outside the tables.
func Violation(field, format string, args ...any) error {
	e := conversation.Errorf(conversation.InvalidField, "the request breaks the rules of its fields")
	e.Violations = []conversation.Violation{{Field: field, Text: fmt.Sprintf(format, args...)}}
	return e
}
