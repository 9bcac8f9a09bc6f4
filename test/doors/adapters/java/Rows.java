import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The table of an adapter: for each scenario and each API how it is run, or why there is no such thing. Each is played plain and with the
 * adapter, and what the provider got is compared: under none member by member but for the recall tools, under balanced what is not equal is
 * smaller.
 */
final class Rows {
  private static final List<String> SCENARIOS =
      List.of("text", "parallel_calls", "tool_error", "streaming", "image_in", "image_out_of_a_tool", "pdf_twice_with_the_same_words",
          "equal_replies_with_other_reasoning", "structured_output", "handoff", "nested_agent", "swarm", "interrupt_and_resume", "approval", "clear",
          "first_message_edited", "later_message_edited", "fork", "user_trims", "two_sessions", "cancel", "two_hundred_steps", "restart_of_both",
          "away_and_back", "large_results");
  private static final Set<String> RECALL = Set.of("expand_message", "retrieve_content", "search_conversation");

  interface Scenario {
    void play(Side side) throws Exception;
  }

  private final List<String> apis;
  private final Map<String, Scenario> runs = new LinkedHashMap<>();
  private final Set<String> absent = new LinkedHashSet<>();
  private Scenario recalling;
  private String recalled;

  Rows(String... apis) {
    this.apis = List.of(apis);
  }

  /** A scenario, for some of the APIs or for all. */
  void run(String scenario, Scenario played, String... only) {
    (only.length == 0 ? apis : List.of(only)).forEach(api -> runs.put(scenario + " " + api, played));
  }

  /** Nobody who uses the framework can do that. */
  void absent(String scenario, String reason, String... only) {
    (only.length == 0 ? apis : List.of(only)).forEach(api -> absent.add(scenario + " " + api));
  }

  /** A scenario with the adapter alone, in which the model recalls: the result of the last request must hold a text. */
  void recalls(Scenario played, String text) {
    recalling = played;
    recalled = text;
  }

  /** Plays all, or those that are named, and says what differs. */
  void play(String... names) throws Exception {
    for (String scenario : SCENARIOS) {
      for (String api : apis) {
        if (!runs.containsKey(scenario + " " + api) && !absent.contains(scenario + " " + api)) {
          throw new AssertionError("no row for " + scenario + " over " + api);
        }
      }
    }
    int failed = 0;
    for (String policy : List.of("none", "balanced")) {
      try (Side.Sidecar sidecar = new Side.Sidecar(policy)) {
        for (Map.Entry<String, Scenario> row : runs.entrySet()) {
          String scenario = row.getKey().split(" ")[0];
          boolean once = scenario.equals("two_hundred_steps") && policy.equals("none"); // long, and the same as without the policy
          if (!once && (names.length == 0 || List.of(names).contains(scenario))) {
            failed += told(row.getKey() + " under " + policy, compared(row.getKey().split(" ")[1], row.getValue(), policy, sidecar));
          }
        }
        for (String api : names.length == 0 || List.of(names).contains("recall") ? apis : List.<String>of()) {
          failed += told("recall " + api + " under " + policy, recall(api, sidecar));
        }
      }
    }
    System.out.println(failed == 0 ? "all held" : failed + " differ");
    System.exit(failed == 0 ? 0 : 1); // frameworks leave threads behind
  }

  private static int told(String row, List<String> found) {
    System.out.println((found.isEmpty() ? "ok      " : "DIFFERS ") + row);
    found.stream().limit(10).forEach(one -> System.out.println("    " + one));
    return found.isEmpty() ? 0 : 1;
  }

  private List<String> recall(String api, Side.Sidecar sidecar) {
    List<String> found = new ArrayList<>();
    List<JsonNode> sent = played(new Side(api, sidecar), recalling, found);
    sent.forEach(request -> request.path("faults").forEach(fault -> found.add("it is refused: " + fault.asText())));
    JsonNode messages = sent.isEmpty() ? Side.JSON.createArrayNode() : sent.get(sent.size() - 1).path("body").path("messages");
    if (!messages.path(messages.size() - 1).toString().contains(recalled)) {
      found.add("the result is " + told(messages.path(messages.size() - 1)));
    }
    return found;
  }

