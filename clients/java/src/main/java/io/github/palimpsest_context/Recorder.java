package io.github.palimpsest_context;

import com.google.protobuf.MessageLite;
import io.github.palimpsest_context.v1.AppendMessageRequest;
import io.github.palimpsest_context.v1.BatchAppendItem;
import io.github.palimpsest_context.v1.BatchAppendMessagesRequest;
import io.github.palimpsest_context.v1.BatchAppendMessagesResponse;
import io.github.palimpsest_context.v1.BuildContextRequest;
import io.github.palimpsest_context.v1.BuildContextResponse;
import io.github.palimpsest_context.v1.CreateConversationRequest;
import io.github.palimpsest_context.v1.ErrorReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Puts on record what waits, once, and as much at a time as a request takes. A request whose answer was lost is asked for again under its
 * id, before anything else goes there. What is refused waits no longer.
 */
final class Recorder {
  private static final Pattern ITEM = Pattern.compile("\\bitems(?:\\[(\\d+)\\])?");

  private final Palimpsest client;
  private final List<Entry> waiting = new ArrayList<>();
  private CreateConversationRequest create; // null where nothing is to be created
  private Unsettled unsettled; // null where nothing is
  private Duration patience;
  private int sent; // of those that waited when a call began

  Recorder(Palimpsest client, io.github.palimpsest_context.v1.Conversation settings) {
    this.client = client;
    this.patience = client.timeout;
    if (settings != null) {
      create = CreateConversationRequest.newBuilder().setConversation(settings).setRequestId(newId()).build();
    }
  }

  /** What waits to go on record. */
  private static final class Entry {
    final BatchAppendItem given;
    BatchAppendItem item; // as it is sent; null until it was seen whether it is too large

    Entry(BatchAppendItem given) {
      this.given = given;
    }
  }

  /** A request of which it is not known whether it was carried out, and what it puts on record. */
  private static final class Unsettled {
    final MessageLite request;
    final String id;
    final List<Entry> entries;

    Unsettled(MessageLite request, String id, List<Entry> entries) {
      this.request = request;
      this.id = id;
      this.entries = entries;
    }
  }

  /** Makes a request of items, under a request id. */
  interface Compose {
    MessageLite of(List<BatchAppendItem> items, String requestId);
  }

  private static String newId() {
    return UUID.randomUUID().toString();
  }

  /** How long a sidecar that is away is waited for. */
  void patience(Duration chosen) {
    patience = chosen;
  }

  void say(BatchAppendItem item) {
    waiting.add(new Entry(item));
  }

  boolean waits() {
    return !waiting.isEmpty();
  }

  /** Whether this waits: a reply that is handed over again is the same one. */
  boolean waits(BatchAppendItem item) {
    return waiting.stream().anyMatch(entry -> entry.given.equals(item));
  }

  List<BatchAppendItem> items() {
    return waiting.stream().map(entry -> entry.given).collect(Collectors.toList());
  }

  /** Creates the conversation, if it is to be created. */
  void ready() {
    if (create == null) {
      return;
    }
    try {
      client.call(stubs -> stubs.conversations().createConversation(create), patience);
    } catch (PalimpsestException refused) {
      if (refused.reason() != ErrorReason.ERROR_REASON_CONVERSATION_EXISTS) {
        throw refused;
      }
    }
    create = null;
  }

  /** Puts on record all that waits. The answer is that to the last of it. */
  BatchAppendMessagesResponse append(String conversation) {
    MessageLite answer = waiting.isEmpty() ? null : commit(conversation, batch(conversation), false);
    return answer == null ? BatchAppendMessagesResponse.getDefaultInstance() : (BatchAppendMessagesResponse) answer;
  }

  /** A build that puts on record all that waits. */
  BuildContextResponse build(String conversation, Compose compose) {
    return (BuildContextResponse) commit(conversation, compose, true);
  }

  /** A request that reads a whole list: nothing else goes on record with it. */
  <R extends MessageLite> R list(Function<String, MessageLite> compose, Class<R> answer) {
    ready();
    Compose alone = (items, requestId) -> compose.apply(requestId);
    MessageLite settled = settle(alone);
    return answer.cast(settled != null ? settled : carry("", alone, List.of()));
  }

  private Compose batch(String conversation) {
    return (items, requestId) ->
        BatchAppendMessagesRequest.newBuilder().setConversationId(conversation).addAllItems(items).setRequestId(requestId).build();
  }

