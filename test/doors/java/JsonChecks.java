package io.github.palimpsest_context;

import io.grpc.Status;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Map;

/** Checks how the package cuts JSON apart, and what it reads of replies. The first check that does not hold ends it. */
final class JsonChecks {
  private static int held;

  public static void main(String[] none) {
    String object = " { \"a\" : \"x\\\\\\\"}\" , \"b\\u0021\":[1, {\"c\":\"]\"}],\"d\":{ },\"e\":-1.5e3 , \"f\":null}\n";
    equal(
        Map.of("a", "\"x\\\\\\\"}\"", "b!", "[1, {\"c\":\"]\"}]", "d", "{ }", "e", "-1.5e3", "f", "null"), Json.members(object));
    equal("x\\\"}", Json.string(Json.members(object), "a"));
    equal("", Json.string(Json.members(object), "e"));
    equal(List.of("1", "{\"c\":\"]\"}"), Json.elements(Json.members(object), "b!"));
    equal(List.of(), Json.elements(Json.members(object), "f"));
    equal(List.of(), Json.elements("[ ]"));
    equal("\u017c\ud83d\ude00/\n\"", Json.string("\"\\u017c\\ud83d\\ude00\\/\\n\\\"\""));
    equal("{\"a\":[1,true,null,{\"b\":\"q\\\"\\u000a\"}]}", Json.write(Map.of("a", java.util.Arrays.asList(1, true, null, Map.of("b", "q\"\n")))));
    for (String broken : List.of("", "[", "[1", "{\"a\"", "{\"a\":}", "[\"a", "{1:2", "nonsense")) {
      refuses(broken);
    }
    calls();
    streams();
    for (String[] pair : new String[][] {{"v1.1.9", "1.2.0"}, {"0.9.10", "1.0.0-rc1"}}) {
      equal(true, Palimpsest.older(pair[0], pair[1]));
      equal(false, Palimpsest.older(pair[1], pair[0]));
    }
    equal(false, Palimpsest.older("dev", "1.2.0"));
    Status closed = Status.UNKNOWN.withDescription("channel closed").withCause(new ClosedChannelException());
    equal(Status.Code.UNAVAILABLE, PalimpsestException.of(closed.asRuntimeException()).code());
    equal(Status.Code.UNKNOWN, PalimpsestException.of(Status.UNKNOWN.asRuntimeException()).code());
    equal(false, Palimpsest.older("v1.2.0", "1.2.0"));
    equal(false, Transport.staysHere("palimpsest.example:7171"));
    equal(false, Transport.staysHere("localhost.example:7171"));
    equal(true, Transport.staysHere("127.0.0.1:7171"));
    System.out.println(held + " checks held");
  }

  private static void calls() {
    String input = "{\"id\": 1}";
    for (Map.Entry<Format, String> reply :
        Map.of(
                Format.OPENAI,
                "{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"1\",\"function\":{\"name\":\"expand_message\",\"arguments\":\"{\\\"id\\\": 1}\"}}]}}]}",
                Format.RESPONSES,
                "{\"output\":[{\"type\":\"reasoning\"},{\"type\":\"function_call\",\"call_id\":\"1\",\"name\":\"expand_message\",\"arguments\":\"{\\\"id\\\": 1}\"}]}",
                Format.ANTHROPIC,
                "{\"content\":[{\"type\":\"text\"},{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"expand_message\",\"input\":" + input + "}]}",
                Format.GEMINI,
                "{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"id\":\"1\",\"name\":\"expand_message\",\"args\":" + input + "}}]}}]}")
            .entrySet()) {
      List<Call> found = Replies.calls(reply.getKey(), reply.getValue());
      equal(1, found.size());
      equal("1 expand_message " + input + " true", found.get(0).id() + " " + found.get(0).name() + " " + found.get(0).arguments() + " " + found.get(0).recalls());
    }
    String bare = "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"},{\"functionCall\":{\"name\":\"f\"}}]}}]}";
    equal(true, Replies.calls(Format.GEMINI, Replies.identified(bare)).get(0).id().startsWith("call_"));
    equal(true, Call.recalls("mcp__palimpsest__retrieve_content"));
    equal(false, Call.recalls("mcp__other__retrieve_content"));
    equal(false, Call.recalls("palimpsestexpand_message"));
  }

