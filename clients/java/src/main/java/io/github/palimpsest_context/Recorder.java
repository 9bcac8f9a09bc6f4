package io.github.palimpsest_context;

import com.google.protobuf.MessageLite;
import io.github.palimpsest_context.v1.BatchAppendItem;
import io.github.palimpsest_context.v1.BatchAppendMessagesRequest;
import io.github.palimpsest_context.v1.BatchAppendMessagesResponse;
import io.github.palimpsest_context.v1.BuildContextRequest;
import io.github.palimpsest_context.v1.BuildContextResponse;
import io.github.palimpsest_context.v1.CreateConversationRequest;
import io.github.palimpsest_context.v1.ErrorReason;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/** Puts on record what waits, once: a request whose answer was lost is asked for again under its id, before anything else goes there. */
final class Recorder {
  final List<BatchAppendItem> pending = new ArrayList<>(); // what is said, and not yet on record

  private final Palimpsest client;
  private CreateConversationRequest create; // null where nothing is to be created
  private MessageLite unsettled; // a request of which it is not known whether it was carried out
  private int unsettledItems; // of those that wait, which it puts on record

  Recorder(Palimpsest client, io.github.palimpsest_context.v1.Conversation settings) {
    this.client = client;
    if (settings != null) {
      create = CreateConversationRequest.newBuilder().setConversation(settings).setRequestId(newId()).build();
    }
  }

  private static String newId() {
    return UUID.randomUUID().toString();
  }

  /** Creates the conversation, if it is to be created. */
  void ready() {
    if (create == null) {
      return;
    }
    try {
      client.call(stubs -> stubs.conversations().createConversation(create));
    } catch (PalimpsestException refused) {
      if (refused.reason() != ErrorReason.ERROR_REASON_CONVERSATION_EXISTS) {
        throw refused;
      }
    }
    create = null;
  }

  BatchAppendMessagesResponse append(String conversation, List<BatchAppendItem> more) {
    ready();
    Supplier<BatchAppendMessagesRequest.Builder> compose =
        () -> BatchAppendMessagesRequest.newBuilder().setConversationId(conversation).addAllItems(pending).addAllItems(more);
    BatchAppendMessagesRequest.Builder request = compose.get();
    if (unsettled instanceof BatchAppendMessagesRequest) {
      request.setRequestId(((BatchAppendMessagesRequest) unsettled).getRequestId());
    }
    if (unsettled != null && !unsettled.equals(request.build())) {
      settle();
      request = compose.get();
    }
    if (unsettled == null) {
      remember(request.setRequestId(newId()).build(), pending.size());
    }
    return (BatchAppendMessagesResponse) carryOut();
  }

  /** A build, which puts on record as many of those that wait as are said: all, or none in a dry run or beside a whole list. */
  BuildContextResponse build(Supplier<BuildContextRequest.Builder> compose, boolean takesPending) {
    ready();
    BuildContextRequest.Builder request = compose.get();
    if (unsettled instanceof BuildContextRequest) {
      request.setRequestId(((BuildContextRequest) unsettled).getRequestId());
    }
    if (unsettled != null && !unsettled.equals(request.build())) {
      settle();
      request = compose.get();
    }
    if (unsettled == null) {
      remember(request.setRequestId(newId()).build(), takesPending ? pending.size() : 0);
    }
    return (BuildContextResponse) carryOut();
  }

  private void remember(MessageLite request, int items) {
    unsettled = request;
    unsettledItems = items;
  }

  /** Finds out what came of the request before. If it was refused, what it would have put on record still waits. */
  private void settle() {
    try {
      carryOut();
    } catch (PalimpsestException failed) {
      if (failed.uncertain()) {
        throw failed;
      }
    }
  }

  private MessageLite carryOut() {
    MessageLite request = unsettled;
    try {
      MessageLite answer =
          client.call(
              stubs ->
                  request instanceof BuildContextRequest
                      ? stubs.context().buildContext((BuildContextRequest) request)
                      : stubs.context().batchAppendMessages((BatchAppendMessagesRequest) request));
      pending.subList(0, unsettledItems).clear();
      unsettled = null;
      return answer;
    } catch (PalimpsestException failed) {
      if (!failed.uncertain()) {
        unsettled = null;
      }
      throw failed;
    }
  }
}
