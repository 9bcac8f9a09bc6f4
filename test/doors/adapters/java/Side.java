import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.palimpsest_context.Conversation;
import io.github.palimpsest_context.OnUnavailable;
import io.github.palimpsest_context.Options;
import io.github.palimpsest_context.Palimpsest;
import java.io.File;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** One run of a scenario against a session of its own in the fakes: plain, or with the adapter and a sidecar. */
final class Side implements AutoCloseable {
  static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  static String thoughtless = ""; // the API over which the framework does not go on behind a reply with thoughts

  final String api;
  final String model;
  final String name;
  private final Sidecar sidecar; // null where the run is plain
  private final List<Side> others = new ArrayList<>();
  private Palimpsest palimpsest;
  boolean thinks; // the model, by its script

  Side(String api, Sidecar sidecar) {
    this(api, sidecar, "side-" + UUID.randomUUID());
    connect();
  }

  private Side(String api, Sidecar sidecar, String name) {
    this.api = api;
    this.model = api.equals("anthropic") ? "claude-haiku-4-5" : "gpt-6-sol";
    this.sidecar = sidecar;
    this.name = name;
  }

  /** Another model for this run, with a script and requests of its own, on the same sidecar. */
  Side beside(String suffix) {
    Side other = new Side(api, sidecar, name + "-" + suffix);
    other.palimpsest = palimpsest;
    others.add(other);
    return other;
  }

  boolean plain() {
    return sidecar == null;
  }

  /** The base of the provider's API. */
  String url() {
    return System.getenv("FAKES") + "/s/" + name;
  }

  /** The conversation of an id; while the sidecar is away the agent goes on. */
  Conversation conversation(String id) {
    return palimpsest.conversation(id).onUnavailable(OnUnavailable.PASS);
  }

  /** What the model answers from now on: text, thinking, calls (name and arguments), slow. */
  void script(String... answers) {
    for (int i = 0; i < answers.length && api.equals(thoughtless); i++) {
      answers[i] = answers[i].replaceAll("\"thinking\":\"[^\"]*\",?", "").replace(",}", "}");
    }
    thinks = !api.equals(thoughtless);
    asked("PUT", "?ids=n", "[" + String.join(",", answers) + "]");
  }

  /** The same with thoughts, whatever the API. */
  void thoughts(String... answers) {
    thinks = true;
    asked("PUT", "?ids=n", "[" + String.join(",", answers) + "]");
  }

  static String text(String text) {
    return "{\"text\":" + quoted(text) + ",\"thinking\":" + quoted("thought of " + text) + "}";
  }

  static String thought(String text, int thought) {
    return "{\"text\":" + quoted(text) + ",\"thinking\":\"thought " + thought + "\"}";
  }

  static String calls(String... namesAndArguments) {
    List<String> calls = new ArrayList<>();
    for (int i = 0; i < namesAndArguments.length; i += 2) {
      calls.add("{\"name\":\"" + namesAndArguments[i] + "\",\"arguments\":" + namesAndArguments[i + 1] + "}");
    }
    return "{\"thinking\":\"I look.\",\"calls\":[" + String.join(",", calls) + "]}";
  }

  private static String quoted(String text) {
    return JSON.getNodeFactory().textNode(text).toString();
  }

  /** What the provider was sent, model by model: path, body, faults. */
  List<JsonNode> requests() {
    List<JsonNode> all = new ArrayList<>();
    try {
      JSON.readTree(asked("GET", "/requests", "")).forEach(all::add);
    } catch (com.fasterxml.jackson.core.JsonProcessingException broken) {
      throw new IllegalStateException(broken);
    }
    others.forEach(other -> all.addAll(other.requests()));
    return all;
  }

  private String asked(String method, String path, String body) {
    try {
      HttpRequest request = HttpRequest.newBuilder(URI.create(url() + path)).method(method, BodyPublishers.ofString(body)).build();
      return HTTP.send(request, BodyHandlers.ofString()).body();
    } catch (java.io.IOException | InterruptedException failed) {
      throw new IllegalStateException(failed);
    }
  }

  /** Both begin anew: the sidecar is killed, and what the program held of it is gone. */
  void restart() {
    away();
    back();
    if (!plain()) {
      palimpsest.close();
      connect();
    }
  }

  void away() {
    if (!plain()) {
      sidecar.kill();
    }
  }

  void back() {
    if (!plain()) {
      sidecar.start();
    }
  }

  private void connect() {
    palimpsest = plain() ? null : Palimpsest.connect(sidecar.address, new Options().timeout(Duration.ofSeconds(20)));
  }

  @Override
  public void close() {
    asked("DELETE", "", "");
    others.forEach(Side::close);
    if (!plain() && !sidecar.process.isAlive()) { // a scenario failed while it was away
      back();
    }
    if (palimpsest != null && !name.matches(".{41}-.*")) {
      palimpsest.close();
    }
  }

  /** A sidecar that keeps what it has on disk, so that it can go away and come back. */
  static final class Sidecar implements AutoCloseable {
    final String address;
    private final Path folder;
    private final String policy;
    private Process process;

    Sidecar(String policy) throws java.io.IOException {
      this.folder = Files.createTempDirectory("sides");
      this.address = "unix://" + folder + "/s.sock";
      this.policy = policy;
      start();
    }

    void start() {
      List<String> command = new ArrayList<>(List.of(System.getenv("PALIMPSEST_BINARY"), "serve", "--store", "bolt"));
      command.addAll(List.of("--data-dir", folder + "/data", "--listen", address, "--default-policy", policy));
      try {
        process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(new File("/dev/null")).start();
      } catch (java.io.IOException failed) {
        throw new IllegalStateException(failed);
      }
      try (Palimpsest waits = Palimpsest.connect(address, new Options().timeout(Duration.ofSeconds(30)))) {
        waits.conversation("ready").waiting();
      }
    }

    void kill() {
      process.destroyForcibly();
      process.onExit().join();
    }

    @Override
    public void close() {
      kill();
    }
  }
}
