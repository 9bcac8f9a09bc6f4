package io.github.palimpsest_context;

import io.github.palimpsest_context.v1.AnswerToolCallRequest;
import io.github.palimpsest_context.v1.AppendMessageRequest;
import io.github.palimpsest_context.v1.AppendMessageResponse;
import io.github.palimpsest_context.v1.AppendedCall;
import io.github.palimpsest_context.v1.BatchAppendItem;
import io.github.palimpsest_context.v1.BuildContextRequest;
import io.github.palimpsest_context.v1.BuildContextResponse;
import io.github.palimpsest_context.v1.Citation;
import io.github.palimpsest_context.v1.ErrorReason;
import io.github.palimpsest_context.v1.HistoryOptions;
import io.github.palimpsest_context.v1.HistoryResult;
import io.github.palimpsest_context.v1.ListMessagesRequest;
import io.github.palimpsest_context.v1.ListMessagesResponse;
import io.github.palimpsest_context.v1.ListOrder;
import io.github.palimpsest_context.v1.Message;
import io.github.palimpsest_context.v1.OnCut;
import io.github.palimpsest_context.v1.OnDivergence;
import io.github.palimpsest_context.v1.Part;
import io.github.palimpsest_context.v1.ProviderInput;
import io.github.palimpsest_context.v1.ProviderInputShape;
import io.github.palimpsest_context.v1.Role;
import io.github.palimpsest_context.v1.StoreContentHeader;
import io.github.palimpsest_context.v1.ToolResult;
import io.github.palimpsest_context.v1.ToolResultState;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** A conversation on record. It is used by one thread at a time; another one that comes meanwhile gets an IllegalStateException. */
public final class Conversation {
  private static final int FEW_MESSAGES = 32; // are read at a time where few are wanted
  private static final int TOGETHER = 32; // threads at most for tools side by side
  private static final int NEWEST = 64; // elements behind which a large list may have ended when the sidecar read it last

  private final Palimpsest client;
  private final Guard guard = new Guard();
  private final String opened; // where lists are looked for: one of them may go on elsewhere
  private String id;
  private final Recorder record;
  private final Map<String, ToolResult> recalled = new ConcurrentHashMap<>(); // by call's id
  private final Map<Call, ToolResult> ended = new ConcurrentHashMap<>(); // what tools returned, until it waits to go on record
  private final Map<Format, HistoryResult> known = new EnumMap<>(Format.class);
  private final Map<Format, Shown<String>> bodies = new EnumMap<>(Format.class);
  private final Map<Format, Shown<List<Piece>>> views = new EnumMap<>(Format.class);
  private CompletableFuture<Void> last = CompletableFuture.completedFuture(null); // of what was asked for without waiting
  private Format format; // of the last build
  private BuildContextResponse built;
  private boolean eachStep;
  private boolean passes;
  private boolean passed; // the last list is on no record

  Conversation(Palimpsest client, String id, io.github.palimpsest_context.v1.Conversation settings) {
    this.client = client;
    this.opened = Objects.requireNonNull(id, "id");
    this.id = id;
    this.record = new Recorder(client, settings);
  }

  /** Keeps a reply until the next build, so that a step is one commit: what was not built yet is lost with the process. */
  public Conversation durableSteps() {
    eachStep = true;
    return this;
  }

  /** What happens while the sidecar is away; by default, calls fail. With PASS, each is tried for a second at most. */
  public Conversation onUnavailable(OnUnavailable chosen) {
    passes = chosen == OnUnavailable.PASS;
    record.patience(passes ? Palimpsest.IMPATIENT : client.timeout);
    return this;
  }

  /**
   * Makes a call without waiting for it, on a thread of the package's: {@code conv.later(c -> c.openai(request))}. Calls are made one after
   * another, in the order in which they were asked for; one that was cancelled before its turn is left out.
   */
  public <T> CompletableFuture<T> later(Function<Conversation, T> call) {
    CompletableFuture<T> made = new CompletableFuture<>();
    Runnable turn =
        () -> {
          try {
            if (!made.isDone()) {
              made.complete(call.apply(this));
            }
          } catch (Throwable failed) {
            made.completeExceptionally(failed);
          }
        };
    synchronized (guard) {
      last = last.thenRunAsync(turn, Palimpsest.THREADS);
    }
    return made;
  }

