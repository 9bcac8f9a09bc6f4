package security

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/command"
	"github.com/palimpsest-context/palimpsest/internal/access"
)

// TokenCommand is `sidecar token`.
type TokenCommand struct {
	Name      string        `help:"Name of the entry, for people and logs." required:"" placeholder:"NAME"`
	Namespace string        `help:"The namespace that the token opens." required:"" placeholder:"NAME"`
	Role      string        `help:"agent reads and writes conversations, operator configures the namespace too." enum:"agent,operator" default:"agent"`
	Actors    []string      `help:"Actors whose conversations alone an agent sees and creates; by default all. Repeatable." name:"actor" placeholder:"ACTOR"`
	ExpiresIn time.Duration `help:"How long the token is valid, such as 2160h; by default forever." placeholder:"DURATION"`
	AddTo     string        `help:"File of credentials that gets the entry, made if it is missing; by default the entry is printed." type:"path" placeholder:"FILE"`
	Out       string        `help:"New file for the token, which its owner alone can read." required:"" type:"path" placeholder:"FILE"`
}

// Run makes a token, and adds what is kept of it to the file of credentials, or prints it.
func (c *TokenCommand) Run(out *command.Output) error {
	if c.Out == c.AddTo {
		return command.Usage(errors.New("--out and --add-to name the same file"))
	}
	if c.ExpiresIn < 0 {
		return command.Usage(errors.New("--expires-in must be 0 or more"))
	}
	token := access.NewToken()
	before, err := c.readCredentials()
	if err != nil {
		return command.Usage(fmt.Errorf("--add-to: %w", err))
	}
	caller := access.Caller{Credential: c.Name, Namespace: c.Namespace, Role: access.Role(c.Role), Actors: c.Actors}
	text, err := access.AddToken(before, token, caller, c.expiry())
	if err != nil {
		return command.Usage(err)
	}
	if err := writeNew(c.Out, token+"\n"); err != nil {
		return err
	}
	if err := c.add(text, out.Stdout); err != nil {
		return errors.Join(err, os.Remove(c.Out)) // it opens nothing, and would be in the way of the next try
	}
	return nil
}

// add puts the entry into the file of credentials, or prints it.
func (c *TokenCommand) add(text []byte, stdout io.Writer) error {
	if c.AddTo == "" {
		_, err := stdout.Write(text)
		return err
	}
	if err := replaceFile(c.AddTo, text); err != nil {
		return fmt.Errorf("--add-to: %w", err)
	}
	return nil
}

func (c *TokenCommand) readCredentials() ([]byte, error) {
	if c.AddTo == "" {
		return nil, nil
	}
	b, err := os.ReadFile(c.AddTo)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// replaceFile puts a new file in the place of another at once, since a sidecar may be reading it, with the other's owner, group and mode:
// the sidecar may be another user. Where a link leads to the file, the link stays.
func replaceFile(path string, text []byte) error {
	if _, err := os.Lstat(path); err == nil {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if former, missing := os.Stat(path); missing == nil {
		err = errors.Join(err, keepOwner(f, former), f.Chmod(former.Mode().Perm()))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func (c *TokenCommand) expiry() time.Time {
	if c.ExpiresIn == 0 {
		return time.Time{}
	}
	return time.Now().Add(c.ExpiresIn).UTC().Truncate(time.Second)
}

func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return command.Usage(fmt.Errorf("--out %s: there is a file of this name", path))
	}
	if err != nil {
		return fmt.Errorf("--out %s: %s", path, command.Refusal(err))
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
