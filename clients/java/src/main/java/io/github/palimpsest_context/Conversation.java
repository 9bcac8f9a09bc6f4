package io.github.palimpsest_context;

import io.github.palimpsest_context.v1.AnswerToolCallRequest;
import io.github.palimpsest_context.v1.AppendedCall;
import io.github.palimpsest_context.v1.BatchAppendItem;
import io.github.palimpsest_context.v1.BuildContextRequest;
import io.github.palimpsest_context.v1.BuildContextResponse;
import io.github.palimpsest_context.v1.ErrorReason;
import io.github.palimpsest_context.v1.HistoryResult;
import io.github.palimpsest_context.v1.ListMessagesRequest;
import io.github.palimpsest_context.v1.ListMessagesResponse;
import io.github.palimpsest_context.v1.ListOrder;
import io.github.palimpsest_context.v1.Message;
import io.github.palimpsest_context.v1.OnDivergence;
import io.github.palimpsest_context.v1.Part;
import io.github.palimpsest_context.v1.ProviderInput;
import io.github.palimpsest_context.v1.ProviderInputShape;
import io.github.palimpsest_context.v1.Role;
import io.github.palimpsest_context.v1.ToolResult;
import io.github.palimpsest_context.v1.ToolResultState;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A conversation on record. It is used by one thread at a time. */
public final class Conversation {
  private static final int FEW_MESSAGES = 32; // are read at a time where few are wanted
  private static final int TOGETHER = 32; // threads at most for tools side by side

  private final Palimpsest client;
  private final String opened; // where lists are looked for: one of them may go on elsewhere
  private String id;
  private final Recorder record;
  private final Map<String, ToolResult> recalled = new HashMap<>(); // by call
  private final Map<Format, HistoryResult> known = new EnumMap<>(Format.class);
  private Format format; // of the last build
  private BuildContextResponse built;
  private boolean eachStep;

  Conversation(Palimpsest client, String id, io.github.palimpsest_context.v1.Conversation settings) {
    this.client = client;
    this.opened = id;
    this.id = id;
    this.record = new Recorder(client, settings);
  }

  /** Keeps a reply until the next build, so that a step is one commit: what was not built yet is lost with the process. */
  public Conversation durableSteps() {
    eachStep = true;
    return this;
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
    record.pending.add(BatchAppendItem.newBuilder().setMessage(message).build());
  }

  /** A message in a provider's JSON, such as one with an image. */
  public void input(Format format, String message) {
    ProviderInput input = inputOf(format, message, ProviderInputShape.PROVIDER_INPUT_SHAPE_MESSAGE).build();
    record.pending.add(BatchAppendItem.newBuilder().setProviderInput(input).build());
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
    built =
        record.build(
            () -> {
              BuildContextRequest.Builder made =
                  request.build(id, format).setRecallTools(request.recall).setPromptCache(request.cacheMarks);
              if (!record.pending.isEmpty()) {
                made.getAppendBuilder().addAllItems(record.pending);
              }
              return made;
            },
            !request.build.getDryRun());
    this.format = format;
    return request.body(format, built.getRendered().getRequestJson());
  }

  /**
   * Brings the record up to a whole list of messages, a JSON array in a provider's form, and returns the body of the model's call.
   *
   * <p>Where the list differs from the record it fails with HISTORY_DIVERGED; with rewind, the record is taken back to there. Tools that
   * recall are not added: whoever keeps the list offers them, and answers them by {@link #recall}.
   */
  public String sync(Format format, String messages, Request request, boolean rewind) {
    flush();
    List<String> elements = Json.elements(messages);
    HistoryResult seen = known.getOrDefault(format, HistoryResult.getDefaultInstance());
    int count = seen.getKnownCount();
    if (request.system.isEmpty() && leadsWithSystem(elements) // it is on no record, and has to be sent each time
        || count > elements.size()
        || !chain(elements.subList(0, count)).equals(seen.getKnownSha256())) {
      count = 0;
    }
    try {
      built = sync(format, elements, count, request, rewind);
    } catch (PalimpsestException failed) {
      if (failed.reason() != ErrorReason.ERROR_REASON_HISTORY_PREFIX_UNKNOWN) {
        throw failed;
      }
      built = sync(format, elements, 0, request, rewind);
    }
    known.put(format, built.getHistory());
    if (!built.getHistory().getConversationId().isEmpty()) {
      id = built.getHistory().getConversationId();
    }
    recalled.clear(); // it came with the list
    this.format = format;
    return request.body(format, built.getRendered().getRequestJson());
  }

  private static boolean leadsWithSystem(List<String> elements) {
    String role = elements.isEmpty() || !elements.get(0).startsWith("{") ? "" : Json.string(Json.members(elements.get(0)), "role");
    return role.equals("system") || role.equals("developer");
  }

