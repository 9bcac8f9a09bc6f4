package io.github.palimpsest_context;

import io.github.palimpsest_context.v1.Conversation.Builder;
import io.github.palimpsest_context.v1.Policy;
import io.grpc.CallOptions;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A sidecar, over one channel: keep it for the life of the process. It is safe for concurrent use. */
public final class Palimpsest implements AutoCloseable {
  static final int LARGEST_REPLY = 64 << 20; // as many bytes as a sidecar answers with at most

  private static final long FIRST_PAUSE = 50; // milliseconds
  private static final long LONGEST_PAUSE = 1000;
  private static final Metadata.Key<String> VERSION = Metadata.Key.of("palimpsest-version", Metadata.ASCII_STRING_MARSHALLER);
  private static final Pattern RELEASE = Pattern.compile("^v?(\\d+)\\.(\\d+)\\.(\\d+).*");
  private static final byte[] SERVING = {8, 1};

  private final Transport transport;
  private final Duration timeout;
  private final LocalSidecar local; // null if the sidecar is somebody else's
  private final String version;
  private boolean greeted;

  private Palimpsest(Transport transport, Duration timeout, LocalSidecar local, String version) {
    this.transport = transport;
    this.timeout = timeout;
    this.local = local;
    this.version = version;
  }

  /** A client of the sidecar at host:port, or unix:///path on Linux. It connects with the first call. */
  public static Palimpsest connect(String address) {
    return connect(address, new Options());
  }

  public static Palimpsest connect(String address, Options options) {
    return connect(address, options, resource("version").trim());
  }

  static Palimpsest connect(String address, Options options, String version) {
    return new Palimpsest(Transport.to(address, options), options.timeout, null, version);
  }

  /** Starts a sidecar for this program alone, and waits until it serves. {@link #close} ends it. */
  public static Palimpsest local() {
    return local(new Options());
  }

  public static Palimpsest local(Options options) {
    LocalSidecar started = new LocalSidecar(options);
    try {
      Options chosen = new Options().timeout(options.timeout).token(started.token);
      Transport transport = Transport.to(address(started, options.timeout), chosen);
      Palimpsest client = new Palimpsest(transport, options.timeout, started, resource("version").trim());
      client.greet();
      return client;
    } catch (RuntimeException failure) {
      started.close();
      throw failure;
    }
  }

  private static String address(LocalSidecar started, Duration timeout) {
    for (long end = System.nanoTime() + timeout.toNanos(); System.nanoTime() < end; sleep(5)) {
      String address = started.address();
      if (address != null) {
        return address;
      }
    }
    throw new LocalSidecarException("the sidecar does not listen after " + timeout, null);
  }

  /** The conversation with an id. It makes no call. */
  public Conversation conversation(String id) {
    return new Conversation(this, id, null);
  }

  /** The same with a policy: the first call creates the conversation, unless it is there. */
  public Conversation conversation(String id, Policy policy) {
    return conversation(id, io.github.palimpsest_context.v1.Conversation.newBuilder().setPolicy(policy));
  }

  /** The same with whatever else the API's message has, such as an actor. */
  public Conversation conversation(String id, Builder settings) {
    return new Conversation(this, id, settings.setId(id).build());
  }

  /** The definitions of the tools by which a model gets text back, a JSON array, for loops that offer them themselves. */
  public static String tools(Format format, boolean memory) {
    return resource("tools/" + format.tools + (memory ? "_memory" : "") + ".json");
  }

  /** The generated stubs. */
  public Stubs raw() {
    return new Stubs(transport.channel);
  }

  /** Closes the channel, and ends the sidecar that {@link #local} started. */
  @Override
  public void close() {
    transport.close();
    if (local != null) {
      local.close();
    }
  }

  /** The process that {@link #local} started; 0 if the sidecar is somebody else's. */
  public long pid() {
    return local == null ? 0 : local.pid();
  }

  /** Makes a call, and again while that may help, within one deadline. A request that changes something carries a request id. */
  <R> R call(Function<Stubs, R> call) {
    greet();
    return attempts(call);
  }

  private <R> R attempts(Function<Stubs, R> call) {
    long end = System.nanoTime() + timeout.toNanos();
    for (long pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      PalimpsestException failed;
      try {
        return call.apply(new Stubs(ClientInterceptors.intercept(transport.channel, new Defaults("", left(end)))));
      } catch (StatusRuntimeException failure) {
        failed = PalimpsestException.of(failure);
      } catch (PalimpsestException failure) {
        failed = failure;
      }
      long jittered = (long) (pause * ThreadLocalRandom.current().nextDouble(0.5, 1));
      if (!failed.passing() || left(end).toMillis() <= jittered) {
        throw failed;
      }
      sleep(jittered);
      transport.connectAnew();
    }
  }

  private static Duration left(long end) {
    return Duration.ofNanos(Math.max(end - System.nanoTime(), TimeUnit.MILLISECONDS.toNanos(1)));
  }

  private static void sleep(long milliseconds) {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new PalimpsestException(Status.Code.CANCELLED, "CANCELLED: the thread was interrupted", interrupted);
    }
  }

  /** Waits until the sidecar serves, and refuses one that is older than the package. Once it has done so it does nothing. */
  private synchronized void greet() {
    if (greeted) {
      return;
    }
    AtomicReference<Metadata> headers = new AtomicReference<>();
    byte[] answer = attempts(stubs -> health(stubs, headers));
    String theirs = headers.get() == null ? null : headers.get().get(VERSION);
    if (theirs != null && older(theirs, version)) {
      throw new OlderSidecarException(theirs, version);
    }
    greeted = answer.length > 0;
  }

  /** Asks gRPC's health service, whose messages are too small for stubs. */
  private static byte[] health(Stubs stubs, AtomicReference<Metadata> headers) {
    MethodDescriptor<byte[], byte[]> check =
        MethodDescriptor.newBuilder(Bytes.MARSHALLER, Bytes.MARSHALLER)
            .setType(MethodDescriptor.MethodType.UNARY).setFullMethodName("grpc.health.v1.Health/Check").build();
    byte[] answer =
        ClientCalls.blockingUnaryCall(
            ClientInterceptors.intercept(stubs.channel(), MetadataUtils.newCaptureMetadataInterceptor(headers, new AtomicReference<>())),
            check, CallOptions.DEFAULT, new byte[0]);
    if (!Arrays.equals(answer, SERVING)) {
      throw new PalimpsestException(Status.Code.UNAVAILABLE, "UNAVAILABLE: the sidecar does not serve", null);
    }
    return answer;
  }

  /** Whether a release is older than another. What is no release cannot be compared. */
  static boolean older(String version, String than) {
    Matcher theirs = RELEASE.matcher(version);
    Matcher ours = RELEASE.matcher(than);
    if (!theirs.matches() || !ours.matches()) {
      return false;
    }
    for (int i = 1; i <= 3; i++) {
      int order = Integer.compare(Integer.parseInt(theirs.group(i)), Integer.parseInt(ours.group(i)));
      if (order != 0) {
        return order < 0;
      }
    }
    return false;
  }

  private static String resource(String name) {
    try (InputStream in = Palimpsest.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** Messages as bytes. */
  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    static final Bytes MARSHALLER = new Bytes();

    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException unreadable) {
        throw new UncheckedIOException(unreadable);
      }
    }
  }
}
