package io.github.palimpsest_context;

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
    for (String[] pair : new String[][] {{"v1.1.9", "1.2.0"}, {"0.9.10", "1.0.0-rc1"}}) {
      equal(true, Palimpsest.older(pair[0], pair[1]));
      equal(false, Palimpsest.older(pair[1], pair[0]));
    }
    equal(false, Palimpsest.older("dev", "1.2.0"));
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
