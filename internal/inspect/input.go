package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// stdin is how a command line names standard input.
const stdin = "-"

// errLatest is the error of naming a conversation by @latest where a mistake would cost one.
var errLatest = errors.New("write the conversation's id out: @latest may be another one by now")

// writtenOut refuses @latest.
func writtenOut(conversation string) error {
	if conversation == latest {
		return errLatest
	}
	return nil
}

// open opens a file, or standard input.
func (e *Env) open(name string) (io.ReadCloser, error) {
	if name == stdin {
		return io.NopCloser(e.Stdin), nil
	}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s", name)
	}
	return file, err
}

// source is how errors name what was read.
func source(name string) string {
	if name == stdin {
		return "standard input"
	}
	return name
}

// read reads a file, or standard input, to its end.
func (e *Env) read(name string) ([]byte, error) {
	file, err := e.open(name)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(file)
	return raw, errors.Join(err, file.Close())
}

// object reads the JSON of one of the API's messages, which errors call what it is.
func (e *Env) object(name, what string, m proto.Message) error {
	raw, err := e.read(name)
	if err != nil {
		return err
	}
	if err := jsonFault(protojson.Unmarshal(raw, m)); err != nil {
		return fmt.Errorf("%s is no %s: %w", source(name), what, err)
	}
	return nil
}

// text is a text of the command line, or what stands on standard input in its place.
func (e *Env) text(given string) (string, error) {
	if given != stdin {
		return given, nil
	}
	raw, err := e.read(stdin)
	return string(raw), err
}

// messages reads the JSON of messages: one object after another, or a list of them.
func (e *Env) messages(name string) ([]*pb.Message, error) {
	raw, err := e.read(name)
	if err != nil {
		return nil, err
	}
	var objects []json.RawMessage
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		if err := json.Unmarshal(raw, &objects); err != nil {
			return nil, fmt.Errorf("%s is no JSON: %w", source(name), err)
		}
	} else if objects, err = sequence(raw); err != nil {
		return nil, fmt.Errorf("%s is no JSON: %w", source(name), err)
	}
	messages := make([]*pb.Message, len(objects))
	for i, object := range objects {
		if messages[i], err = messageOf(object); err != nil {
			return nil, fmt.Errorf("%s, message %d: %w", source(name), i+1, err)
		}
	}
	if len(messages) == 0 {
		return nil, fmt.Errorf("%s holds no message", source(name))
	}
	return messages, nil
}

func sequence(raw []byte) (objects []json.RawMessage, err error) {
	for decoder := json.NewDecoder(bytes.NewReader(raw)); ; {
		var object json.RawMessage
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
}

// messageOf reads a message as protobuf maps it to JSON, or in its short form: {"role": "user", "text": "..."}.
func messageOf(raw json.RawMessage) (*pb.Message, error) {
	var short map[string]json.RawMessage
	if err := json.Unmarshal(raw, &short); err != nil {
		return nil, errors.New(`it must be an object, such as {"role": "user", "text": "..."}`)
	}
	var role, words string
	if json.Unmarshal(short["role"], &role) == nil && roles[role] != 0 {
		short["role"] = json.RawMessage(`"` + roles[role].String() + `"`)
	}
	said, ok := short["text"]
	if ok && json.Unmarshal(said, &words) != nil {
		return nil, errors.New("text must be a string")
	}
	delete(short, "text")
	m := &pb.Message{}
	if err := unmarshal(short, m); err != nil {
		return nil, err
	}
	if ok {
		m.Parts = append([]*pb.Part{{Content: &pb.Part_Text{Text: words}}}, m.GetParts()...)
	}
	return m, nil
}

func unmarshal(fields map[string]json.RawMessage, m *pb.Message) error {
	raw, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	if err := jsonFault(protojson.Unmarshal(raw, m)); err != nil {
		if _, what, ok := strings.Cut(err.Error(), "): "); ok { // behind the place, which is that in what was made of the caller's JSON
			return errors.New(what)
		}
		return err
	}
	return nil
}

// jsonFault is what protojson says, without its package's name, which it writes with spaces that differ from build to build.
func jsonFault(err error) error {
	if err == nil {
		return nil
	}
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	return errors.New(sheet.Plain(strings.TrimPrefix(text, "proto: "), maxErrorBytes, false))
}