  /** The conversation's id; after a sync with anew, that of the one in which the list stands. */
  public String id() {
    return id;
  }

  /** The whole answer of the last build: tokens, decisions, events; null before the first. */
  public BuildContextResponse built() {
    return built;
  }

  // What is said. It goes on record with the next build.

  /** What the user said. */
  public void user(String text) {
    say(Role.ROLE_USER, text);
  }

  /** An instruction that belongs on record. */
  public void system(String text) {
    say(Role.ROLE_SYSTEM, text);
  }

  private void say(Role role, String text) {
    message(Message.newBuilder().setRole(role).addParts(Part.newBuilder().setText(text)).build());
  }

  /** A message of the API. */
  public void message(Message message) {
    say(BatchAppendItem.newBuilder().setMessage(message).build());
  }

  /** A message in a provider's JSON, such as one with an image. */
  public void input(Format format, String message) {
    ProviderInput input = inputOf(format, message, ProviderInputShape.PROVIDER_INPUT_SHAPE_MESSAGE).build();
    say(BatchAppendItem.newBuilder().setProviderInput(input).build());
  }

  private void say(BatchAppendItem item) {
    try (Guard alone = guard.enter()) {
      record.say(item);
    }
  }

  /** The result of a call that the program answers itself. */
  public void result(String callId, String text) {
    ToolResult result = recalled.remove(callId);
    message(resultMessage(result != null ? result : ToolResult.newBuilder().setCallId(callId).setText(text).build()));
  }

  // What the model should see.

  /** Puts on record what was said, and returns the body of a call of Chat Completions: what the model should see now. */
  public String openai(Request request) {
    return request(Format.OPENAI, request);
  }

  /** The same for the Responses API. */
  public String responses(Request request) {
    return request(Format.RESPONSES, request);
  }

  /** The same for Anthropic's Messages API, which wants max_tokens. */
  public String anthropic(Request request) {
    return request(Format.ANTHROPIC, request);
  }

  /** The same for Gemini's generateContent, which has the model in its path. */
  public String gemini(Request request) {
    return request(Format.GEMINI, request);
  }

  private String request(Format format, Request request) {
    try (Guard alone = guard.enter()) {
      BuildContextRequest.Builder made = request.build(id, format).setRecallTools(request.recall).setPromptCache(request.cacheMarks);
      Recorder.Compose compose =
          (items, requestId) -> {
            BuildContextRequest.Builder whole = made.clone().setRequestId(requestId);
            if (!items.isEmpty()) {
              whole.getAppendBuilder().addAllItems(items);
            }
            return whole.build();
          };
      // A dry run leaves what waits.
      built =
          request.build.getDryRun()
              ? record.list(requestId -> compose.of(record.items(), requestId), BuildContextResponse.class)
              : record.build(id, compose);
      this.format = format;
      return request.body(format, built.getRendered().getRequestJson());
    }
  }

  /**
   * Brings the record up to a whole list of messages, a JSON array in a provider's form, and returns the body of the model's call.
   *
   * <p>Where the list differs from the record it fails with HISTORY_DIVERGED; with rewind, the record is taken back to there. Tools that
   * recall are not added: whoever keeps the list offers them, and answers them by {@link #recall}.
   */
  public String sync(Format format, String messages, Request request, boolean rewind) {
    OnDivergence differs = rewind ? OnDivergence.ON_DIVERGENCE_REWIND : OnDivergence.ON_DIVERGENCE_REFUSE;
    HistoryOptions history =
        HistoryOptions.newBuilder().setOnDivergence(request.anew ? OnDivergence.ON_DIVERGENCE_NEW : differs).build();
    List<String> elements = Json.elements(messages);
    Function<List<String>, String> seen = sent -> built.getRendered().getRequestJson();
    return request.body(format, shown(bodies, format, elements, request, history, seen, () -> format.plain(elements, request), format::behind));
  }

  /**
   * The same by place, for whoever keeps objects of its own: what the model should see, as runs of the list's elements. A list with another
   * first message begins another conversation, and what the list no longer holds is hidden.
   */
  public List<Piece> view(Format format, List<String> elements, Request request) {
    return view(format, elements, request, OnDivergence.ON_DIVERGENCE_NEW, OnCut.ON_CUT_HIDE);
  }

