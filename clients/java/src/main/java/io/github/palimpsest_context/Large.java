package io.github.palimpsest_context;

import io.github.palimpsest_context.v1.BatchAppendItem;
import io.github.palimpsest_context.v1.Citation;
import io.github.palimpsest_context.v1.Message;
import io.github.palimpsest_context.v1.Part;
import io.github.palimpsest_context.v1.RecalledFrom;
import io.github.palimpsest_context.v1.StoreContentHeader;
import io.github.palimpsest_context.v1.ToolResult;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** What is too large for a request: its texts go by stream, and the citations that stand for them in their place. */
final class Large {
  /** Bytes that are sent with one request. The sidecar takes 16 MiB; what is around them has room. */
  static final int REQUEST = 8 << 20;
  /** Entries of a list that are sent with one request. */
  static final int ENTRIES = 1000;
  /** Brackets and commas of a provider's JSON that are sent with one request, of 200,000 that the sidecar takes. */
  static final int ELEMENTS = 150_000;

  private static final int TEXT = 256 << 10; // that is left in its place
  private static final Set<String> TEXTS = Set.of("text", "content", "output", "result", "response", "value");

  private Large() {}

  /** An item as it can be sent. */
  static BatchAppendItem fit(Palimpsest client, String conversation, BatchAppendItem item) {
    if (item.getSerializedSize() <= REQUEST) {
      return item;
    }
    BatchAppendItem.Builder fitting = item.toBuilder();
    if (item.hasProviderInput()) {
      fitting.getProviderInputBuilder().setJson(fit(client, conversation, item.getProviderInput().getJson(), ""));
    } else {
      Message.Builder message = fitting.getMessageBuilder();
      for (int i = 0; i < message.getPartsCount(); i++) {
        message.setParts(i, fit(client, conversation, message.getParts(i)));
      }
    }
    return fitting.build();
  }

  private static Part fit(Palimpsest client, String conversation, Part part) {
    ToolResult result = part.getToolResult();
    String output = result.hasText() ? result.getText() : result.getJson();
    if (output.length() > TEXT) {
      Citation stored = store(client, conversation, output);
      RecalledFrom source = RecalledFrom.newBuilder().setContentId(stored.getContentId()).build(); // so that it is not cited in its turn
      return part.toBuilder().setToolResult(result.toBuilder().setText(stored.getText()).setRecalledFrom(source)).build();
    }
    return part.hasText() && part.getText().length() > TEXT
        ? part.toBuilder().setText(store(client, conversation, part.getText()).getText()).build()
        : part;
  }

  /** JSON without large texts. What stands in a result of Gemini's is named by its tool. */
  static String fit(Palimpsest client, String conversation, String json, String key) {
    if (json.length() <= TEXT) {
      return json;
    }
    if (json.startsWith("\"")) {
      boolean ours = TEXTS.contains(key) && !json.startsWith("\"data:");
      return ours ? Json.write(store(client, conversation, Json.string(json)).getText()) : json;
    }
    if (json.startsWith("[")) {
      return Json.array(Json.elements(json).stream().map(one -> fit(client, conversation, one, key)).collect(Collectors.toList()));
    }
    Map<String, String> members = new LinkedHashMap<>(Json.members(json));
    members.replaceAll((name, value) -> fit(client, conversation, value, key.equals("response") ? key : name));
    return Json.object(members);
  }

  /** Elements of a list as they can be sent. */
  static List<String> fit(Palimpsest client, String conversation, List<String> elements) {
    return elements.stream().map(one -> one.length() > REQUEST / 3 && bytes(one) > REQUEST ? fit(client, conversation, one, "") : one).collect(Collectors.toList());
  }

  private static Citation store(Palimpsest client, String conversation, String text) {
    StoreContentHeader header = StoreContentHeader.newBuilder().setConversationId(conversation).setReuse(true).build(); // the same text has the same citation
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return client.call(
        stubs -> {
          try {
            return Contents.store(stubs, header, new ByteArrayInputStream(bytes), client.timeout);
          } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // they are in memory
          }
        });
  }

  static int bytes(String text) {
    if (text.length() > REQUEST) {
      return text.length(); // enough to know
    }
    int bytes = text.length();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      bytes += c < 0x80 ? 0 : c < 0x800 || Character.isSurrogate(c) ? 1 : 2;
    }
    return bytes;
  }

  /** At least as many as the sidecar counts. */
  static int elements(String json) {
    return (int) json.chars().filter(c -> c == ',' || c == '[' || c == '{').count();
  }
}
