package io.github.palimpsest_context;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import io.github.palimpsest_context.v1.ErrorReason;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;

/** A call that failed. Its message holds no text of the conversation. */
public class PalimpsestException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final String PREFIX = "ERROR_REASON_"; // which the API's names have, and errors leave out

  private final transient Status.Code code;
  private final transient ErrorReason reason;
  private final transient List<Violation> violations;
  private final transient Map<String, String> metadata;

  PalimpsestException(Status.Code code, String message, Throwable cause) {
    this(code, ErrorReason.ERROR_REASON_UNSPECIFIED, message, List.of(), Map.of(), cause);
  }

  private PalimpsestException(
      Status.Code code, ErrorReason reason, String message, List<Violation> violations, Map<String, String> metadata, Throwable cause) {
    super(message, cause);
    this.code = code;
    this.reason = reason;
    this.violations = List.copyOf(violations);
    this.metadata = Map.copyOf(metadata);
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
    return code == Status.Code.UNAVAILABLE || code == Status.Code.DEADLINE_EXCEEDED || reason == ErrorReason.ERROR_REASON_CONTENTION;
  }

  /** Whether the call may have been carried out all the same. */
  boolean uncertain() {
    return EnumSet.of(Status.Code.UNAVAILABLE, Status.Code.DEADLINE_EXCEEDED, Status.Code.CANCELLED, Status.Code.UNKNOWN).contains(code);
  }

  static PalimpsestException of(StatusRuntimeException failure) {
    ErrorInfo info = ErrorInfo.getDefaultInstance();
    List<Violation> violations = new ArrayList<>();
    com.google.rpc.Status status = StatusProto.fromThrowable(failure);
    for (Any detail : status.getDetailsList()) {
      try {
        if (detail.is(ErrorInfo.class)) {
          info = detail.unpack(ErrorInfo.class);
        } else if (detail.is(BadRequest.class)) {
          detail.unpack(BadRequest.class).getFieldViolationsList().forEach(v -> violations.add(new Violation(v.getField(), v.getDescription())));
        }
      } catch (InvalidProtocolBufferException unreadable) {
        continue; // the code and the message say enough
      }
    }
    Status.Code code = failure.getStatus().getCode();
    ErrorReason reason = reasonOf(info.getReason());
    String name = reason == ErrorReason.ERROR_REASON_UNSPECIFIED ? code.name() : info.getReason();
    StringBuilder message = new StringBuilder(name + ": " + status.getMessage());
    violations.forEach(v -> message.append("; ").append(v));
    return new PalimpsestException(code, reason, message.toString(), violations, info.getMetadataMap(), failure);
  }

  private static ErrorReason reasonOf(String name) {
    try {
      return ErrorReason.valueOf(PREFIX + name);
    } catch (IllegalArgumentException unknown) {
      return ErrorReason.ERROR_REASON_UNSPECIFIED; // a newer sidecar's
    }
  }
}
