package metrics

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// unknownMethod is where calls count of methods that are not known by name.
const unknownMethod = "unknown"

// calls counts RPCs.
type calls struct {
	call       func(context.Context) (string, int64)
	namespaces *namespaces
	methods    map[string]string // by their full names

	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight *prometheus.GaugeVec
	bytes    *prometheus.CounterVec
	streams  *prometheus.GaugeVec
}

func newCalls(f family, o *Options, n *namespaces) *calls {
	c := &calls{
		call: o.Call, namespaces: n, methods: map[string]string{},
		total: f.counter("rpc_calls_total", "Calls answered, by status code.", labelNamespace, labelMethod, labelCode),
		duration: f.histogram("rpc_duration_seconds", "Time from a call's beginning to its answer.",
			[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}, labelMethod),
		inFlight: f.gauge("rpc_in_flight", "Calls being answered, including watchers.", labelMethod),
		bytes:    f.counter("rpc_received_bytes_total", "Bytes of requests, as protobuf.", labelMethod),
		streams:  f.gauge("rpc_open_streams", "Open streaming calls, including watchers."),
	}
	for _, full := range o.Methods {
		c.methods[full] = shortName(full)
	}
	c.streams.WithLabelValues()
	return c
}

// shortName is a method with its service: `ContextService/BuildContext`.
func shortName(full string) string {
	service, method, _ := strings.Cut(strings.TrimPrefix(full, "/"), "/")
	return service[strings.LastIndex(service, ".")+1:] + "/" + method
}

// begin counts a call in, and end out.
func (c *calls) begin(full string) (end func(ctx context.Context, err error)) {
	method, known := c.methods[full]
	if !known {
		method = unknownMethod
	}
	inFlight, began := c.inFlight.WithLabelValues(method), time.Now()
	inFlight.Inc()
	return func(ctx context.Context, err error) {
		namespace, received := c.call(ctx)
		inFlight.Dec()
		c.duration.WithLabelValues(method).Observe(time.Since(began).Seconds())
		c.bytes.WithLabelValues(method).Add(float64(received))
		c.total.WithLabelValues(c.namespaces.label(namespace), method, codeOf(err)).Inc()
	}
}

// codeOf is the name of a status's code. Codes that gRPC does not know come from nowhere, and are no label.
func codeOf(err error) string {
	if code := status.Code(err); code <= codes.Unauthenticated {
		return code.String()
	}
	return codes.Unknown.String()
}

// Unary is an interceptor that counts calls.
func (m *Metrics) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (reply any, err error) {
	end := m.calls.begin(info.FullMethod)
	reply, err = handler(ctx, req)
	end(ctx, err)
	return reply, err
}

// Stream is an interceptor that counts calls.
func (m *Metrics) Stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	open := m.calls.streams.WithLabelValues()
	open.Inc()
	defer open.Dec()
	end := m.calls.begin(info.FullMethod)
	err := handler(srv, stream)
	end(stream.Context(), err)
	return err
}
