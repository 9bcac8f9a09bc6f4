package main

import (
	"io"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/command"
)

const logFormatConsole = "console"

func newLogger(w io.Writer, level, format string) (*zap.Logger, error) {
	least, err := zapcore.ParseLevel(level)
	if err != nil {
		return nil, command.Usage(err)
	}
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	config.TimeKey = "time"
	encoder := zapcore.NewJSONEncoder(config)
	if format == logFormatConsole {
		encoder = zapcore.NewConsoleEncoder(config)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), least)), nil
}
