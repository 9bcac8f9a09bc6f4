package io.github.palimpsest_context;

import io.github.palimpsest_context.v1.Message;
import io.github.palimpsest_context.v1.Part;
import io.github.palimpsest_context.v1.Role;
import io.github.palimpsest_context.v1.ToolCall;
import java.util.ArrayList;
import java.util.LinkedList;
import java.util.List;

/** What stands at a record's end, taken from the newest message on. */
final class Tail {
  private final LinkedList<Call> open = new LinkedList<>();
  private final List<String> answered = new ArrayList<>();
  private boolean called;

  /** Takes a message, and says whether an earlier one may belong to the same calls. */
  boolean take(Message message) {
    if (message.getView().getHidden()) {
      return true;
    }
    if (message.getRole() == Role.ROLE_TOOL && !called) {
      message.getPartsList().forEach(part -> answered.add(part.getToolResult().getCallId()));
      return true;
    }
    if (message.getRole() != Role.ROLE_ASSISTANT || message.getTagsList().contains("aborted")) {
      return false;
    }
    List<Part> parts = message.getPartsList();
    for (int i = parts.size() - 1; i >= 0; i--) {
      if (parts.get(i).hasToolCall()) {
        called = true;
        pair(parts.get(i).getToolCall());
      }
    }
    return true;
  }

  private void pair(ToolCall call) {
    if (!answered.remove(call.getCallId())) {
      open.addFirst(Call.of(call, Call.recalls(call.getName())));
    }
  }

  List<Call> open() {
    return List.copyOf(open);
  }
}
