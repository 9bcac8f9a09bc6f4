package io.github.palimpsest_context;

import com.google.protobuf.ByteString;
import io.github.palimpsest_context.v1.Citation;
import io.github.palimpsest_context.v1.ContentServiceGrpc;
import io.github.palimpsest_context.v1.StoreContentHeader;
import io.github.palimpsest_context.v1.StoreContentRequest;
import io.github.palimpsest_context.v1.StoreContentResponse;
import io.github.palimpsest_context.v1.StreamContentRequest;
import io.github.palimpsest_context.v1.StreamContentResponse;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The bytes of a content, read as they come. A stream that breaks off goes on where it was. */
final class Contents extends InputStream {
  private static final int CHUNK = 1 << 20;

  private final Palimpsest client;
  private final StreamContentRequest request;
  private final Context.CancellableContext scope = Context.current().withCancellation();
  private Iterator<StreamContentResponse> pieces;
  private ByteString chunk = ByteString.EMPTY;
  private int used; // of the chunk
  private long at;
  private boolean ended;

  Contents(Palimpsest client, String conversation, String content) {
    this.client = client;
    this.request = StreamContentRequest.newBuilder().setConversationId(conversation).setContentId(content).build();
    fill(); // it is here that a content is found missing
  }

  @Override
  public int read() {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) {
    if (length == 0) {
      return 0;
    }
    fill();
    int count = Math.min(length, chunk.size() - used);
    if (count == 0) {
      return -1;
    }
    chunk.copyTo(into, used, offset, count);
    used += count;
    return count;
  }

  private void fill() {
    while (used == chunk.size() && !ended) {
      chunk = client.call(this::next);
      used = 0;
      at += chunk.size();
    }
  }

  private ByteString next(Stubs stubs) {
    try {
      if (pieces == null) {
        pieces = scope.call(() -> stubs.contents().streamContent(request.toBuilder().setOffsetBytes(at).build()));
      }
      ended = !pieces.hasNext();
      return ended ? ByteString.EMPTY : pieces.next().getChunk();
    } catch (StatusRuntimeException failed) {
      pieces = null;
      throw failed;
    } catch (RuntimeException failed) {
      throw failed;
    } catch (Exception impossible) {
      throw new IllegalStateException(impossible); // a call throws none that is checked
    }
  }

  @Override
  public void close() {
    ended = true;
    chunk = ByteString.EMPTY;
    used = 0;
    scope.cancel(null);
  }

  /** Stores bytes as they are read. The sidecar may take so long for each piece of them, and for its answer. */
  static Citation store(Stubs stubs, StoreContentHeader header, InputStream bytes, Duration patience) throws IOException {
    Upload upload = new Upload(patience);
    ContentServiceGrpc.newStub(stubs.channel()).storeContent(upload);
    try {
      upload.send(StoreContentRequest.newBuilder().setHeader(header).build());
      for (byte[] piece = bytes.readNBytes(CHUNK); piece.length > 0; piece = bytes.readNBytes(CHUNK)) {
        upload.send(StoreContentRequest.newBuilder().setChunk(ByteString.copyFrom(piece)).build());
      }
      return upload.end().getCitation();
    } catch (IOException | RuntimeException broken) {
      upload.cancel();
      throw broken;
    }
  }

  /** A stream of bytes on its way. */
  private static final class Upload implements ClientResponseObserver<StoreContentRequest, StoreContentResponse> {
    private final Duration patience;
    private final CompletableFuture<StoreContentResponse> answer = new CompletableFuture<>();
    private ClientCallStreamObserver<StoreContentRequest> call;

    Upload(Duration patience) {
      this.patience = patience;
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<StoreContentRequest> call) {
      this.call = call;
      call.setOnReadyHandler(this::wake);
    }

    private synchronized void wake() {
      notifyAll();
    }

    void send(StoreContentRequest piece) {
      awaitRoom();
      if (answer.isDone()) {
        received(); // it was refused
      }
      call.onNext(piece);
    }

    private synchronized void awaitRoom() {
      long end = System.nanoTime() + patience.toNanos();
      try {
        while (!call.isReady() && !answer.isDone()) {
          long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
          if (left <= 0) {
            throw tooSlow();
          }
          wait(left);
        }
      } catch (InterruptedException interrupted) {
        throw PalimpsestException.interrupted(interrupted);
      }
    }

    StoreContentResponse end() {
      call.onCompleted();
      return received();
    }

    private StoreContentResponse received() {
      try {
        return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
      } catch (ExecutionException failed) {
        throw Status.fromThrowable(failed.getCause()).asRuntimeException(Status.trailersFromThrowable(failed.getCause()));
      } catch (TimeoutException slow) {
        throw tooSlow();
      } catch (InterruptedException interrupted) {
        throw PalimpsestException.interrupted(interrupted);
      }
    }

    private StatusRuntimeException tooSlow() {
      return Status.DEADLINE_EXCEEDED.withDescription("the sidecar took nothing for " + patience).asRuntimeException();
    }

    void cancel() {
      call.cancel("the stream was left", null);
    }

    @Override
    public void onNext(StoreContentResponse value) {
      answer.complete(value);
    }

    @Override
    public void onError(Throwable failure) {
      answer.completeExceptionally(failure);
      wake();
    }

    @Override
    public void onCompleted() {
      wake();
    }
  }
}
