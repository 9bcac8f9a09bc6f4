import io.github.palimpsest_context.Call;
import io.github.palimpsest_context.Conversation;
import io.github.palimpsest_context.Format;
import io.github.palimpsest_context.LocalSidecarException;
import io.github.palimpsest_context.OnUnavailable;
import io.github.palimpsest_context.Options;
import io.github.palimpsest_context.Palimpsest;
import io.github.palimpsest_context.PalimpsestException;
import io.github.palimpsest_context.Piece;
import io.github.palimpsest_context.RefusedItemsException;
import io.github.palimpsest_context.Request;
import io.github.palimpsest_context.StreamedReply;
import io.github.palimpsest_context.Tool;
import io.github.palimpsest_context.v1.CitationsPolicy;
import io.github.palimpsest_context.v1.ErrorReason;
import io.github.palimpsest_context.v1.GetConversationRequest;
import io.github.palimpsest_context.v1.ListMessagesRequest;
import io.github.palimpsest_context.v1.ListMessagesResponse;
import io.github.palimpsest_context.v1.ListSourcesRequest;
import io.github.palimpsest_context.v1.Message;
import io.github.palimpsest_context.v1.Policy;
import io.github.palimpsest_context.v1.StoreContentHeader;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Checks of the package for Java against sidecars of its own. The first that does not hold ends it. */
final class Checks {
  private static final Policy CITING =
      Policy.newBuilder().setCitations(CitationsPolicy.newBuilder().setEnabled(true).setThresholdChars(3000)).build();
  private static final Request MODEL = Request.of("m").withoutRecall();
  private static final String LINE = "a line of a log that says little\n";

  private interface Check {
    void run() throws Exception;
  }

  private Checks() {}

  public static void main(String[] names) throws Exception {
    Map<String, Check> all = new LinkedHashMap<>();
    all.put("large results", Checks::largeResults);
    all.put("many messages", Checks::manyMessages);
    all.put("long lists", Checks::longLists);
    all.put("contents", Checks::contents);
    all.put("refused", Checks::refused);
    all.put("away", Checks::away);
    all.put("views", Checks::views);
    all.put("data lost", Checks::dataLost);
    all.put("second sidecar", Checks::secondSidecar);
    all.put("shared", Checks::shared);
    all.put("later", Checks::later);
    all.put("tools", Checks::tools);
    all.put("close", Checks::close);
    all.put("values", Checks::values);
    all.put("broken stream", Checks::brokenStream);
    for (Map.Entry<String, Check> one : all.entrySet()) {
      if (names.length == 0 || List.of(names).contains(one.getKey())) {
        long began = System.nanoTime();
        one.getValue().run();
        System.out.printf("%s held after %d ms%n", one.getKey(), (System.nanoTime() - began) / 1_000_000);
      }
    }
  }

  // What is large.

  private static void largeResults() {
    try (Palimpsest p = local()) {
      for (int[] one : new int[][] {{100, 1}, {12, 10}, {6, 3}}) {
        Conversation conv = p.conversation("results-" + one[0], CITING);
        conv.user("go");
        conv.openai(MODEL);
        List<Call> calls = conv.add(reply(calling(IntStream.range(0, one[1]).mapToObj(i -> "c" + i).toArray(String[]::new))));
        AtomicInteger made = new AtomicInteger();
        conv.answer(calls, Map.of("log", arguments -> made.incrementAndGet() + lines(one[0])));
        String body = conv.openai(MODEL);
        expect(body.length() < one[1] * 4000 && body.contains("a line of a log"), "the view of " + one[0] + " MB: " + body.length());
        long stored =
            p.raw().contents().listSources(ListSourcesRequest.newBuilder().setConversationId(conv.id()).build()).getSourcesList().stream()
                .filter(source -> source.getTotalBytes() > (long) one[0] << 20).count();
        equal((long) one[1], stored);
      }
    }
  }

  private static void manyMessages() {
    try (Palimpsest p = local()) {
      Conversation conv = p.conversation("many");
      IntStream.range(0, 1500).forEach(i -> conv.user("m" + i));
      conv.openai(MODEL);
      equal(1500, count(p, conv));
      for (int i = 0; i < 100; i++) { // JSON with more commas than one request takes
        conv.input(Format.OPENAI, "{\"role\":\"user\",\"content\":[" + text("x") + ("," + text("y")).repeat(900) + "]}");
      }
      conv.flush();
      equal(1600, count(p, conv));
    }
  }

