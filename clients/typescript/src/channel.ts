import { connect as connectSocket } from "node:net";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { SecureClientSessionOptions } from "node:http2";
import { create, type DescMethod, type DescService } from "@bufbuild/protobuf";
import { Code, createClient, type CallOptions, type Client, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";

import { PalimpsestError, type VersionError } from "./errors.js";
import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from "./gen/grpc/health/v1/health_pb.js";
import { checkVersion, versionHeader } from "./version.js";

/** ChannelOptions say how a sidecar is reached. */
export interface ChannelOptions {
  /** A token of the sidecar's file of credentials. */
  token?: string;
  /** How long a call may take in all, its retries included: 10,000 by default. */
  timeoutMs?: number;
  /** TLS, on TCP alone: true for the authorities that Node knows, or its options, such as ca, cert and key. */
  tls?: boolean | SecureClientSessionOptions;
}

const receiveLimit = (64 << 20) + (64 << 10); // the largest reply that a request can ask for, and what stands around it
const defaultTimeoutMs = 10_000;

/** Channel is the one connection to a sidecar. Calls have a deadline, a request id, and retries within the deadline. */
export class Channel {
  readonly #sessions: Http2SessionManager;
  readonly #transport: Transport;
  readonly #timeoutMs: number;
  #greeted: Promise<void> | undefined;
  #closed = false;

  constructor(address: string, options: ChannelOptions) {
    const { url, session } = endpoint(address, options.tls);
    this.#timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
    this.#sessions = new Http2SessionManager(url, {}, session);
    this.#transport = createGrpcTransport({
      baseUrl: url,
      sessionManager: this.#sessions,
      readMaxBytes: receiveLimit,
      interceptors: options.token === undefined ? [] : [bearer(options.token)],
    });
  }

  /** client calls a service. What it throws is a PalimpsestError, or a VersionError. */
  client<S extends DescService>(service: S, patienceMs = Infinity): Client<S> {
    const plain = createClient(service, this.#transport) as Record<string, (request: unknown, options: CallOptions) => unknown>;
    const calls = service.methods.map((method) => {
      const call = plain[method.localName]!;
      if (method.methodKind === "unary") {
        return [method.localName, (request: object, options?: CallOptions) => this.#unary(method, call, request, patienceMs, options)];
      }
      if (method.methodKind === "server_streaming") {
        return [method.localName, (request: object, options?: CallOptions) => this.#answers(call, request, options)];
      }
      return [method.localName, (requests: unknown, options?: CallOptions) => this.#upload(call, requests, options)];
    });
    return Object.fromEntries(calls) as Client<S>;
  }

  /** close ends the connection, and every call that is under way. */
  close(): void {
    this.#closed = true;
    this.#sessions.abort();
  }

  async #unary(method: DescMethod, call: (request: unknown, options: CallOptions) => unknown, request: object, patienceMs: number, options: CallOptions = {}) {
    const message = withRequestId(method, request);
    const end = Date.now() + (options.timeoutMs ?? this.#timeoutMs);
    const patience = Date.now() + patienceMs;
    for (let pause = 25; ; pause = Math.min(2 * pause, 1000)) {
      try {
        await this.#greet(end - Date.now());
        return await call(message, { ...options, timeoutMs: Math.max(1, end - Date.now()) });
      } catch (thrown) {
        const error = this.#failure(thrown, options);
        if (!(error instanceof PalimpsestError) || !error.retryable) throw error;
        const wait = Math.max(error.retryDelayMs, pause * (0.5 + Math.random())); // apart, where many failed together
        if (Date.now() + wait >= (error.code === Code.Unavailable ? Math.min(end, patience) : end)) throw error;
        await sleep(wait, undefined, options.signal ? { signal: options.signal } : {});
      }
    }
  }

  async *#answers(call: (request: unknown, options: CallOptions) => unknown, request: object, options: CallOptions = {}) {
    try {
      await this.#greet(this.#timeoutMs);
      yield* call(request, options) as AsyncIterable<unknown>;
    } catch (thrown) {
      throw this.#failure(thrown, options);
    }
  }

  async #upload(call: (request: unknown, options: CallOptions) => unknown, requests: unknown, options: CallOptions = {}) {
    try {
      await this.#greet(this.#timeoutMs);
      return await call(requests, options);
    } catch (thrown) {
      throw this.#failure(thrown, options);
    }
  }

  #failure(thrown: unknown, options: CallOptions): PalimpsestError | VersionError {
    return PalimpsestError.from(thrown, this.#closed || options.signal?.aborted);
  }

  /** #greet asks the sidecar for its version before the first call, so that an older one is not given anything that it might half understand. */
  #greet(timeoutMs: number): Promise<void> {
    this.#greeted ??= this.#hello(timeoutMs).catch((thrown: unknown) => {
      this.#greeted = undefined;
      throw thrown;
    });
    return this.#greeted;
  }

  async #hello(timeoutMs: number): Promise<void> {
    let server: string | null = null;
    const onHeader = (headers: Headers) => { server = headers.get(versionHeader); };
    await createClient(Health, this.#transport).check({}, { timeoutMs: Math.max(1, timeoutMs), onHeader });
    checkVersion(server);
  }

  /** healthy waits until the sidecar serves, or the time is over. */
  async healthy(timeoutMs: number): Promise<void> {
    const reply = await this.client(Health).check({}, { timeoutMs });
    if (reply.status !== ServingStatus.SERVING) throw new Error("the sidecar does not serve");
  }
}

function withRequestId(method: DescMethod, request: object) {
  const message = create(method.input, request as Record<string, unknown>) as { requestId?: string };
  // The request stays the caller's, who may send it a second time and mean it.
  return message.requestId === "" ? { ...message, requestId: randomUUID() } : message;
}

function bearer(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
}

function endpoint(address: string, tls: ChannelOptions["tls"]): { url: string; session: SecureClientSessionOptions } {
  const path = /^unix:(?:\/\/)?(\/.*)$/.exec(address)?.[1];
  if (path !== undefined) {
    if (tls) throw new TypeError("a Unix socket speaks no TLS");
    return { url: "http://localhost", session: { createConnection: () => connectSocket(path) } };
  }
  if (!/^[^/\s]+:\d+$/.test(address)) throw new TypeError("an address is host:port, or unix:///path");
  return { url: `${tls ? "https" : "http"}://${address}`, session: typeof tls === "object" ? tls : {} };
}
