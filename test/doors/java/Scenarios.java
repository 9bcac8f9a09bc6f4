import io.github.palimpsest_context.Call;
import io.github.palimpsest_context.Conversation;
import io.github.palimpsest_context.Format;
import io.github.palimpsest_context.OlderSidecarException;
import io.github.palimpsest_context.Options;
import io.github.palimpsest_context.Palimpsest;
import io.github.palimpsest_context.PalimpsestException;
import io.github.palimpsest_context.Request;
import io.github.palimpsest_context.StreamedReply;
import io.github.palimpsest_context.Tool;
import io.github.palimpsest_context.v1.CitationsPolicy;
import io.github.palimpsest_context.v1.Policy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Plays scenarios of an agent through the package for Java, from its jar. It prints what it sees.
 *
 * <p>Scenarios NAME SIDECAR FAKES CONVERSATION FORMAT
 */
final class Scenarios {
  private static final int KILLED = 7;
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final Policy CITING =
      Policy.newBuilder().setCitations(CitationsPolicy.newBuilder().setEnabled(true).setThresholdChars(3000)).build();

  private final Conversation conv;
  private final String fakes;
  private final Format format;
  private String model = "fake";
  private boolean streams;

  private Scenarios(Conversation conv, String fakes, Format format) {
    this.conv = conv;
    this.fakes = fakes;
    this.format = format;
  }

  public static void main(String[] a) throws Exception {
    try (Palimpsest p = open(a[1])) {
      play(p, a[0], new Scenarios(p.conversation(a[3], CITING), a[2], Format.valueOf(a[4].toUpperCase())));
    } catch (OlderSidecarException older) {
      System.out.println("older sidecar: " + older.getMessage());
    }
  }

  /** Takes local, or local-tcp, as a sidecar of the program's own. */
  private static Palimpsest open(String sidecar) {
    switch (sidecar) {
      case "local":
        return Palimpsest.local();
      case "local-tcp":
        return Palimpsest.local(new Options().tcp());
      default:
        return Palimpsest.connect(sidecar, new Options().timeout(Duration.ofSeconds(20)));
    }
  }

  private static void play(Palimpsest p, String name, Scenarios one) throws Exception {
    switch (name) {
      case "steps":
        one.conv.durableSteps();
        one.toy();
        one.conv.flush();
        break;
      case "toy":
      case "stream":
        one.streams = name.equals("stream");
        one.toy();
        break;
      case "abort":
        one.abort();
        break;
      case "kill":
        one.kill();
        break;
      case "resume":
        one.resume();
        break;
      case "sync":
        one.sync();
        break;
      case "refused":
        refused(p.conversation("refused"));
        break;
      default:
        throw new IllegalArgumentException("there is no scenario " + name);
    }
  }

  private void toy() throws Exception {
    for (String said : List.of("Why does billing fail?", "Say that twice.")) {
      conv.user(said);
      loop();
    }
  }

  private void loop() throws Exception {
    while (true) {
      List<Call> calls = new ArrayList<>();
      String reply = step(calls);
      if (calls.isEmpty()) {
        System.out.println("-> " + reply.strip());
        return;
      }
      conv.answer(calls, tools());
    }
  }

  /** Asks once, and gives what came and the calls in it. */
  private String step(List<Call> calls) throws Exception {
    if (!streams) {
      String reply = post(BodyHandlers.ofString(), request());
      calls.addAll(conv.add(reply));
      return reply;
    }
    StringBuilder seen = new StringBuilder();
    String body = request();
    try (Stream<String> lines = post(BodyHandlers.ofLines(), body); StreamedReply reply = conv.stream()) {
      lines.peek(seen::append).forEach(reply::take);
      calls.addAll(reply.end());
    }
    return seen.toString();
  }

  private String request() {
    Request request = Request.of(model).system("You are terse.").tools(definitions());
    if (streams && format != Format.GEMINI) {
      request.with("stream", true);
    }
    switch (format) {
      case RESPONSES:
        return conv.responses(request);
      case ANTHROPIC:
        return conv.anthropic(request.with("max_tokens", 1000));
      case GEMINI:
        return conv.gemini(request);
      default:
        return conv.openai(streams ? request.with("stream_options", Map.of("include_usage", true)) : request);
    }
  }

  private String path() {
    switch (format) {
      case RESPONSES:
        return "/v1/responses";
      case ANTHROPIC:
        return "/v1/messages";
      case GEMINI:
        return "/v1beta/models/" + model + (streams ? ":streamGenerateContent?alt=sse" : ":generateContent");
      default:
        return "/v1/chat/completions";
    }
  }

