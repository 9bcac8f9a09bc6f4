package main

import (
	"context"
	"errors"
	"os"

	"go.uber.org/zap"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
)

// startPrivate starts a sidecar for a command's own use: on a free port, in a temporary folder that stop removes.
func startPrivate(ctx context.Context) (address string, stop func(), err error) {
	folder, err := os.MkdirTemp("", "palimpsest-")
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ready, ended := make(chan string, 1), make(chan error, 1)
	p := &program{log: zap.NewNop(), ready: func(addresses []string) { ready <- addresses[0] }}
	go func() { ended <- p.Run(ctx, config.Private(folder)) }()
	select {
	case address := <-ready:
		return address, func() {
			cancel()
			<-ended //nolint:errcheck // its caller wants the folder gone, however it ended
			_ = os.RemoveAll(folder)
		}, nil
	case err := <-ended:
		cancel()
		return "", nil, errors.Join(err, os.RemoveAll(folder))
	}
}
