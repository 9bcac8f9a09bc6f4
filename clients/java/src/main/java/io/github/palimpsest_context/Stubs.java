package io.github.palimpsest_context;

import io.github.palimpsest_context.v1.ContentServiceGrpc;
import io.github.palimpsest_context.v1.ContextServiceGrpc;
import io.github.palimpsest_context.v1.ConversationServiceGrpc;
import io.github.palimpsest_context.v1.MemoryServiceGrpc;
import io.github.palimpsest_context.v1.PolicyServiceGrpc;
import io.grpc.Channel;

/** The generated stubs, for all that has no shorter form. The token goes with each call, and the deadline where one has none. Nothing is tried again. */
public final class Stubs {
  private final Channel channel;

  Stubs(Channel channel) {
    this.channel = channel;
  }

  /** The channel, for stubs of other kinds. */
  public Channel channel() {
    return channel;
  }

  public ContextServiceGrpc.ContextServiceBlockingStub context() {
    return ContextServiceGrpc.newBlockingStub(channel);
  }

  public ConversationServiceGrpc.ConversationServiceBlockingStub conversations() {
    return ConversationServiceGrpc.newBlockingStub(channel);
  }

  public ContentServiceGrpc.ContentServiceBlockingStub contents() {
    return ContentServiceGrpc.newBlockingStub(channel);
  }

  public MemoryServiceGrpc.MemoryServiceBlockingStub memories() {
    return MemoryServiceGrpc.newBlockingStub(channel);
  }

  public PolicyServiceGrpc.PolicyServiceBlockingStub policies() {
    return PolicyServiceGrpc.newBlockingStub(channel);
  }
}
