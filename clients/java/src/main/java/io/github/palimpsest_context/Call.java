package io.github.palimpsest_context;

import io.github.palimpsest_context.v1.ToolCall;
import java.util.List;

/** A call of a tool that waits for its result. */
public final class Call {
  private static final List<String> RECALL_TOOLS = List.of("expand_message", "retrieve_content", "search_conversation", "search_memory");

  private final String id;
  private final String name;
  private final String arguments;
  private final boolean recalls;

  Call(String id, String name, String arguments, boolean recalls) {
    this.id = id;
    this.name = name;
    this.arguments = arguments;
    this.recalls = recalls;
  }

  static Call of(ToolCall call, boolean recalls) {
    return new Call(call.getCallId(), call.getName(), call.getArgumentsJson(), recalls);
  }

  /** The call's id. */
  public String id() {
    return id;
  }

  /** The tool's name. */
  public String name() {
    return name;
  }

  /** The arguments as the model wrote them, whether they are JSON or not. */
  public String arguments() {
    return arguments;
  }

  /** Whether the sidecar answers it. */
  public boolean recalls() {
    return recalls;
  }

  ToolCall asked() {
    return ToolCall.newBuilder().setCallId(id).setName(name).setArgumentsJson(arguments).build();
  }

  /** Whether the sidecar answers a tool's calls: one of its own, or one under a prefix that says whose it is. */
  static boolean recalls(String name) {
    for (String tool : RECALL_TOOLS) {
      if (name.equals(tool) || name.endsWith(tool) && isOwnPrefix(name.substring(0, name.length() - tool.length()))) {
        return true;
      }
    }
    return false;
  }

  private static boolean isOwnPrefix(String prefix) {
    boolean ends = prefix.endsWith("__") || prefix.endsWith(".") || prefix.endsWith("/") || prefix.endsWith("-");
    return ends && List.of(prefix.split("__|[./-]")).contains("palimpsest");
  }
}
