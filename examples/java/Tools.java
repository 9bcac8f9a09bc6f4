import io.github.palimpsest_context.Tool;
import io.github.palimpsest_context.v1.CitationsPolicy;
import io.github.palimpsest_context.v1.Policy;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What the agent needs beside its loop. */
final class Tools {
  private Tools() {}

  /** Has large results cited, so that the model sees where they are and reads what it needs. */
  static Policy policy() {
    return Policy.newBuilder().setCitations(CitationsPolicy.newBuilder().setEnabled(true).setThresholdChars(3000)).build();
  }

  static String model() {
    return System.getenv().getOrDefault("MODEL", "gpt-5.2");
  }

  static String url() {
    return System.getenv().getOrDefault("OPENAI_BASE_URL", "https://api.openai.com/v1") + "/chat/completions";
  }

  /** The program's. Those by which the model gets text back are the sidecar's. */
  static Map<String, Tool> all() {
    return Map.of(
        "get_weather", arguments -> "Rain.",
        "web_search", arguments -> "Billing had an outage at 09:00.",
        "fetch_log", arguments -> serviceLog());
  }

  /** The tools as Chat Completions takes them. */
  static String definitions() {
    return "[" + tool("get_weather", "city") + "," + tool("web_search", "q") + "," + tool("fetch_log", "service") + "]";
  }

  private static String tool(String name, String argument) {
    return String.format(
        "{\"type\":\"function\",\"function\":{\"name\":\"%s\",\"parameters\":"
            + "{\"type\":\"object\",\"properties\":{\"%s\":{\"type\":\"string\"}},\"required\":[\"%s\"]}}}",
        name, argument, argument);
  }

  /** A megabyte of lines, of which one says why. */
  private static String serviceLog() {
    int lines = 16000;
    return IntStream.range(0, lines)
        .mapToObj(i -> (i == lines / 2 ? "09:00:00 FATAL billing: the disk of the ledger is full\n" : "") + "08:00:00 INFO billing: invoice " + i + " was sent to its customer by mail\n")
        .collect(Collectors.joining());
  }
}