  private static void longLists() throws Exception {
    withFolder(
        folder -> {
          List<String> list = new ArrayList<>(List.of(user("go")));
          for (int i = 0; i < 40; i++) {
            list.add(calling("c" + i));
            list.add(result("c" + i, i + " " + lines(1)));
          }
          try (Palimpsest p = local(new Options().dataDir(folder))) {
            Conversation conv = p.conversation("list", CITING);
            conv.sync(Format.OPENAI, array(list), MODEL, false);
            equal(list.size(), conv.built().getHistory().getKnownCount());
            equal(list.size(), count(p, conv));
          }
          list.add(said("fine"));
          list.add(user("more"));
          try (Palimpsest p = local(new Options().dataDir(folder))) {
            Conversation conv = p.conversation("list");
            conv.sync(Format.OPENAI, array(list), MODEL, false);
            equal(2, conv.built().getReceiptsCount());
            list.add(calling("last"));
            list.add(result("last", lines(20)));
            String body = conv.sync(Format.OPENAI, array(list), MODEL, false);
            equal(2, conv.built().getReceiptsCount());
            expect(body.contains("last"), "the last result is shown");
            equal(list.size(), count(p, conv));
            Conversation many = p.conversation("short ones");
            List<String> small = IntStream.range(0, 12_000).mapToObj(i -> user("m" + i)).collect(Collectors.toList());
            many.sync(Format.OPENAI, array(small), MODEL, false);
            equal(small.size(), many.built().getHistory().getKnownCount());
          }
        });
  }