  /** Sends what waits, all but the last batch of it ahead of the request that compose makes. */
  private MessageLite commit(String conversation, Compose compose, boolean builds) {
    ready();
    sent = 0;
    MessageLite settled = settle(compose);
    if (waiting.isEmpty() && (settled != null || !builds)) {
      return settled;
    }
    List<Entry> entries = first(conversation);
    for (; entries.size() < waiting.size(); entries = first(conversation)) {
      carry(conversation, batch(conversation), entries);
    }
    return carry(conversation, compose, entries);
  }

  /** As many of those that wait as one request takes. */
  private List<Entry> first(String conversation) {
    int bytes = 0;
    int elements = 0;
    List<Entry> first = new ArrayList<>();
    for (Entry entry : waiting) {
      if (entry.item == null) {
        entry.item = Large.fit(client, conversation, entry.given);
      }
      bytes += entry.item.getSerializedSize();
      elements += Large.elements(entry.item.getProviderInput().getJson());
      if (!first.isEmpty() && (bytes > Large.REQUEST || elements > Large.ELEMENTS || first.size() == Large.ENTRIES)) {
        break;
      }
      first.add(entry);
    }
    return first;
  }

  /**
   * Finds out what came of the request before, and gives its answer where the same is asked for again. If it was refused, what it would have
   * put on record still waits.
   */
  private MessageLite settle(Compose compose) {
    if (unsettled == null) {
      return null;
    }
    Unsettled before = unsettled;
    boolean same = before.request.equals(compose.of(items(before.entries), before.id));
    try {
      MessageLite answer = carryOut(before);
      return same ? answer : null;
    } catch (PalimpsestException failed) {
      if (failed.uncertain()) {
        throw failed;
      }
      return null;
    }
  }

  private MessageLite carry(String conversation, Compose compose, List<Entry> entries) {
    String id = newId();
    try {
      return carryOut(new Unsettled(compose.of(items(entries), id), id, entries));
    } catch (PalimpsestException failed) {
      throw entries.isEmpty() || failed.uncertain() ? failed : giveBack(conversation, entries, failed);
    }
  }

  /** Takes out what was refused: what the error names, or if it names none, what is refused by itself. */
  private PalimpsestException giveBack(String conversation, List<Entry> entries, PalimpsestException failed) {
    TreeSet<Integer> named = new TreeSet<>();
    boolean atFault = failed.ofInput() && failed.violations().isEmpty();
    for (Violation violation : failed.violations()) {
      Matcher item = ITEM.matcher(violation.field());
      if (item.find()) {
        atFault = true;
        Optional.ofNullable(item.group(1)).map(Integer::valueOf).ifPresent(named::add);
      }
    }
    boolean unnamed = atFault && named.isEmpty();
    if (failed.reason() == ErrorReason.ERROR_REASON_CONTEXT_CANNOT_FIT || unnamed && entries.size() == 1) {
      named.add(entries.size() - 1); // what was said last has to be shown
    } else if (unnamed) {
      entries.forEach(entry -> carry(conversation, batch(conversation), List.of(entry)));
    }
    List<RefusedItem> refused = new ArrayList<>();
    named.headSet(entries.size()).forEach(i -> refused.add(new RefusedItem(sent + i, entries.get(i).given)));
    refused.forEach(one -> waiting.remove(entries.get(one.index() - sent)));
    return refused.isEmpty() ? failed : new RefusedItemsException(failed, refused);
  }

  private static List<BatchAppendItem> items(List<Entry> entries) {
    return entries.stream().map(entry -> entry.item).collect(Collectors.toList());
  }

  private MessageLite carryOut(Unsettled call) {
    unsettled = call;
    try {
      MessageLite answer = client.call(stubs -> send(stubs, call.request), patience);
      waiting.removeAll(call.entries);
      sent += call.entries.size();
      unsettled = null;
      return answer;
    } catch (PalimpsestException failed) {
      if (!failed.uncertain()) {
        unsettled = null;
      }
      throw failed;
    }
  }

  private static MessageLite send(Stubs stubs, MessageLite request) {
    if (request instanceof BuildContextRequest) {
      return stubs.context().buildContext((BuildContextRequest) request);
    }
    return request instanceof AppendMessageRequest
        ? stubs.context().appendMessage((AppendMessageRequest) request)
        : stubs.context().batchAppendMessages((BatchAppendMessagesRequest) request);
  }
}