  /**
   * The same with other choices: what happens where the list differs from the record, and to messages that the list no longer holds, and that
   * no build left out.
   */
  public List<Piece> view(Format format, List<String> elements, Request request, OnDivergence differs, OnCut cut) {
    HistoryOptions history = HistoryOptions.newBuilder().setOnDivergence(differs).setOnCut(cut).setByPlace(true).build();
    int end = elements.size();
    Function<List<String>, List<Piece>> seen =
        sent -> built.getHistory().getViewList().stream().flatMap(piece -> Piece.of(piece, elements, sent).stream()).collect(Collectors.toList());
    Supplier<List<Piece>> plain = () -> Piece.behind(List.of(), 0, end);
    return shown(views, format, elements, request, history, seen, plain, (view, rest) -> Piece.behind(view, end - rest.size(), end));
  }

  /** What a list's build shows; while the sidecar is away, what may be shown without it. */
  private <V> V shown(
      Map<Format, Shown<V>> last, Format format, List<String> elements, Request request, HistoryOptions history,
      Function<List<String>, V> seen, Supplier<V> plain, BiFunction<V, List<String>, V> behind) {
    try (Guard alone = guard.enter()) {
      Shown<V> before = last.computeIfAbsent(format, none -> new Shown<>());
      try {
        List<String> sent = listed(format, elements, request, history);
        V view = seen.apply(sent);
        if (passes) {
          before.keep(elements, view, built.getDecisionsCount() > 0 || !sent.equals(elements));
        }
        return view;
      } catch (PalimpsestException failed) {
        V view = passes && failed.away() ? before.pass(elements, plain, behind) : null;
        if (view == null) {
          throw failed;
        }
        passed(format);
        return view;
      }
    }
  }

  /** Notes that a list is on no record: its reply comes with the next one. */
  private void passed(Format format) {
    this.format = format;
    passed = true;
  }

  /** Puts on record what is new in a whole list, and builds. It gives the list as it was sent: without what is too large for a request. */
  private List<String> listed(Format format, List<String> elements, Request request, HistoryOptions history) {
    flush();
    List<String> sent = Large.fit(client, id, elements);
    built = found(format, sent, request, history);
    passed = false;
    known.put(format, built.getHistory());
    if (!built.getHistory().getConversationId().isEmpty()) {
      id = built.getHistory().getConversationId();
    }
    recalled.clear(); // it came with the list
    this.format = format;
    return sent;
  }

  /** Sends what the sidecar does not know of a list. */
  private BuildContextResponse found(Format format, List<String> elements, Request request, HistoryOptions history) {
    HistoryResult nothing = HistoryResult.getDefaultInstance();
    // A system prompt that leads the list is on no record: without another, it has to be sent each time.
    if (!request.system.isEmpty() || !Lists.leadsWithSystem(elements)) {
      HistoryResult seen = known.getOrDefault(format, nothing);
      BuildContextResponse found = Lists.isFront(seen, elements) ? behind(format, elements, request, history, seen) : null;
      if (found == null && Lists.part(elements, 0) < elements.size()) { // a program that was restarted does not know where the sidecar is
        Predicate<HistoryResult> fits = front -> Lists.part(elements, front.getKnownCount()) == elements.size();
        found =
            Lists.fronts(elements, NEWEST).stream().takeWhile(fits).map(front -> behind(format, elements, request, history, front))
                .filter(Objects::nonNull).findFirst().orElse(null);
      }
      if (found != null) {
        return found;
      }
    }
    return listed(format, elements, request, history, nothing);
  }

  /** The same for a front that the sidecar may know; null if it does not. */
  private BuildContextResponse behind(Format format, List<String> elements, Request request, HistoryOptions history, HistoryResult front) {
    try {
      return listed(format, elements, request, history, front);
    } catch (PalimpsestException failed) {
      if (failed.reason() == ErrorReason.ERROR_REASON_HISTORY_PREFIX_UNKNOWN) {
        return null;
      }
      throw failed;
    }
  }