  private BuildContextResponse sync(Format format, List<String> elements, int count, Request request, boolean rewind) {
    String rest = Json.array(elements.subList(count, elements.size()));
    ProviderInput.Builder input = inputOf(format, rest, ProviderInputShape.PROVIDER_INPUT_SHAPE_HISTORY).setModel(request.model);
    OnDivergence differs = rewind ? OnDivergence.ON_DIVERGENCE_REWIND : OnDivergence.ON_DIVERGENCE_REFUSE;
    input.getHistoryBuilder().setOnDivergence(request.anew ? OnDivergence.ON_DIVERGENCE_NEW : differs);
    if (count > 0) {
      input.getHistoryBuilder().setKnownCount(count).setKnownSha256(chain(elements.subList(0, count)));
    }
    return record.build(
        () -> {
          BuildContextRequest.Builder made = request.build(opened, format);
          made.getAppendBuilder().setProviderInput(input);
          return made;
        },
        false);
  }

  /** The hash over the elements of a list, as the sidecar knows it by. */
  private static String chain(List<String> elements) {
    byte[] state = new byte[32];
    MessageDigest digest = LocalSidecar.digest();
    for (String element : elements) {
      digest.update(state);
      state = digest.digest(element.getBytes(StandardCharsets.UTF_8));
    }
    return elements.isEmpty() ? "" : LocalSidecar.hex(state);
  }

  // What the model answers.

  /** Puts a reply on record, as the provider answered the last request, with its usage. Returns the calls that wait for results. */
  public List<Call> add(String reply) {
    return add(reply, false);
  }

  /**
   * Puts a reply on record that broke off, as far as it came, marked as aborted: nobody waits for its calls. What is not whole of it is
   * left out: calls whose arguments are no JSON, reasoning without its signature.
   */
  public void addAborted(String reply) {
    add(reply, true);
  }

  private List<Call> add(String reply, boolean aborted) {
    if (format == null) {
      throw new IllegalStateException("no build has said yet which provider's JSON this is");
    }
    // Of a list the sidecar would think that it is the whole conversation.
    boolean listed = reply.stripLeading().startsWith("[");
    ProviderInputShape shape =
        listed ? ProviderInputShape.PROVIDER_INPUT_SHAPE_MESSAGE : ProviderInputShape.PROVIDER_INPUT_SHAPE_UNSPECIFIED;
    BatchAppendItem item = BatchAppendItem.newBuilder().setProviderInput(inputOf(format, reply, shape).setAborted(aborted)).build();
    List<Call> read = eachStep && !aborted && !listed ? Replies.calls(format, reply) : null;
    if (read != null) {
      record.pending.add(item);
      return read;
    }
    List<Call> calls = new ArrayList<>();
    for (AppendedCall call : record.append(id, List.of(item)).getCallsList()) {
      calls.add(Call.of(call.getToolCall(), call.getRecalls()));
    }
    return calls;
  }

  private static ProviderInput.Builder inputOf(Format format, String json, ProviderInputShape shape) {
    return ProviderInput.newBuilder().setFormat(format.code).setJson(json).setShape(shape);
  }

  /** Puts on record what waits for the next build. */
  public void flush() {
    if (!record.pending.isEmpty()) {
      record.append(id, List.of());
    }
  }

  // What tools answer.

  /**
   * Runs tools side by side; those that recall, the sidecar answers. The results go on record with the next build, in the order of the
   * calls. What a tool fails with, or the sidecar, is told to the model.
   */
  public void answer(List<Call> calls, Map<String, Tool> tools) {
    record.ready();
    ExecutorService threads = Executors.newFixedThreadPool(Math.max(1, Math.min(calls.size(), TOGETHER)));
    try {
      List<Future<ToolResult>> running = new ArrayList<>();
      calls.forEach(call -> running.add(threads.submit(() -> answered(call, tools))));
      List<ToolResult> results = new ArrayList<>();
      for (Future<ToolResult> one : running) {
        results.add(one.get());
      }
      results.forEach(result -> message(resultMessage(result)));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while tools ran: none of their results is kept", interrupted);
    } catch (ExecutionException broken) {
      throw new IllegalStateException(broken.getCause()); // an Error: no more than this is safe
    } finally {
      threads.shutdownNow();
    }
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
    } catch (Exception failure) {
      return result.setState(ToolResultState.TOOL_RESULT_STATE_ERROR).setText(String.valueOf(failure)).build();
    }
  }

  /** The text for a call of a recall tool, for loops that run tools themselves. {@link #result} of that call keeps what it was recalled from. */
  public String recall(String name, String arguments, String callId) {
    record.ready();
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
    record.ready();
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
}
