import static io.github.palimpsest_context.v1.ContextFormat.CONTEXT_FORMAT_OPENAI_CHAT;

import com.google.protobuf.Any;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import io.github.palimpsest_context.v1.AppendMessageRequest;
import io.github.palimpsest_context.v1.Budget;
import io.github.palimpsest_context.v1.BuildContextRequest;
import io.github.palimpsest_context.v1.BuildContextResponse;
import io.github.palimpsest_context.v1.ContextServiceGrpc.ContextServiceBlockingStub;
import io.github.palimpsest_context.v1.ContextServiceGrpc;
import io.github.palimpsest_context.v1.DecisionKind;
import io.github.palimpsest_context.v1.ExpandMessageRequest;
import io.github.palimpsest_context.v1.ExpandMode;
import io.github.palimpsest_context.v1.Message;
import io.github.palimpsest_context.v1.Part;
import io.github.palimpsest_context.v1.Role;
import io.github.palimpsest_context.v1.Span;
import io.github.palimpsest_context.v1.ToolCall;
import io.github.palimpsest_context.v1.ToolResult;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import io.grpc.protobuf.StatusProto;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Runs an agent's loop against a sidecar, with nothing but generated stubs.
 *
 * <p>Loop.java TARGET... such as 127.0.0.1:50051 or unix:///run/palimpsest.sock
 *
 * <p>Prints one line for each check that held; the first that does not ends it.
 */
final class Loop {
  private static final int SECONDS = 20; // of patience with every call

  private final ManagedChannel channel;
  private final String conversation = "java-" + UUID.randomUUID();

  private Loop(ManagedChannel channel) {
    this.channel = channel;
  }

  public static void main(String[] targets) throws InterruptedException {
    for (String target : targets) {
      ManagedChannel channel = target.startsWith("unix:") ? overUnix(target) : overTcp(target);
      new Loop(channel).run(target.split(":")[0]);
      channel.shutdown().awaitTermination(SECONDS, TimeUnit.SECONDS);
    }
  }

  private static ManagedChannel overTcp(String target) {
    return NettyChannelBuilder.forTarget(target).usePlaintext().build();
  }

  /** Netty's own transport, of Linux. Its one thread is a daemon, so that the program ends without waiting for it. */
  private static ManagedChannel overUnix(String target) {
    ThreadFactory daemons = new DefaultThreadFactory("epoll", true);
    return NettyChannelBuilder.forAddress(new DomainSocketAddress(target.substring("unix://".length())))
        .channelType(EpollDomainSocketChannel.class)
        .eventLoopGroup(new MultiThreadIoEventLoopGroup(1, daemons, EpollIoHandler.newFactory()))
        .withOption(ChannelOption.SO_KEEPALIVE, null) // that is TCP's
        .usePlaintext()
        .build();
  }

  private void run(String over) {
    appendAndBuild();
    System.out.println("ok " + over + " appendAndBuild");
    expand(appendLargeResult());
    System.out.println("ok " + over + " expand");
    typedErrors();
    System.out.println("ok " + over + " typedErrors");
  }

  /** A deadline counts from when it is set: each call sets its own. */
  private ContextServiceBlockingStub stub() {
    return ContextServiceGrpc.newBlockingStub(channel).withDeadlineAfter(SECONDS, TimeUnit.SECONDS);
  }

  private int append(Role role, Part.Builder part) {
    Message message = Message.newBuilder().setRole(role).addParts(part).build();
    return append(AppendMessageRequest.newBuilder().setConversationId(conversation).setMessage(message).build());
  }

  private int append(AppendMessageRequest request) {
    return stub().appendMessage(request).getReceipt().getIndex();
  }

  private BuildContextResponse build(Budget budget) {
    return stub().buildContext(BuildContextRequest.newBuilder()
        .setConversationId(conversation)
        .setFormat(CONTEXT_FORMAT_OPENAI_CHAT)
        .setBudget(budget)
        .build());
  }

  private void appendAndBuild() {
    append(Role.ROLE_SYSTEM, Part.newBuilder().setText("You are terse. Never guess."));
    int asked = append(Role.ROLE_USER, Part.newBuilder().setText("What is the weather in Kraków and in 東京?"));
    check(asked == 1, "the second message has index 1", asked);
    BuildContextResponse built = build(Budget.getDefaultInstance());
    check(built.getTurn() == 1, "the first build begins turn 1", built);
    String shown = built.getRendered().getMessagesJson().toStringUtf8();
    check(shown.startsWith("[{\"role\":\"system\"") && shown.contains("Kraków and in 東京?"), "both are shown", shown);
  }