  /** Sends a list behind its known front, ahead of the build what is too much for one request. */
  private BuildContextResponse listed(Format format, List<String> elements, Request request, HistoryOptions history, HistoryResult front) {
    HistoryResult from = front;
    String at = opened;
    for (int end; (end = Lists.part(elements, from.getKnownCount())) < elements.size(); ) {
      AppendMessageRequest.Builder part =
          AppendMessageRequest.newBuilder().setConversationId(at)
              .setProviderInput(historyOf(format, elements.subList(from.getKnownCount(), end), request, history, from));
      from = record.list(requestId -> part.clone().setRequestId(requestId).build(), AppendMessageResponse.class).getHistory();
      at = from.getConversationId().isEmpty() ? at : from.getConversationId();
    }
    BuildContextRequest.Builder made = request.build(at, format);
    made.getAppendBuilder().setProviderInput(historyOf(format, elements.subList(from.getKnownCount(), elements.size()), request, history, from));
    return record.list(requestId -> made.clone().setRequestId(requestId).build(), BuildContextResponse.class);
  }

  private static ProviderInput historyOf(Format format, List<String> elements, Request request, HistoryOptions history, HistoryResult from) {
    ProviderInput.Builder input = inputOf(format, Json.array(elements), ProviderInputShape.PROVIDER_INPUT_SHAPE_HISTORY).setModel(request.model);
    return input.setHistory(history.toBuilder().setKnownCount(from.getKnownCount()).setKnownSha256(from.getKnownSha256())).build();
  }

  // What the model answers.

  /**
   * Puts a reply on record, as the provider answered the last request, with its usage. Returns the calls that wait for results.
   *
   * <p>While the sidecar is away the reply is kept, and goes on record with the next call; it may be added again.
   */
  public List<Call> add(String reply) {
    return add(replied(), reply, false);
  }

  /**
   * Puts a reply on record that broke off, as far as it came, marked as aborted: nobody waits for its calls. What is not whole of it is
   * left out: calls whose arguments are no JSON, reasoning without its signature.
   */
  public void addAborted(String reply) {
    add(replied(), reply, true);
  }

  /** A reply that comes in pieces, to the last request. */
  public StreamedReply stream() {
    return new StreamedReply(this, replied());
  }

  private Format replied() {
    if (format == null) {
      throw new IllegalStateException("no build has said yet which provider's JSON this is");
    }
    return format;
  }

  List<Call> add(Format format, String reply, boolean aborted) {
    try (Guard alone = guard.enter()) {
      // Of a list the sidecar would think that it is the whole conversation.
      boolean listed = reply.stripLeading().startsWith("[");
      ProviderInputShape shape =
          listed ? ProviderInputShape.PROVIDER_INPUT_SHAPE_MESSAGE : ProviderInputShape.PROVIDER_INPUT_SHAPE_UNSPECIFIED;
      boolean read = (eachStep || passes) && !listed && !aborted;
      String identified = read && format == Format.GEMINI ? Replies.identified(reply) : reply;
      List<Call> calls = read ? Replies.calls(format, identified) : List.of();
      if (passed) {
        return calls; // it comes with the next list
      }
      BatchAppendItem item = BatchAppendItem.newBuilder().setProviderInput(inputOf(format, identified, shape).setAborted(aborted)).build();
      if (!record.waits(item)) {
        record.say(item);
      }
      return eachStep && read ? calls : appended(read, calls);
    }
  }

  private List<Call> appended(boolean read, List<Call> calls) {
    try {
      List<Call> appended = new ArrayList<>();
      record.append(id).getCallsList().forEach(call -> appended.add(Call.of(call.getToolCall(), call.getRecalls())));
      return appended;
    } catch (PalimpsestException failed) {
      if (!passes || !read || !failed.away()) {
        throw failed;
      }
      return calls; // it waits
    }
  }

  private static ProviderInput.Builder inputOf(Format format, String json, ProviderInputShape shape) {
    return ProviderInput.newBuilder().setFormat(format.code).setJson(json).setShape(shape);
  }

  /** Puts on record what waits for the next build. */
  public void flush() {
    try (Guard alone = guard.enter()) {
      record.append(id);
    }
  }

  // What tools answer.

