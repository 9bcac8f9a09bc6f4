package io.github.palimpsest_context;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.github.palimpsest_context.v1.ErrorReason;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** What fails with a sidecar: the root of all exceptions of the package but those for wrong arguments. It holds no text of the conversation. */
public class PalimpsestException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final String PREFIX = "ERROR_REASON_"; // which the API's names have, and errors leave out

  private final Status.Code code;
  private final ErrorReason reason;
  private final List<Violation> violations;
  private final Map<String, String> metadata;
  private final long retryMillis; // as the sidecar asks for; 0 if it does not

  PalimpsestException(Status.Code code, String message, Throwable cause) {
    this(code, ErrorReason.ERROR_REASON_UNSPECIFIED, message, List.of(), Map.of(), 0, cause);
  }

  /** The same failure, with more to say. */
  PalimpsestException(PalimpsestException why, String more) {
    this(why.code, why.reason, why.getMessage() + "; " + more, why.violations, why.metadata, why.retryMillis, why);
  }

  private PalimpsestException(
      Status.Code code, ErrorReason reason, String message, List<Violation> violations, Map<String, String> metadata, long retryMillis,
      Throwable cause) {
    super(message, cause);
    this.code = code;
    this.reason = reason;
    this.violations = List.copyOf(violations);
    this.metadata = Map.copyOf(metadata);
    this.retryMillis = retryMillis;
  }

  static PalimpsestException interrupted(Throwable cause) {
    Thread.currentThread().interrupt();
    return new PalimpsestException(Status.Code.CANCELLED, "CANCELLED: the thread was interrupted", cause);
  }

  /** gRPC's code. */
  public Status.Code code() {
    return code;
  }

  /** Why, for programs; UNSPECIFIED where gRPC itself refused. */
  public ErrorReason reason() {
    return reason;
  }

  /** The faults of the request. */
  public List<Violation> violations() {
    return violations;
  }

  /** What more there is to say, by reason. */
  public Map<String, String> metadata() {
    return metadata;
  }

  /** Whether the same call, under the same request id, may succeed a moment later. */
  public boolean passing() {
    return away() || reason == ErrorReason.ERROR_REASON_CONTENTION;
  }

  /** Whether no answer came, because the sidecar cannot be reached or cannot serve now. */
  boolean away() {
    return code == Status.Code.UNAVAILABLE || code == Status.Code.DEADLINE_EXCEEDED || reason == ErrorReason.ERROR_REASON_OVERLOADED;
  }

  /** Whether what was sent is at fault. What is too large for gRPC has no reason. */
  boolean ofInput() {
    return code == Status.Code.INVALID_ARGUMENT
        || code == Status.Code.RESOURCE_EXHAUSTED && reason == ErrorReason.ERROR_REASON_UNSPECIFIED;
  }

  long retryMillis() {
    return retryMillis;
  }

  /** Whether the call may have been carried out all the same. */
  boolean uncertain() {
    if (EnumSet.of(Status.Code.UNAVAILABLE, Status.Code.DEADLINE_EXCEEDED, Status.Code.CANCELLED).contains(code)) {
      return true;
    }
    // The sidecar gives a reason for what it did not do.
    return reason == ErrorReason.ERROR_REASON_UNSPECIFIED && EnumSet.of(Status.Code.UNKNOWN, Status.Code.INTERNAL).contains(code);
  }

  static PalimpsestException of(StatusRuntimeException failure) {
    ErrorInfo info = ErrorInfo.getDefaultInstance();
    long retryMillis = 0;
    List<Violation> violations = new ArrayList<>();
    com.google.rpc.Status status = StatusProto.fromThrowable(failure);
    for (Any detail : status.getDetailsList()) {
      try {
        if (detail.is(ErrorInfo.class)) {
          info = detail.unpack(ErrorInfo.class);
        } else if (detail.is(RetryInfo.class)) {
          retryMillis = millis(detail.unpack(RetryInfo.class).getRetryDelay());
        } else if (detail.is(BadRequest.class)) {
          detail.unpack(BadRequest.class).getFieldViolationsList().forEach(v -> violations.add(new Violation(v.getField(), v.getDescription())));
        }
      } catch (InvalidProtocolBufferException unreadable) {
        continue; // the code and the message say enough
      }
    }
    Throwable cause = failure.getStatus().getCause(); // what the network said
    // A connection that ends just as a call begins is no other than one that is not there.
    boolean closed = failure.getStatus().getCode() == Status.Code.UNKNOWN && cause instanceof IOException;
    Status.Code code = closed ? Status.Code.UNAVAILABLE : failure.getStatus().getCode();
    ErrorReason reason = reasonOf(info.getReason());
    String name = reason == ErrorReason.ERROR_REASON_UNSPECIFIED ? code.name() : info.getReason();
    StringBuilder message = new StringBuilder(name + ": " + status.getMessage());
    if (cause != null && code == Status.Code.UNAVAILABLE) {
      message.append(": ").append(cause);
    }
    violations.stream().map(Violation::toString).filter(one -> !status.getMessage().contains(one)).forEach(one -> message.append("; ").append(one));
    return new PalimpsestException(code, reason, message.toString(), violations, info.getMetadataMap(), retryMillis, failure);
  }

  private static long millis(Duration delay) {
    return TimeUnit.SECONDS.toMillis(delay.getSeconds()) + TimeUnit.NANOSECONDS.toMillis(delay.getNanos());
  }

  private static ErrorReason reasonOf(String name) {
    try {
      return ErrorReason.valueOf(PREFIX + name);
    } catch (IllegalArgumentException unknown) {
      return ErrorReason.ERROR_REASON_UNSPECIFIED; // a newer sidecar's
    }
  }
}
