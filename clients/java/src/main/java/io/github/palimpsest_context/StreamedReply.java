package io.github.palimpsest_context;

import io.grpc.Status;
import java.util.List;

/**
 * A reply in pieces, on its way to the record. Hand it each line as it comes, and end it; closed before that, it counts as broken off.
 *
 * <pre>{@code
 * try (StreamedReply reply = conv.stream()) {
 *   answer.body().forEach(reply::take); // of BodyHandlers.ofLines()
 *   calls = reply.end();
 * }
 * }</pre>
 */
public final class StreamedReply implements AutoCloseable {
  private final Conversation conversation;
  private final Format format;
  private final Assembly reply;
  private boolean ended;

  StreamedReply(Conversation conversation, Format format) {
    this.conversation = conversation;
    this.format = format;
    this.reply = Assembly.of(format);
  }

  /** Takes a line of server-sent events as it came, or the JSON of one piece. Lines that are neither are passed over. */
  public void take(String line) {
    String data = line.startsWith("data:") ? line.substring("data:".length()).strip() : line.strip();
    if (data.startsWith("{")) {
      reply.feed(Json.members(data));
    }
  }

  /** Whether the reply has ended: what comes behind that is none of it. */
  public boolean whole() {
    return reply.whole();
  }

  /**
   * Puts the reply on record, and returns the calls that wait for results. One that broke off goes on record as far as it is whole, marked
   * as aborted, and the exception says so: nobody waits for its calls, and a later step goes on from there.
   */
  public List<Call> end() {
    ended = true;
    String made = reply.reply();
    boolean whole = reply.whole();
    List<Call> calls = made == null ? List.of() : conversation.add(format, made, !whole);
    if (!whole) {
      throw new PalimpsestException(Status.Code.ABORTED, "ABORTED: the stream ended before the reply did: on record is what came whole", null);
    }
    return calls;
  }

  /** Puts on record what came of a reply that was not ended. */
  @Override
  public void close() {
    String made = ended ? null : reply.reply();
    ended = true;
    if (made != null) {
      conversation.add(format, made, !reply.whole());
    }
  }
}