  private static List<String> compared(String api, Scenario scenario, String policy, Side.Sidecar sidecar) {
    List<String> found = new ArrayList<>();
    List<JsonNode> plain = played(new Side(api, null), scenario, found);
    List<JsonNode> ours = played(new Side(api, sidecar), scenario, found);
    if (plain.isEmpty() || ours.stream().noneMatch(our -> our.path("body").path("tools").toString().contains("expand_message"))) {
      found.add("nothing is compared: " + plain.size() + " requests, or none offers the recall tools");
    }
    if (plain.size() != ours.size()) {
      found.add("the model is asked " + plain.size() + " times plain, " + ours.size() + " times with the adapter");
    }
    if (plain.size() > 100) {
      System.out.printf("        a step takes %.1f ms plain, %.1f ms with the adapter%n", step(plain), step(ours));
    }
    for (int n = 0; n < Math.min(plain.size(), ours.size()); n++) {
      JsonNode their = plain.get(n);
      JsonNode our = ours.get(n);
      their.path("faults").forEach(fault -> found.add("plain is refused: " + fault.asText()));
      our.path("faults").forEach(fault -> found.add("it is refused: " + fault.asText()));
      ObjectNode one = (ObjectNode) unmarked(their.path("body"));
      ObjectNode other = withoutRecall((ObjectNode) unmarked(our.path("body")));
      if (policy.equals("balanced")) {
        shrunk(n, (ArrayNode) one.remove("messages"), (ArrayNode) other.remove("messages"), found);
      }
      differences("request " + n, one, other, found);
    }
    return found;
  }

  /** The median of the milliseconds between requests. */
  private static double step(List<JsonNode> requests) {
    double[] steps = new double[requests.size() - 1];
    Arrays.setAll(steps, n -> (requests.get(n + 1).path("at").asLong() - requests.get(n).path("at").asLong()) / 1e6);
    Arrays.sort(steps);
    return steps[steps.length / 2];
  }

  private static List<JsonNode> played(Side side, Scenario scenario, List<String> found) {
    try (side) {
      try {
        scenario.play(side);
      } catch (Exception | Error failed) {
        java.io.StringWriter trace = new java.io.StringWriter();
        failed.printStackTrace(new java.io.PrintWriter(trace));
        found.add((side.plain() ? "plain" : "the adapter") + " fails: " + trace);
      }
      return side.requests();
    }
  }

  /** Marks for the provider's cache say nothing to the model. */
  private static JsonNode unmarked(JsonNode value) {
    if (value instanceof ObjectNode object) {
      object.remove("cache_control");
    }
    value.forEach(Rows::unmarked);
    return value;
  }

  private static ObjectNode withoutRecall(ObjectNode body) {
    ArrayNode kept = body.arrayNode();
    for (JsonNode tool : body.path("tools")) {
      if (!RECALL.contains((tool.has("function") ? tool.get("function") : tool).path("name").asText())) {
        kept.add(tool);
      }
    }
    if (kept.isEmpty()) {
      body.remove(List.of("tools", "tool_choice", "parallel_tool_calls"));
    } else {
      body.set("tools", kept);
    }
    return body;
  }

  private static void differences(String at, JsonNode plain, JsonNode ours, List<String> found) {
    if (plain.isObject() && ours.isObject()) {
      Set<String> keys = new TreeSet<>();
      plain.fieldNames().forEachRemaining(keys::add);
      ours.fieldNames().forEachRemaining(keys::add);
      keys.forEach(key -> differences(at + "." + key, plain.path(key), ours.path(key), found));
    } else if (plain.isArray() && ours.isArray() && plain.size() == ours.size()) {
      for (int i = 0; i < plain.size(); i++) {
        differences(at + "[" + i + "]", plain.get(i), ours.get(i), found);
      }
    } else if (!plain.equals(ours)) {
      found.add(at + ": plain " + told(plain) + ", ours " + told(ours));
    }
  }

  private static String told(JsonNode value) {
    String text = value.isMissingNode() ? "nothing" : value.toString();
    return text.length() <= 300 ? text : text.substring(0, 300) + "… (" + text.length() + " characters)";
  }

  /** What is not whole is smaller, and what users said is there. */
  private static void shrunk(int n, ArrayNode plain, ArrayNode ours, List<String> found) {
    if (ours.toString().length() > plain.toString().length()) {
      found.add("request " + n + " is larger: " + told(plain) + ", ours " + told(ours));
    }
    List<JsonNode> shown = said(ours);
    said(plain).stream().filter(words -> !shown.contains(words)).forEach(words -> found.add("request " + n + " loses a user's words: " + told(words)));
  }

  private static List<JsonNode> said(ArrayNode messages) {
    List<JsonNode> said = new ArrayList<>();
    for (JsonNode message : messages) {
      if (message.path("role").asText().equals("user")) {
        (message.get("content").isArray() ? message.get("content") : Side.JSON.createArrayNode().add(message.get("content"))).forEach(said::add);
      }
    }
    said.removeIf(part -> part.path("type").asText().equals("tool_result"));
    return said;
  }
}
