package access

import (
	"bytes"
	"errors"
	"time"

	"go.yaml.in/yaml/v3"
)

// AddToken adds a token to a file of credentials, which may be empty, and leaves the rest of it as it is, comments too.
func AddToken(file []byte, token string, c Caller, expires time.Time) ([]byte, error) {
	var added, whole yaml.Node
	err := added.Encode([]tokenEntry{{
		entry:  entry{Name: c.Credential, Namespace: c.Namespace, Role: c.Role, Actors: c.Actors},
		SHA256: HashOf(token).String(), Expires: expires,
	}})
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(file)) == 0 {
		file = []byte("tokens: []")
	} else if _, err := Parse(file); err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal(file, &whole); err != nil {
		return nil, explain(err)
	}
	if err := appendTokens(&whole, &added); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&whole); err != nil {
		return nil, err
	}
	_, err = Parse(out.Bytes())
	return out.Bytes(), err
}

// appendTokens appends a list to the one under the key tokens.
func appendTokens(whole, added *yaml.Node) error {
	if whole.Kind != yaml.DocumentNode || len(whole.Content) == 0 || whole.Content[0].Kind != yaml.MappingNode {
		return errors.New("it is not the YAML of credentials")
	}
	root := whole.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		list := root.Content[i+1]
		if root.Content[i].Value != "tokens" {
			continue
		}
		if list.Kind != yaml.SequenceNode {
			return errors.New("tokens is not a list")
		}
		list.Style = 0
		list.Content = append(list.Content, added.Content...)
		return nil
	}
	root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "tokens"}, added)
	return nil
}
