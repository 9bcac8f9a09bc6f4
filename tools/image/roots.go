package main

import (
	"bytes"
	"encoding/pem"
	"errors"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// rootCertificates are Mozilla's, as the module of this tool pins them: a machine's own bundle would make the digest depend on the
// machine. Linked into the binary instead, every start of it would read them, and nobody could mount others over them.
// A root with constraints that a file cannot hold is left out.
func rootCertificates() ([]byte, error) {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	if out.Len() == 0 {
		return nil, errors.New("the bundle of root certificates is empty")
	}
	return out.Bytes(), nil
}
