package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/access"
)

// tokenCommand is `sidecar token`.
type tokenCommand struct {
	Name      string        `help:"Name of the entry, for people and logs." required:"" placeholder:"NAME"`
	Namespace string        `help:"The namespace that the token opens." required:"" placeholder:"NAME"`
	Role      string        `help:"agent reads and writes conversations, operator configures the namespace too." enum:"agent,operator" default:"agent"`
	Actors    []string      `help:"The actors whose conversations alone an agent sees and creates. Repeatable; all, if none is named." name:"actor" placeholder:"ACTOR"`
	ExpiresIn time.Duration `help:"How long the token holds, such as 2160h; for ever, if it is not set." placeholder:"DURATION"`
	Out       string        `help:"The file that the token is written to, which must not be there yet: nobody but its owner can read it." required:"" type:"path" placeholder:"FILE"`
}

// Run makes a token, and prints what the file of credentials says of it.
func (c *tokenCommand) Run(line *commandLine) error {
	if c.ExpiresIn < 0 {
		return usageError{errors.New("--expires-in must be 0 or more")}
	}
	token := access.NewToken()
	text, err := access.Entry(token, access.Caller{Credential: c.Name, Namespace: c.Namespace, Role: access.Role(c.Role), Actors: c.Actors}, c.expiry())
	if err != nil {
		return usageError{err}
	}
	if err := writeNew(c.Out, token+"\n"); err != nil {
		return err
	}
	_, err = line.stdout.Write(text)
	return err
}

func (c *tokenCommand) expiry() time.Time {
	if c.ExpiresIn == 0 {
		return time.Time{}
	}
	return time.Now().Add(c.ExpiresIn).UTC().Truncate(time.Second)
}

func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usageError{fmt.Errorf("--out %s: there is a file of this name", path)}
	}
	if err != nil {
		return fmt.Errorf("--out %s: %s", path, refusalOf(err))
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
