package io.github.palimpsest_context;

import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.TimeUnit;

/** A channel to an address: host:port, or unix:///path where Netty has a transport for it, which is on Linux. */
final class Transport implements AutoCloseable {
  private static final String UNIX = "unix://";
  private static final int PATIENCE_SECONDS = 5;

  final ManagedChannel channel;
  private final EventLoopGroup threads; // null over TCP, which has gRPC's own

  private Transport(ManagedChannel channel, EventLoopGroup threads) {
    this.channel = channel;
    this.threads = threads;
  }

  static Transport to(String address, Options options) {
    if (address.startsWith(UNIX)) {
      return overUnix(address.substring(UNIX.length()), options);
    }
    if (!options.token.isEmpty() && options.credentials == null && !staysHere(address)) {
      throw new IllegalArgumentException("without TLS the token could be read along: choose credentials");
    }
    ChannelCredentials credentials = options.credentials == null ? InsecureChannelCredentials.create() : options.credentials;
    return new Transport(complete(NettyChannelBuilder.forTarget(address, credentials), options), null);
  }

  private static Transport overUnix(String path, Options options) {
    if (!hasUnix()) {
      throw new IllegalArgumentException("there is no transport for Unix sockets here: use host:port");
    }
    // A daemon, so that a program ends without waiting for it.
    EventLoopGroup threads = new EpollEventLoopGroup(1, new DefaultThreadFactory("palimpsest", true));
    NettyChannelBuilder builder =
        NettyChannelBuilder.forAddress(new DomainSocketAddress(path), InsecureChannelCredentials.create())
            .channelType(EpollDomainSocketChannel.class)
            .eventLoopGroup(threads)
            .withOption(ChannelOption.SO_KEEPALIVE, null); // that is TCP's
    return new Transport(complete(builder, options), threads);
  }

  private static ManagedChannel complete(NettyChannelBuilder builder, Options options) {
    return builder.maxInboundMessageSize(Palimpsest.LARGEST_REPLY).proxyDetector(address -> null)
        .intercept(new Defaults(options.token, options.timeout)).build();
  }

  static boolean hasUnix() {
    return Epoll.isAvailable();
  }

  /** Whether what is sent to an address stays on this machine. */
  static boolean staysHere(String address) {
    return address.matches("(localhost|127(\\.\\d{1,3}){3}|\\[::1\\]):\\d+");
  }

  /** Forgets that the sidecar was not there: the next try connects at once. */
  void connectAnew() {
    channel.resetConnectBackoff();
  }

  @Override
  public void close() {
    channel.shutdownNow();
    try {
      channel.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    if (threads != null) {
      threads.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
  }
}
