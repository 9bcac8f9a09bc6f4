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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A sidecar, over one channel: keep it for the life of the process. It is safe for concurrent use. */
public final class Palimpsest implements AutoCloseable {
  static final int LARGEST_REPLY = 64 << 20; // as many bytes as a sidecar answers with at most
  static final Duration IMPATIENT = Duration.ofSeconds(1); // where a conversation goes on without the sidecar
  static final ExecutorService THREADS = Executors.newCachedThreadPool(Palimpsest::daemon);

  private static final long FIRST_PAUSE = 50; // milliseconds
  private static final long LONGEST_PAUSE = 1000;
  private static final Metadata.Key<String> VERSION = Metadata.Key.of("palimpsest-version", Metadata.ASCII_STRING_MARSHALLER);
  private static final Pattern RELEASE = Pattern.compile("^v?(\\d+)\\.(\\d+)\\.(\\d+).*");
  private static final byte[] SERVING = {8, 1};

  final Duration timeout;
  private final Transport transport;
  private final CountDownLatch closed = new CountDownLatch(1);
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

  /** The same with choices. */
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

  /** The same with choices. */
  public static Palimpsest local(Options options) {
    LocalSidecar started = new LocalSidecar(options);
    Palimpsest client = null;
    try {
      Options chosen = new Options().timeout(options.timeout).token(started.token);
      Transport transport = Transport.to(started.listening(options.timeout), chosen);
      client = new Palimpsest(transport, options.timeout, started, resource("version").trim());
      client.greet();
      return client;
    } catch (RuntimeException failure) {
      RuntimeException told = failure instanceof LocalSidecarException || failure instanceof OlderSidecarException ? failure : started.failed(failure);
      if (client != null) {
        client.close();
      }
      started.close();
      throw told;
    }
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

  /** Ends calls that are under way, at once, closes the channel, and ends the sidecar that {@link #local} started. */
  @Override
  public void close() {
    closed.countDown();
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
    return call(call, timeout);
  }

  /** The same, for no longer than its patience where the sidecar is away. */
  <R> R call(Function<Stubs, R> call, Duration patience) {
    greet(patience);
    return attempts(call, patience);
  }

  private <R> R attempts(Function<Stubs, R> call, Duration patience) {
    long begun = System.nanoTime();
    long end = begun + timeout.toNanos();
    for (long pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      PalimpsestException failed;
      try {
        return call.apply(new Stubs(ClientInterceptors.intercept(transport.channel, new Defaults("", left(end)))));
      } catch (StatusRuntimeException failure) {
        failed = PalimpsestException.of(failure);
      } catch (PalimpsestException failure) {
        failed = failure;
      }
      long wait = Math.max(failed.retryMillis(), (long) (pause * ThreadLocalRandom.current().nextDouble(0.5, 1)));
      long until = failed.code() == Status.Code.UNAVAILABLE ? Math.min(begun + patience.toNanos(), end) : end;
      if (!failed.passing() || left(until).toMillis() <= wait) {
        throw failed;
      }
      sleep(wait, failed);
      transport.connectAnew();
    }
  }

  private static Duration left(long end) {
    return Duration.ofNanos(Math.max(end - System.nanoTime(), TimeUnit.MILLISECONDS.toNanos(1)));
  }

  /** Waits, but no longer than until the client is closed. */
  private void sleep(long milliseconds, PalimpsestException failed) {
    try {
      if (closed.await(milliseconds, TimeUnit.MILLISECONDS)) {
        throw new PalimpsestException(Status.Code.CANCELLED, "CANCELLED: the client was closed", failed);
      }
    } catch (InterruptedException interrupted) {
      throw PalimpsestException.interrupted(interrupted);
    }
  }

  /** A thread that no program waits for. */
  static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "palimpsest");
    thread.setDaemon(true);
    return thread;
  }

  void greet() {
    greet(timeout);
  }

  /** Waits until the sidecar serves, and refuses one that is older than the package. Once it has done so it does nothing. */
  private synchronized void greet(Duration patience) {
    if (greeted) {
      return;
    }
    AtomicReference<Metadata> headers = new AtomicReference<>();
    byte[] answer = attempts(stubs -> health(stubs, headers), patience);
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
