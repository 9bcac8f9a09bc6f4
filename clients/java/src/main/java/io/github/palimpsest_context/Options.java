package io.github.palimpsest_context;

import io.grpc.ChannelCredentials;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Choices for a client. Each method changes and returns the same object. */
public final class Options {
  String token = "";
  Duration timeout = Duration.ofSeconds(10);
  ChannelCredentials credentials; // null for none
  String binary = "";
  Path dataDir; // null for memory
  List<String> arguments = List.of();
  boolean tcp;

  /** Sends a token with each call. Beyond this machine it takes TLS. */
  public Options token(String token) {
    this.token = token;
    return this;
  }

  /** The deadline of a call, all tries together; 10 s by default. */
  public Options timeout(Duration timeout) {
    this.timeout = timeout;
    return this;
  }

  /** gRPC's own credentials, such as {@code TlsChannelCredentials.create()}. */
  public Options credentials(ChannelCredentials credentials) {
    this.credentials = credentials;
    return this;
  }

  /** The binary that {@code local} starts. By default it is that of PALIMPSEST_BINARY, or palimpsest or sidecar on PATH. */
  public Options binary(String path) {
    this.binary = path;
    return this;
  }

  /** Has {@code local} keep conversations in a folder. By default they are gone with the process. */
  public Options dataDir(Path folder) {
    this.dataDir = folder;
    return this;
  }

  /** Further arguments of {@code sidecar serve} for {@code local}. */
  public Options arguments(String... arguments) {
    this.arguments = List.of(arguments);
    return this;
  }

  /** Has {@code local} speak over loopback with a token of its own, as it does by itself where Java has no Unix sockets for gRPC. */
  public Options tcp() {
    this.tcp = true;
    return this;
  }
}
