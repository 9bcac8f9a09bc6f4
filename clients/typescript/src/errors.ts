import { Code, ConnectError } from "@connectrpc/connect";

import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "./gen/google/rpc/error_details_pb.js";
import type { ErrorReason } from "./gen/palimpsest/v1/error_pb.js";

/** Reason is the name of a reason for which the sidecar refuses a call, as error.proto explains them. */
export type Reason = Exclude<keyof typeof ErrorReason, "UNSPECIFIED">;

/** Violation is one fault of a request: the field, such as message.parts[0].text, and what is wrong with it. */
export interface Violation {
  readonly field: string;
  readonly description: string;
}

/** PalimpsestError is a call that failed. Decide by its reason; where gRPC itself failed, there is none, and the code says what did. */
export class PalimpsestError extends Error {
  override readonly name: string = "PalimpsestError";
  readonly code: Code;
  /** A newer sidecar may have reasons that this package does not know. */
  readonly reason: Reason | (string & {}) | undefined;
  readonly violations: readonly Violation[];
  readonly metadata: Readonly<Record<string, string>>;
  /** How long to wait before the next try, where the sidecar says so. */
  readonly retryDelayMs: number;
  /** What the sidecar refused to put on record, as it was given. It waits no longer: mend it, and say it again. */
  refused: readonly unknown[] = [];

  constructor(cause: ConnectError) {
    super(cause.rawMessage || Code[cause.code], { cause });
    const info = cause.findDetails(ErrorInfoSchema).find((detail) => detail.domain === "palimpsest.dev");
    const delay = cause.findDetails(RetryInfoSchema)[0]?.retryDelay;
    this.code = cause.code;
    this.reason = info?.reason;
    this.metadata = info?.metadata ?? {};
    this.violations = cause.findDetails(BadRequestSchema).flatMap((detail) => detail.fieldViolations)
      .map(({ field, description }) => ({ field, description }));
    this.retryDelayMs = delay ? Number(delay.seconds) * 1000 + delay.nanos / 1e6 : 0;
  }

  /** from makes one of whatever a call threw; cancelled says whether the caller wanted it to end. */
  static from(thrown: unknown, cancelled = false): PalimpsestError | VersionError {
    if (thrown instanceof PalimpsestError || thrown instanceof VersionError) return thrown;
    const error = ConnectError.from(thrown);
    return new PalimpsestError(!cancelled && lost(error) ? new ConnectError(error.rawMessage, Code.Unavailable, undefined, undefined, error) : error);
  }

  /** unknownOutcome says whether the call may have been carried out all the same: what the sidecar gives a reason for was not. */
  get unknownOutcome(): boolean {
    if ([Code.Unavailable, Code.DeadlineExceeded, Code.Canceled].includes(this.code)) return true;
    return this.reason === undefined && [Code.Unknown, Code.Internal, Code.Aborted].includes(this.code);
  }

  /** away says whether no answer came, because the sidecar cannot be reached or cannot serve now. */
  get away(): boolean {
    return this.code === Code.Unavailable || this.code === Code.DeadlineExceeded || this.reason === "OVERLOADED";
  }

  /** ofInput says whether the call was refused for what was to go on record; what is too large for gRPC has no reason. */
  get ofInput(): boolean {
    return this.code === Code.InvalidArgument || (this.reason === undefined && this.code === Code.ResourceExhausted);
  }

  /** retryable says whether the same call may succeed if it is sent again. */
  get retryable(): boolean {
    if (this.reason === "CONTENTION" || this.reason === "OVERLOADED") return true;
    return this.code === Code.Unavailable || this.code === Code.DeadlineExceeded;
  }
}

// How Node says that nobody is there, or has left.
const gone = /^(?:ECONN\w+|ENOENT|EPIPE|EHOSTUNREACH|ENETUNREACH|ERR_STREAM_DESTROYED|ERR_STREAM_PREMATURE_CLOSE|ERR_HTTP2_\w+)$/;

/** lost says whether the connection failed, and not the call. Connect takes what ends with its connection for cancelled. */
function lost(error: ConnectError): boolean {
  if (error.code === Code.Canceled) return true;
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && typeof cause.code === "string" && gone.test(cause.code)) return true;
  }
  return false;
}

/** VersionError is a sidecar that is older than this package. */
export class VersionError extends Error {
  override readonly name = "VersionError";

  constructor(readonly server: string, readonly client: string) {
    super(`the sidecar is version ${server}, and this package needs ${client} or later: update the sidecar, or install an older package`);
  }
}
