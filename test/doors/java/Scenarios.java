import io.github.palimpsest_context.Call;
import io.github.palimpsest_context.Conversation;
import io.github.palimpsest_context.Format;
import io.github.palimpsest_context.OlderSidecarException;
import io.github.palimpsest_context.Options;
import io.github.palimpsest_context.Palimpsest;
import io.github.palimpsest_context.PalimpsestException;
import io.github.palimpsest_context.Request;
import io.github.palimpsest_context.Tool;
import io.github.palimpsest_context.v1.CitationsPolicy;
import io.github.palimpsest_context.v1.Policy;
import java.io.IOException;
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
      String reply = post("fake", request("fake"));
      List<Call> calls = conv.add(reply);
      if (calls.isEmpty()) {
        System.out.println("-> " + reply.strip());
        return;
      }
      conv.answer(calls, tools());
    }
  }

  private String request(String model) {
    Request request = Request.of(model).system("You are terse.").tools(definitions());
    switch (format) {
      case RESPONSES:
        return conv.responses(request);
      case ANTHROPIC:
        return conv.anthropic(request.with("max_tokens", 1000));
      case GEMINI:
        return conv.gemini(request);
      default:
        return conv.openai(request);
    }
  }

  private String path(String model) {
    switch (format) {
      case RESPONSES:
        return "/v1/responses";
      case ANTHROPIC:
        return "/v1/messages";
      case GEMINI:
        return "/v1beta/models/" + model + ":generateContent";
      default:
        return "/v1/chat/completions";
    }
  }

  private String post(String model, String body) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(fakes + path(model)))
            .header("Content-Type", "application/json")
            .header("anthropic-version", "2023-06-01")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> answer = HTTP.send(request, BodyHandlers.ofString());
    if (answer.statusCode() != 200) {
      throw new IOException("the provider refused: " + answer.body());
    }
    return answer.body();
  }

  /** Puts a reply on record of which a stream gave a text, a call and half a call, and goes on. */
  private void abort() throws Exception {
    conv.user("Why does billing fail?");
    String whole = post("fake", request("fake"));
    conv.addAborted(cut(whole));
    System.out.println("aborted");
    loop();
  }

  /** A reply whose second call ends within its arguments. Gemini's calls come whole or not at all. */
  private String cut(String reply) {
    switch (format) {
      case ANTHROPIC:
        return reply.replaceFirst(",\\{[^{}]*\"input\":\\{\"q\":[^{}]*\\}[^{}]*\\}", "");
      case GEMINI:
        return reply.replaceFirst(",\\{\"functionCall\":\\{\"args\":\\{\"q\":[^{}]*\\}[^{}]*\\}\\}", "");
      default:
        return reply.replace("{\\\"q\\\":\\\"billing outage\\\"}", "{\\\"q\\\":\\\"bill");
    }
  }

  /** Ends the process between a reply and its results. */
  private void kill() throws Exception {
    conv.user("Why does billing fail?");
    List<Call> calls = conv.add(post("fake", request("fake")));
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
        String reply = post("fake", body);
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
