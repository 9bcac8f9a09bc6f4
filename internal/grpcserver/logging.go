package grpcserver

import (
	"context"
	"errors"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	grpclogging "github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/admission"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// logging returns interceptors that log one line for a finished call: its id, whose it is, method, code, reason, duration, the request's size,
// and its trace if there is one. Never a payload or a caller's text; and an error's words, which may name a call or a field, for debugging alone.
func logging(log *zap.Logger, traceID func(context.Context) string) (grpc.UnaryServerInterceptor, grpc.StreamServerInterceptor) {
	options := []grpclogging.Option{
		grpclogging.WithLogOnEvents(grpclogging.FinishCall),
		grpclogging.WithLevels(levelOf),
		grpclogging.WithErrorFields(func(err error) grpclogging.Fields { return grpclogging.Fields{"reason", ReasonOf(err)} }),
		grpclogging.WithFieldsFromContextAndCallMeta(requestSize),
		grpclogging.WithDurationField(func(d time.Duration) grpclogging.Fields {
			return grpclogging.Fields{"duration_ms", float64(d.Microseconds()) / 1000}
		}),
	}
	logger := grpclogging.LoggerFunc(func(ctx context.Context, level grpclogging.Level, text string, fields ...any) {
		if entry := log.Check(zapLevel(level), text); entry != nil {
			ids := identity(ctx, traceID)
			entry.Write(append(ids, zapFields(fields, log.Core().Enabled(zap.DebugLevel))...)...)
		}
	})
	return grpclogging.UnaryServerInterceptor(logger, options...), grpclogging.StreamServerInterceptor(logger, options...)
}

// identity is what a line is found by.
func identity(ctx context.Context, traceID func(context.Context) string) []zap.Field {
	out := []zap.Field{zap.String("request_id", requestID(ctx))}
	if call := CallOf(ctx); call != nil && call.Caller.Credential != "" {
		out = append(out, zap.String("namespace", call.Caller.Namespace), zap.String("credential", call.Caller.Credential))
	}
	if traceID == nil {
		return out
	}
	if id := traceID(ctx); id != "" {
		out = append(out, zap.String("trace_id", id))
	}
	return out
}

// levelOf: what works is not news, what the caller did wrong is information, what the server did wrong is an error.
func levelOf(code codes.Code) grpclogging.Level {
	switch code {
	case codes.OK:
		return grpclogging.LevelDebug
	case codes.Internal, codes.Unknown, codes.DataLoss, codes.Unavailable:
		return grpclogging.LevelError
	case codes.ResourceExhausted, codes.DeadlineExceeded:
		return grpclogging.LevelWarn
	default:
		return grpclogging.LevelInfo
	}
}

func zapLevel(l grpclogging.Level) zapcore.Level {
	switch {
	case l >= grpclogging.LevelError:
		return zapcore.ErrorLevel
	case l >= grpclogging.LevelWarn:
		return zapcore.WarnLevel
	case l >= grpclogging.LevelInfo:
		return zapcore.InfoLevel
	default:
		return zapcore.DebugLevel
	}
}

// zapFields keeps of the middleware's fields those that are worth a line's room.
func zapFields(fields []any, debugging bool) []zap.Field {
	out := make([]zap.Field, 0, len(fields)/2)
	for i := 0; i+1 < len(fields); i += 2 {
		if key, ok := fields[i].(string); ok && loggedAs(key) != "" && (debugging || key != errorField) {
			out = append(out, zap.Any(loggedAs(key), fields[i+1]))
		}
	}
	return out
}

// errorField is what the middleware calls an error's words.
const errorField = "grpc.error"

func loggedAs(key string) string {
	switch key {
	case grpclogging.ServiceFieldKey:
		return "service"
	case grpclogging.MethodFieldKey:
		return "method"
	case "grpc.code":
		return "code"
	case errorField:
		return "error"
	case "reason", "duration_ms", "request_bytes":
		return key
	default:
		return ""
	}
}

func requestSize(_ context.Context, c interceptors.CallMeta) grpclogging.Fields {
	if in, ok := c.ReqOrNil.(*admission.Exchange); ok {
		return grpclogging.Fields{"request_bytes", in.Bytes}
	}
	return nil
}

// causeOf is what the log says of an error that the caller must not see: the cause of a domain error, or the error itself.
func causeOf(err error) string {
	var e *conversation.Error
	if errors.As(err, &e) && e.Cause != nil {
		return e.Text + ": " + e.Cause.Error()
	}
	return err.Error()
}