  private int appendLargeResult() {
    append(Role.ROLE_ASSISTANT, Part.newBuilder()
        .setToolCall(ToolCall.newBuilder().setCallId("c1").setName("read_manual").setArgumentsJson("{}")));
    int index = append(Role.ROLE_TOOL, Part.newBuilder()
        .setToolResult(ToolResult.newBuilder().setCallId("c1").setName("read_manual").setText(manual(0, 20_000))));
    BuildContextResponse built =
        build(Budget.newBuilder().setContextWindowTokens(32_000).setReservedOutputTokens(2_000).build());
    check(built.getTokens().getTotal() <= 30_000, "within budget", built.getTokens());
    List<Integer> clipped = built.getDecisionsList().stream()
        .filter(d -> d.getKind() == DecisionKind.DECISION_KIND_CLIPPED)
        .map(d -> d.getStartIndex())
        .collect(Collectors.toList());
    check(clipped.equals(List.of(index)), "a decision says that it is clipped", built.getDecisionsList());
    return index;
  }

  private void expand(int index) {
    var request = ExpandMessageRequest.newBuilder().setConversationId(conversation).setMessageIndex(index);
    var lines = Span.newBuilder().setStartIndex(10_000).setEndIndex(10_003);
    var part = stub().expandMessage(request.clone().setMode(ExpandMode.EXPAND_MODE_RETURN_ONLY).setLines(lines).build());
    String text = part.getMessage().getParts(0).getText();
    check(text.equals(manual(10_000, 10_003)), "three lines of the original come back", text);
    refused(Status.Code.FAILED_PRECONDITION, "EXPANSION_TOO_LARGE",
        () -> stub().expandMessage(request.clone().setMode(ExpandMode.EXPAND_MODE_RESTORE).build()));
  }

  private static String manual(int from, int to) {
    return IntStream.range(from, to).mapToObj(n -> "line " + n + ", naïve 東京\n").collect(Collectors.joining());
  }

  private void typedErrors() {
    List<String> fields = refused(Status.Code.INVALID_ARGUMENT, "INVALID_FIELD",
        () -> append(AppendMessageRequest.newBuilder().setMessage(Message.getDefaultInstance()).build()));
    check(fields.containsAll(List.of("conversation_id", "message.role", "message.parts")), "every fault is named", fields);
    var absent = ExpandMessageRequest.newBuilder().setConversationId(conversation).setMessageIndex(999).build();
    refused(Status.Code.NOT_FOUND, "MESSAGE_NOT_FOUND", () -> stub().expandMessage(absent));
  }

  /** Runs attempt, which must fail as said, and returns the violated fields. */
  private static List<String> refused(Status.Code code, String reason, Runnable attempt) {
    try {
      attempt.run();
    } catch (StatusRuntimeException error) {
      check(error.getStatus().getCode() == code, reason + ": code", error);
      List<String> reasons = new ArrayList<>();
      List<String> fields = new ArrayList<>();
      for (Any detail : StatusProto.fromThrowable(error).getDetailsList()) {
        if (detail.is(ErrorInfo.class)) {
          ErrorInfo info = unpack(detail, ErrorInfo.class);
          reasons.add(info.getDomain() + " " + info.getReason());
        } else if (detail.is(BadRequest.class)) {
          unpack(detail, BadRequest.class).getFieldViolationsList().forEach(v -> fields.add(v.getField()));
        }
      }
      check(reasons.equals(List.of("palimpsest.dev " + reason)), reason + ": one ErrorInfo", reasons);
      return fields;
    }
    throw new AssertionError(reason + ": the call was accepted");
  }

  private static <T extends com.google.protobuf.Message> T unpack(Any detail, Class<T> type) {
    try {
      return detail.unpack(type);
    } catch (com.google.protobuf.InvalidProtocolBufferException broken) {
      throw new AssertionError("a detail that does not parse", broken);
    }
  }

  private static void check(boolean condition, String what, Object seen) {
    if (!condition) {
      throw new AssertionError(what + ": " + seen);
    }
  }
}
