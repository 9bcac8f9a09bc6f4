package io.github.palimpsest_context;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** What goes with each call: the token, and a deadline where the call has none and an end of its own. */
final class Defaults implements ClientInterceptor {
  private static final Metadata.Key<String> AUTHORIZATION = Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final String token;
  private final Duration timeout;

  Defaults(String token, Duration timeout) {
    this.token = token;
    this.timeout = timeout;
  }

  @Override
  public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
    boolean bare = options.getDeadline() == null && method.getType() == MethodDescriptor.MethodType.UNARY;
    CallOptions chosen = bare ? options.withDeadlineAfter(timeout.toMillis(), TimeUnit.MILLISECONDS) : options;
    return new SimpleForwardingClientCall<Q, R>(next.newCall(method, chosen)) {
      @Override
      public void start(Listener<R> listener, Metadata headers) {
        if (!token.isEmpty()) {
          headers.put(AUTHORIZATION, "Bearer " + token);
        }
        super.start(listener, headers);
      }
    };
  }
}