  private static void contents() throws Exception {
    try (Palimpsest p = local()) {
      byte[] bytes = lines(20).getBytes(StandardCharsets.UTF_8);
      Conversation conv = p.conversation("contents", CITING);
      String handle =
          conv.store(StoreContentHeader.newBuilder().setSourceTitle("a log").build(), new ByteArrayInputStream(bytes)).getContentId();
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      try (InputStream in = conv.content(handle)) {
        byte[] piece = new byte[10_000];
        for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
          digest.update(piece, 0, n);
        }
      }
      expect(Arrays.equals(digest.digest(), MessageDigest.getInstance("SHA-256").digest(bytes)), "the same bytes");
      InputStream left = conv.content(handle);
      equal((int) 'a', left.read());
      left.close();
      equal(-1, left.read());
      equal(ErrorReason.ERROR_REASON_CONTENT_NOT_FOUND, fails(() -> conv.content("c99-abcdefgh")).reason());
      StoreContentHeader wrong = StoreContentHeader.newBuilder().setSha256("0".repeat(64)).build();
      equal(ErrorReason.ERROR_REASON_CHECKSUM_MISMATCH, fails(() -> conv.store(wrong, new ByteArrayInputStream(bytes))).reason());
    }
  }

  // What is refused.

  private static void refused() {
    try (Palimpsest p = local()) {
      Conversation conv = p.conversation("refused");
      String nobodys = "{\"content\":\"nobody says this\"}";
      conv.user("one");
      conv.input(Format.OPENAI, nobodys);
      conv.user("two");
      conv.result("nobody's", "x");
      RefusedItemsException first = (RefusedItemsException) fails(conv::flush);
      equal(List.of(1), first.refused().stream().map(one -> one.index()).collect(Collectors.toList()));
      equal(nobodys, first.refused().get(0).item().getProviderInput().getJson());
      expect(first.getMessage().contains("1") && !first.violations().isEmpty() && !first.getMessage().contains("nobody says"), first.getMessage());
      RefusedItemsException second = (RefusedItemsException) fails(() -> conv.openai(MODEL));
      equal(ErrorReason.ERROR_REASON_RESULT_WITHOUT_CALL, second.reason());
      equal(2, second.refused().get(0).index());
      String body = conv.openai(MODEL);
      expect(body.contains("one") && body.contains("two"), body);

      conv.message(Message.newBuilder().build());
      equal(1, ((RefusedItemsException) fails(conv::flush)).refused().size());
      conv.add(reply(said("fine")));
      conv.user("word ".repeat(300_000)); // more than the window
      RefusedItemsException large = (RefusedItemsException) fails(() -> conv.openai(Request.of("gpt-5.1")));
      equal(ErrorReason.ERROR_REASON_CONTEXT_CANNOT_FIT, large.reason());
      conv.user("a short one");
      expect(conv.openai(Request.of("gpt-5.1")).contains("a short one"), "the rest goes on");

      conv.input(Format.OPENAI, "{\"role\":\"user\",\"content\":\"x\",\"more\":[0" + ",0".repeat(250_000) + "]}"); // the error names no item
      equal(1, ((RefusedItemsException) fails(conv::flush)).refused().size());
      fails(() -> conv.add("{\"error\":{\"message\":\"rate limit\"}}"));
      conv.add(reply(said("done")));
      equal(5, count(p, conv));
    }
  }

  // What is away.

  private static void away() throws Exception {
    withFolder(
        folder -> {
          String address = freeAddress();
          Palimpsest running = at(address, folder);
          try (Palimpsest p = Palimpsest.connect(address, new Options().timeout(Duration.ofSeconds(3)))) {
            Conversation raising = p.conversation("raising");
            Conversation passing = p.conversation("passing").onUnavailable(OnUnavailable.PASS);
            for (Conversation one : List.of(raising, passing)) {
              one.user("one");
              one.openai(MODEL);
            }
            Conversation plain = p.conversation("plain").onUnavailable(OnUnavailable.PASS);
            Conversation shaped = p.conversation("shaped", CITING).onUnavailable(OnUnavailable.PASS);
            List<String> list = new ArrayList<>(List.of(user("one"), calling("c"), result("c", lines(1))));
            plain.sync(Format.OPENAI, array(list.subList(0, 1)), MODEL, false);
            shaped.sync(Format.OPENAI, array(list), MODEL, false);
            running.close();

            String reply = reply(said("1"));
            fails(() -> raising.add(reply));
            fails(() -> raising.add(reply)); // again: the same one
            equal(List.of("c log"), passing.add(reply(calling("c"))).stream().map(c -> c.id() + " " + c.name()).collect(Collectors.toList()));

            list.add(said("1"));
            list.add(user("two"));
            String body = plain.sync(Format.OPENAI, array(list), MODEL.system("Be terse."), false);
            expect(body.contains(array(list).substring(1)) && body.contains("Be terse."), "the plain list");
            equal(List.of(), plain.add(reply(said("2"))));
            body = shaped.sync(Format.OPENAI, array(list), MODEL, false);
            expect(body.length() < 5000 && body.endsWith(list.get(3) + "," + list.get(4) + "]}"), "the last view and what is new: " + body.length());
            Conversation unknown = p.conversation("unknown").onUnavailable(OnUnavailable.PASS);
            expect(unknown.sync(Format.ANTHROPIC, "[" + user("one") + "]", MODEL, false).contains("Be terse."), "a first list");
            long began = System.nanoTime();
            fails(() -> unknown.sync(Format.OPENAI, array(list), MODEL, false)); // who knows how it was shown
            fails(() -> raising.sync(Format.OPENAI, array(list), MODEL, false));
            expect(System.nanoTime() - began < TimeUnit.SECONDS.toNanos(8), "they give up in time");

            running = at(address, folder);
            raising.flush();
            passing.flush();
            equal(2, count(p, raising));
            equal(2, count(p, passing));
            list.add(said("2"));
            plain.sync(Format.OPENAI, array(list), MODEL, false);
            equal(6, count(p, plain));
          } finally {
            running.close();
          }
        });
  }

  /** What is shown whole is named by its place; what is not comes as JSON. While the sidecar is away, so does the last view. */
  private static void views() throws Exception {
    String address = freeAddress();
    Palimpsest running = at(address, null);
    try (Palimpsest p = Palimpsest.connect(address, new Options().timeout(Duration.ofSeconds(3)))) {
      Conversation conv = p.conversation("views", CITING).onUnavailable(OnUnavailable.PASS);
      List<String> list = new ArrayList<>(List.of(user("one"), calling("c"), result("c", lines(1)), said("1"), user("two")));
      equal("WHOLE[0, 1] CHANGED[2] WHOLE[3, 4]", places(conv.view(Format.OPENAI, list, MODEL)));
      String cited = conv.view(Format.OPENAI, list, MODEL).get(1).shown().get(0);
      expect(cited.startsWith("{") && cited.length() < 5000, "the citation: " + cited.length());
      list.remove(4);
      list.remove(3);
      equal("WHOLE[0, 1] CHANGED[2]", places(conv.view(Format.OPENAI, list, MODEL))); // taken back
      equal("WHOLE[0]", places(conv.view(Format.OPENAI, List.of(user("other")), MODEL)));
      expect(!conv.id().equals("views"), "another conversation: " + conv.id());
      list.add(calling("d"));
      list.add(result("d", lines(9)));
      List<Piece> large = conv.view(Format.OPENAI, list, MODEL);
      equal("WHOLE[0, 1] CHANGED[2] WHOLE[3] CHANGED[4]", places(large));
      expect(large.get(3).shown().get(0).length() < 5000, "the large one: " + large.get(3).shown().get(0).length());
      list.remove(4);
      list.remove(3);
      conv.view(Format.OPENAI, list, MODEL);
      running.close();
      list.add(user("three"));
      equal("WHOLE[0, 1] CHANGED[2] WHOLE[3]", places(conv.view(Format.OPENAI, list, MODEL)));
    } finally {
      running.close();
    }
  }

  private static String places(List<Piece> view) {
    return view.stream().map(piece -> piece.kind() + "" + piece.indexes()).collect(Collectors.joining(" "));
  }

  /** Data that is lost between a build and its reply: the next list begins another conversation, and says so. */
  private static void dataLost() throws Exception {
    String address = freeAddress();
    Palimpsest running = at(address, null);
    try (Palimpsest p = Palimpsest.connect(address, new Options().timeout(Duration.ofSeconds(10)))) {
      Conversation conv = p.conversation("lost");
      String list = user("one");
      conv.sync(Format.OPENAI, "[" + list + "]", Request.of("m").anew(), false);
      running.close();
      running = at(address, null);
      conv.add(reply(said("1")));
      list += "," + said("1") + "," + user("two");
      String body = conv.sync(Format.OPENAI, "[" + list + "]", Request.of("m").anew(), false);
      expect(body.contains("one") && body.contains("two"), body);
      expect(!conv.id().equals("lost"), "another conversation: " + conv.id());
      conv.add(reply(said("2")));
      equal(4, count(p, conv));
    } finally {
      running.close();
    }
  }

  private static void secondSidecar() throws Exception {
    withFolder(
        folder -> {
          try (Palimpsest first = local(new Options().dataDir(folder))) {
            PalimpsestException told = fails(() -> Palimpsest.local(new Options().dataDir(folder)));
            expect(told instanceof LocalSidecarException && told.getMessage().contains("process " + first.pid()), first.pid() + ": " + told.getMessage());
          }
          expect(fails(() -> Palimpsest.local(new Options().arguments("--nonsense"))).getMessage().contains("nonsense"), "what it logged");
          fails(() -> Palimpsest.local(new Options().binary("/nowhere/sidecar")));
        });
  }

  // How it is used.

  private static void shared() throws Exception {
    try (Palimpsest p = local()) {
      Conversation conv = p.conversation("shared");
      AtomicInteger taken = new AtomicInteger();
      AtomicInteger turnedAway = new AtomicInteger();
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        Thread thread =
            new Thread(
                () -> {
                  for (int k = 0; k < 50; k++) {
                    try {
                      conv.user("x");
                      taken.incrementAndGet();
                      conv.flush();
                    } catch (IllegalStateException shared) {
                      expect(shared.getMessage().contains("another thread"), shared.getMessage());
                      turnedAway.incrementAndGet();
                    }
                  }
                });
        threads.add(thread);
        thread.start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
      conv.flush();
      equal(taken.get(), count(p, conv));
      expect(turnedAway.get() > 0, "somebody was turned away");
    }
  }

  private static void later() throws Exception {
    try (Palimpsest p = local()) {
      Conversation conv = p.conversation("later");
      for (int i = 0; i < 20; i++) {
        String said = "m" + i;
        conv.later(
            c -> {
              c.user(said);
              c.flush();
              return null;
            });
      }
      CompletableFuture<String> body = conv.later(c -> c.openai(MODEL));
      CompletableFuture<List<Call>> calls = conv.later(c -> c.add(reply(said("fine"))));
      expect(body.get(20, TimeUnit.SECONDS).contains("m0") && calls.get(20, TimeUnit.SECONDS).isEmpty(), "in order");
      ListMessagesResponse listed =
          p.raw().conversations().listMessages(ListMessagesRequest.newBuilder().setConversationId("later").setPageSize(100).build());
      String order = listed.getMessagesList().stream().map(m -> m.getParts(0).getText()).collect(Collectors.joining(" "));
      equal(IntStream.range(0, 20).mapToObj(i -> "m" + i).collect(Collectors.joining(" ")) + " fine", order);
      CompletableFuture<List<Call>> fails = conv.later(c -> c.add("nonsense"));
      CompletableFuture<String> goesOn = conv.later(c -> c.openai(MODEL));
      goesOn.get(20, TimeUnit.SECONDS);
      expect(fails.isCompletedExceptionally(), "a failure is its own");
    }
  }

  private static void tools() throws Exception {
    try (Palimpsest p = local()) {
      Conversation conv = p.conversation("tools");
      conv.user("go");
      conv.openai(MODEL);
      List<Call> calls = conv.add(reply(calling("a", "b", "c")));
      AtomicInteger paid = new AtomicInteger();
      CountDownLatch hanging = new CountDownLatch(1);
      CountDownLatch open = new CountDownLatch(1);
      Tool log =
          arguments -> {
            switch (paid.incrementAndGet()) {
              case 1:
                throw new StackOverflowError("deep");
              case 2:
                return "paid";
              default:
                hanging.countDown();
                while (open.getCount() > 0) {
                  try {
                    open.await();
                  } catch (InterruptedException unheeded) {
                    continue;
                  }
                }
                return "late";
            }
          };
      Thread caller = Thread.currentThread();
      new Thread(
              () -> {
                try {
                  hanging.await();
                  Thread.sleep(200);
                } catch (InterruptedException impossible) {
                  return;
                }
                caller.interrupt();
              })
          .start();
      long began = System.nanoTime();
      equal(Status.Code.CANCELLED, fails(() -> conv.answer(calls, Map.of("log", log))).code());
      expect(Thread.interrupted() && System.nanoTime() - began < TimeUnit.SECONDS.toNanos(5), "it returns at once");
      open.countDown();
      Thread.sleep(200);
      conv.answer(calls, Map.of("log", log));
      equal(3, paid.get());
      String body = conv.openai(MODEL);
      expect(body.contains("StackOverflowError") && body.contains("paid") && body.contains("late"), body);
    }
  }

  /** A call that waits ends with its client. */
  private static void close() throws Exception {
    Palimpsest p = Palimpsest.connect(freeAddress(), new Options().timeout(Duration.ofSeconds(60)));
    Palimpsest running = local(new Options().timeout(Duration.ofSeconds(60)));
    running.conversation("c").user("x");
    CompletableFuture<PalimpsestException> waits = CompletableFuture.supplyAsync(() -> fails(() -> say(p)));
    CompletableFuture<Object> watches =
        CompletableFuture.supplyAsync(
            () -> {
              say(running);
              return fails(() -> running.conversation("c").content("c99-abcdefgh")).code();
            });
    equal(Status.Code.NOT_FOUND, watches.get(20, TimeUnit.SECONDS));
    Thread.sleep(300);
    long began = System.nanoTime();
    p.close();
    equal(Status.Code.CANCELLED, waits.get(2, TimeUnit.SECONDS).code());
    running.close();
    running.close();
    equal(Status.Code.CANCELLED, fails(() -> say(running)).code());
    expect(System.nanoTime() - began < TimeUnit.SECONDS.toNanos(5), "at once");
  }

  private static void say(Palimpsest p) {
    Conversation conv = p.conversation("c");
    conv.user("x");
    conv.flush();
  }

  private static void values() {
    Request request = Request.of("m").with("n", 1.5).with("s", "x").with("b", true).with("l", Arrays.asList(1, null)).with("o", Map.of("k", List.of("v")));
    try (Palimpsest p = local()) {
      Conversation conv = p.conversation("values");
      conv.user("x");
      String body = conv.openai(request.withoutRecall());
      expect(body.endsWith("\"n\":1.5,\"s\":\"x\",\"b\":true,\"l\":[1,null],\"o\":{\"k\":[\"v\"]}}"), body);
    }
    for (Object wrong : new Object[] {new String[] {"a"}, Double.NaN, java.util.Optional.of(1)}) {
      try {
        request.with("wrong", List.of(wrong));
        throw new AssertionError("JSON has no " + wrong);
      } catch (IllegalArgumentException refused) {
        expect(refused.getMessage().contains(wrong.getClass().getName()), refused.getMessage());
      }
    }
  }

  private static void brokenStream() {
    try (Palimpsest p = local()) {
      Conversation conv = p.conversation("broken");
      conv.user("x");
      conv.openai(MODEL);
      StreamedReply reply = conv.stream();
      Stream.of("event: x", "data: {\"id\":\"r\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"half a \"}}]}", "",
              "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word\"},\"finish_reason\":null}]}")
          .forEach(reply::take);
      equal(Status.Code.ABORTED, fails(reply::end).code());
      reply.close();
      conv.user("go on");
      expect(conv.openai(MODEL).contains("half a word"), "what came is shown");
      equal(3, count(p, conv));
    }
  }

  // What checks are made of.

  private interface Folder {
    void use(Path folder) throws Exception;
  }

  private static void withFolder(Folder folder) throws Exception {
    Path made = Files.createTempDirectory("palimpsest-checks");
    try {
      folder.use(made);
    } finally {
      try (Stream<Path> left = Files.walk(made)) {
        left.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(java.io.File::delete);
      }
    }
  }

  private static Palimpsest local() {
    return local(new Options());
  }

  private static Palimpsest local(Options options) {
    return Palimpsest.local(options.timeout(Duration.ofSeconds(60)));
  }

  /** A sidecar at an address that others know. */
  private static Palimpsest at(String address, Path folder) {
    return local(new Options().dataDir(folder).arguments("--listen", address));
  }

  private static String freeAddress() throws Exception {
    try (ServerSocket socket = new ServerSocket(0)) {
      return "127.0.0.1:" + socket.getLocalPort();
    }
  }

  private static int count(Palimpsest p, Conversation conv) {
    return p.raw().conversations().getConversation(GetConversationRequest.newBuilder().setConversationId(conv.id()).build())
        .getConversation().getMessageCount();
  }

  private static PalimpsestException fails(Check call) {
    try {
      call.run();
    } catch (PalimpsestException failed) {
      return failed;
    } catch (Exception other) {
      throw new AssertionError(other);
    }
    throw new AssertionError("it does not fail");
  }

  private static void expect(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what.substring(0, Math.min(what.length(), 2000)));
    }
  }

  private static void equal(Object want, Object got) {
    expect(want.equals(got), "got " + got + ", want " + want);
  }

  private static String lines(int megabytes) {
    return LINE.repeat((megabytes << 20) / LINE.length() + 1);
  }

  private static String array(List<String> elements) {
    return "[" + String.join(",", elements) + "]";
  }

  private static String text(String text) {
    return "{\"type\":\"text\",\"text\":\"" + text + "\"}";
  }

  private static String user(String text) {
    return "{\"role\":\"user\",\"content\":\"" + text + "\"}";
  }

  private static String said(String text) {
    return "{\"role\":\"assistant\",\"content\":\"" + text + "\"}";
  }

  private static String calling(String... ids) {
    String calls =
        Stream.of(ids).map(id -> "{\"id\":\"" + id + "\",\"type\":\"function\",\"function\":{\"name\":\"log\",\"arguments\":\"{}\"}}")
            .collect(Collectors.joining(","));
    return "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" + calls + "]}";
  }

  private static String result(String id, String text) {
    return "{\"role\":\"tool\",\"tool_call_id\":\"" + id + "\",\"content\":\"" + text.replace("\n", "\\n") + "\"}";
  }

  private static String reply(String message) {
    return "{\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":" + message + "}]}";
  }
}