  private <T> T post(HttpResponse.BodyHandler<T> handler, String body) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(fakes + path()))
            .header("Content-Type", "application/json")
            .header("anthropic-version", "2023-06-01")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    HttpResponse<T> answer = HTTP.send(request, handler);
    if (answer.statusCode() != 200) {
      throw new IOException("the provider refused: " + answer.body());
    }
    return answer.body();
  }

  /** Has the first stream break off, and goes on. */
  private void abort() throws Exception {
    conv.user("Why does billing fail?");
    model = "fake-abort";
    streams = true;
    List<Call> calls = new ArrayList<>();
    try {
      step(calls);
      throw new AssertionError("the stream did not break off: " + calls.size() + " calls");
    } catch (UncheckedIOException | IllegalArgumentException | PalimpsestException broken) {
      System.out.println("aborted");
    }
    streams = false; // the same model, whose signatures it alone takes
    loop();
  }

  /** Ends the process between a reply and its results. */
  private void kill() throws Exception {
    conv.user("Why does billing fail?");
    List<Call> calls = conv.add(post(BodyHandlers.ofString(), request()));
    System.out.println("killed with " + calls.size() + " calls");
    Runtime.getRuntime().halt(KILLED);
  }

  /** Goes on where a killed process ended. */
  private void resume() throws Exception {
    List<Call> calls = conv.waiting();
    System.out.println("resumed with " + calls.size() + " calls");
    conv.answer(calls, tools());
    loop();
  }

  private static void refused(Conversation conv) {
    for (String list :
        List.of(
            "[{\"role\":\"user\",\"content\":\"one\"},{\"role\":\"assistant\",\"content\":\"two\"},{\"role\":\"user\",\"content\":\"three\"}]",
            "[{\"role\":\"user\",\"content\":\"one\"},{\"role\":\"assistant\",\"content\":\"other\"},{\"role\":\"user\",\"content\":\"three\"}]",
            "[{\"role\":\"nobody\"}]")) {
      try {
        conv.sync(Format.OPENAI, list, Request.of("fake"), false);
      } catch (PalimpsestException refused) {
        System.out.println("refused: " + refused.reason() + " " + !refused.violations().isEmpty());
      }
    }
  }

  /** An agent that keeps the whole list itself, as frameworks do, of Chat alone. */
  private void sync() throws Exception {
    List<String> list = new ArrayList<>();
    String recall = Palimpsest.tools(Format.OPENAI, false).strip();
    String all = definitions().replaceFirst("]$", ",") + recall.substring(1);
    Pattern message = Pattern.compile("\"message\":(\\{.*\\})\\}\\],\"created\"");
    Pattern call = Pattern.compile("\\{\"function\":\\{\"arguments\":\"((?:[^\"\\\\]|\\\\.)*)\",\"name\":\"(\\w+)\"\\},\"id\":\"(\\w+)\"");
    for (String said : List.of("Why does billing fail?", "Say that twice.")) {
      list.add("{\"role\":\"user\",\"content\":\"" + said + "\"}");
      while (true) {
        String body = conv.sync(Format.OPENAI, "[" + String.join(", ", list) + "]", Request.of("fake").tools(all), false);
        String reply = post(BodyHandlers.ofString(), body);
        conv.add(reply);
        Matcher found = message.matcher(reply);
        found.find();
        list.add(found.group(1));
        Matcher asked = call.matcher(found.group(1));
        int calls = 0;
        for (; asked.find(); calls++) {
          String arguments = asked.group(1).replace("\\\"", "\"");
          Tool tool = tools().get(asked.group(2));
          String text = tool != null ? tool.run(arguments) : conv.recall(asked.group(2), arguments, asked.group(3));
          list.add("{\"role\":\"tool\",\"tool_call_id\":\"" + asked.group(3) + "\",\"content\":" + quoted(text) + "}");
        }
        if (calls == 0) {
          System.out.println("-> " + found.group(1));
          break;
        }
      }
    }
  }

  private static String quoted(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\"";
  }

  private static Map<String, Tool> tools() {
    return Map.of(
        "get_weather", arguments -> "Rain.",
        "web_search", arguments -> "Billing had an outage at 09:00.",
        "fetch_log", arguments -> log());
  }

  private static String log() {
    int lines = 16000;
    return IntStream.range(0, lines)
        .mapToObj(
            i ->
                (i == lines / 2 ? "2026-11-23 09:00:00 FATAL billing: the disk of the ledger is full\n" : "")
                    + "2026-11-23 08:00:00 INFO billing: invoice " + i + " was sent\n")
        .collect(Collectors.joining());
  }

  private String definitions() {
    String all = tool("get_weather", "city") + "," + tool("web_search", "q") + "," + tool("fetch_log", "service");
    return format == Format.GEMINI ? "[{\"functionDeclarations\":[" + all + "]}]" : "[" + all + "]";
  }

  private String tool(String name, String argument) {
    String schema = String.format("{\"type\":\"object\",\"properties\":{\"%s\":{\"type\":\"string\"}},\"required\":[\"%s\"]}", argument, argument);
    switch (format) {
      case RESPONSES:
        return String.format("{\"type\":\"function\",\"name\":\"%s\",\"parameters\":%s,\"strict\":false}", name, schema);
      case ANTHROPIC:
        return String.format("{\"name\":\"%s\",\"input_schema\":%s}", name, schema);
      case GEMINI:
        return String.format("{\"name\":\"%s\",\"parameters\":%s}", name, schema);
      default:
        return String.format("{\"type\":\"function\",\"function\":{\"name\":\"%s\",\"parameters\":%s}}", name, schema);
    }
  }
}