  /**
   * Runs tools side by side; those that recall, the sidecar answers. The results go on record with the next build, in the order of the
   * calls. What a tool throws, an Error too, or the sidecar, is told to the model.
   *
   * <p>An interrupt ends it at once, whether tools heed theirs or not. Called again with the same calls, it does not run a tool twice that
   * has ended.
   */
  public void answer(List<Call> calls, Map<String, Tool> tools) {
    try (Guard alone = guard.enter()) {
      record.ready();
    }
    ExecutorService threads = Executors.newFixedThreadPool(Math.max(1, Math.min(calls.size(), TOGETHER)), Palimpsest::daemon);
    try {
      List<Future<?>> running = new ArrayList<>();
      calls.stream().filter(call -> !ended.containsKey(call))
          .forEach(call -> running.add(threads.submit(() -> ended.put(call, answered(call, tools)))));
      for (Future<?> one : running) {
        one.get();
      }
    } catch (InterruptedException interrupted) {
      throw PalimpsestException.interrupted(interrupted);
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible.getCause()); // what tools throw is a result
    } finally {
      threads.shutdownNow();
    }
    calls.forEach(call -> message(resultMessage(ended.remove(call))));
  }

  private ToolResult answered(Call call, Map<String, Tool> tools) {
    ToolResult.Builder result = ToolResult.newBuilder().setCallId(call.id()).setName(call.name());
    Tool tool = tools.get(call.name());
    try {
      if (tool == null && call.recalls()) {
        return ask(call);
      }
      if (tool == null) {
        throw new IllegalArgumentException("there is no tool " + call.name());
      }
      String text = tool.run(call.arguments());
      return result.setText(text == null ? "" : text).build();
    } catch (Throwable failure) {
      return result.setState(ToolResultState.TOOL_RESULT_STATE_ERROR).setText(String.valueOf(failure)).build();
    }
  }

  /** The text for a call of a recall tool, for loops that run tools themselves. {@link #result} of that call keeps what it was recalled from. */
  public String recall(String name, String arguments, String callId) {
    try (Guard alone = guard.enter()) {
      record.ready();
    }
    ToolResult result = ask(new Call(callId, name, arguments, true));
    recalled.put(callId, result);
    return result.getText();
  }

  private ToolResult ask(Call call) {
    AnswerToolCallRequest request = AnswerToolCallRequest.newBuilder().setConversationId(id).setToolCall(call.asked()).build();
    return client.call(stubs -> stubs.context().answerToolCall(request)).getToolResult();
  }

  private static Message resultMessage(ToolResult result) {
    return Message.newBuilder().setRole(Role.ROLE_TOOL).addParts(Part.newBuilder().setToolResult(result)).build();
  }

  /** The calls at the record's end that no result answers: what a process that ended between a reply and its results left behind. */
  public List<Call> waiting() {
    try (Guard alone = guard.enter()) {
      record.ready();
    }
    Tail tail = new Tail();
    String page = "";
    while (true) {
      ListMessagesRequest request =
          ListMessagesRequest.newBuilder().setConversationId(id).setPageSize(FEW_MESSAGES).setPageToken(page)
              .setOrder(ListOrder.LIST_ORDER_DESCENDING).setMaxReplyBytes(Palimpsest.LARGEST_REPLY).build();
      ListMessagesResponse listed;
      try {
        listed = client.call(stubs -> stubs.conversations().listMessages(request));
      } catch (PalimpsestException failed) {
        if (failed.reason() == ErrorReason.ERROR_REASON_CONVERSATION_NOT_FOUND) {
          return List.of();
        }
        throw failed;
      }
      page = listed.getNextPageToken();
      if (!listed.getMessagesList().stream().allMatch(tail::take) || page.isEmpty()) {
        return tail.open();
      }
    }
  }

  // What is no message.

  /**
   * Stores bytes of any size as they are read, and returns the citation that stands for them: show the model its text. The header says what
   * more is known of them. Nothing is tried again: the same bytes stored again are the same content.
   */
  public Citation store(StoreContentHeader header, InputStream bytes) throws IOException {
    try (Guard alone = guard.enter()) {
      record.ready();
      client.greet();
      StoreContentHeader.Builder whole = header.toBuilder().setConversationId(id);
      if (header.getRequestId().isEmpty()) {
        whole.setRequestId(UUID.randomUUID().toString());
      }
      return Contents.store(client.raw(), whole.build(), bytes, client.timeout);
    } catch (StatusRuntimeException failed) {
      throw PalimpsestException.of(failed);
    }
  }

  /** The bytes of a content, as they come. What fails is a {@link PalimpsestException}. */
  public InputStream content(String contentId) {
    return new Contents(client, id, contentId);
  }
}