  /** What a stream gives, as far as it came; what providers' own streams hold, scenarios play. */
  private static void streams() {
    // Parallel calls under one index, an id that is told again, and escapes that are cut apart.
    String first = "{\"id\":\"r\",\"choices\":[{\"delta\":{\"content\":\"a\\ud83d\",\"tool_calls\":[{\"index\":0,\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}";
    String more = "{\"usage\":null,\"choices\":[{\"delta\":{\"content\":\"\\ude00b\",\"tool_calls\":[{\"index\":0,\"id\":\"1\",\"function\":{\"arguments\":\"{}\"}}]}}]}";
    String other = "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"2\",\"function\":{\"name\":\"g\",\"arguments\":\"\"},\"extra_content\":{\"k\":1}}]}}]}";
    String end = "{\"usage\":{\"n\":1},\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}";
    String head = "{\"id\":\"r\",\"object\":\"chat.completion\"";
    String message = ",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"a\\ud83d\\ude00b\",\"tool_calls\":[";
    String one = "{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}";
    String two = ",{\"id\":\"2\",\"extra_content\":{\"k\":1},\"function\":{\"name\":\"g\",\"arguments\":\"\"},\"type\":\"function\"}";
    equal(head + message + one + "]},\"finish_reason\":null}]}", assembled(Format.OPENAI, false, first, more, other));
    equal(head + ",\"usage\":{\"n\":1}" + message + one + two + "]},\"finish_reason\":\"tool_calls\"}]}", assembled(Format.OPENAI, true, first, more, other, end));
    equal(null, assembled(Format.OPENAI, false));

    // A call of which half the input came, and reasoning without its signature, are left out.
    String start = "{\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[]}}";
    String thinking = "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"\"}}";
    String use = "{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"f\",\"input\":{}}}";
    String half = "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"q\\\":\\\"x\"}}";
    String rest = "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\"}\"}}";
    String stop = "{\"type\":\"content_block_stop\",\"index\":1}";
    equal(null, assembled(Format.ANTHROPIC, false, start, thinking, use, half, stop));
    equal(
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"f\",\"input\":{\"q\":\"x\"}}]}",
        assembled(Format.ANTHROPIC, false, start, thinking, use, half, rest, stop));

    // A signature stays with its part.
    String signed = part("\"text\":\"b\",\"thoughtSignature\":\"s\"");
    equal(
        "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"ab\",\"thoughtSignature\":\"s\"},{\"text\":\"c\"}]}}]}",
        assembled(Format.GEMINI, false, part("\"text\":\"a\""), signed, part("\"text\":\"c\"")));

    // Of Responses, texts that have not ended count too, and calls only when they have.
    String item = "{\"type\":\"response.output_item.added\",\"output_index\":1,\"item\":{\"type\":\"message\",\"content\":[]}}";
    String call = "{\"type\":\"response.output_item.added\",\"output_index\":2,\"item\":{\"type\":\"function_call\"}}";
    String delta = "{\"type\":\"response.output_text.delta\",\"output_index\":1,\"content_index\":0,\"delta\":\"hal\"}";
    equal(
        "{\"object\":\"response\",\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"halhal\",\"annotations\":[]}]}]}",
        assembled(Format.RESPONSES, false, item, call, delta, delta));
  }

  private static String part(String members) {
    return "{\"candidates\":[{\"content\":{\"parts\":[{" + members + "}]}}]}";
  }

  private static String assembled(Format format, boolean whole, String... events) {
    Assembly assembly = Assembly.of(format);
    List.of(events).forEach(event -> assembly.feed(Json.members(event)));
    equal(whole, assembly.whole());
    return assembly.reply();
  }

  private static void refuses(String broken) {
    try {
      Object read = broken.startsWith("{") ? Json.members(broken) : Json.elements(broken);
      throw new AssertionError(broken + " was read as " + read);
    } catch (IllegalArgumentException refused) {
      held++;
    }
  }

  private static void equal(Object want, Object got) {
    if (want == null ? got != null : !want.equals(got)) {
      throw new AssertionError("got " + got + ", want " + want);
    }
    held++;
  }
}
