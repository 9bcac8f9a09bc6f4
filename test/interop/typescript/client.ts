// A sidecar at one address, every call with a deadline, over nothing but generated stubs.

import { strict as assert } from "node:assert";
import { credentials, Metadata, status, type CallOptions, type ServiceError } from "@grpc/grpc-js";

import { BadRequest, ErrorInfo } from "./gen/google/rpc/error_details.js";
import { Status } from "./gen/google/rpc/status.js";
import {
  ContextServiceClient,
  type BuildContextRequest,
  type BuildContextResponse,
} from "./gen/palimpsest/v1/context_service.js";
import type { Receipt } from "./gen/palimpsest/v1/context.js";
import { ConversationServiceClient } from "./gen/palimpsest/v1/conversation_service.js";
import type { Message } from "./gen/palimpsest/v1/message.js";

const deadlineMs = 20_000;
export const large = 8 << 20; // bytes: what GetMessage may answer here
const limits = {
  "grpc.max_receive_message_length": large + (64 << 10),
  "grpc.max_send_message_length": 16 << 20,
};

export const options = (ms = deadlineMs): CallOptions => ({ deadline: Date.now() + ms });

type Callback<R> = (error: ServiceError | null, reply: R) => void;

/** unary turns a call that ends in a callback into a promise. */
export function unary<R>(call: (done: Callback<R>) => unknown): Promise<R> {
  return new Promise((resolve, reject) => call((error, reply) => (error ? reject(error) : resolve(reply))));
}

export class Client {
  readonly loop: ContextServiceClient;
  readonly record: ConversationServiceClient;

  constructor(target: string) {
    this.loop = new ContextServiceClient(target, credentials.createInsecure(), limits);
    this.record = new ConversationServiceClient(target, credentials.createInsecure(), limits);
  }

  ready = () => new Promise<void>((resolve, reject) =>
    this.loop.waitForReady(Date.now() + deadlineMs, (error) => (error ? reject(error) : resolve())));

  close(): void {
    this.loop.close();
    this.record.close();
  }

  async append(conversationId: string, message: Message, more: { requestId?: string; expectedIndex?: number } = {}): Promise<Receipt> {
    const request = { conversationId, message, ...more };
    const reply = await unary((done: Callback<{ receipt?: Receipt }>) => this.loop.appendMessage(request, new Metadata(), options(), done));
    return reply.receipt!;
  }

  build(conversationId: string, more: BuildContextRequest = {}): Promise<BuildContextResponse> {
    return unary((done) => this.loop.buildContext({ conversationId, ...more }, new Metadata(), options(), done));
  }

  async message(conversationId: string, messageIndex: number, maxReplyBytes?: number): Promise<Message> {
    const request = { conversationId, messageIndex, maxReplyBytes };
    const reply = await unary((done: Callback<{ message?: Message }>) => this.record.getMessage(request, new Metadata(), options(), done));
    return reply.message!;
  }

  async list(conversationId: string): Promise<Message[]> {
    const all: Message[] = [];
    let pageToken = "";
    do {
      const request = { conversationId, pageSize: 3, pageToken, maxReplyBytes: large };
      const page = await unary((done: Callback<{ messages?: Message[]; nextPageToken?: string }>) =>
        this.record.listMessages(request, new Metadata(), options(), done));
      all.push(...page.messages!);
      pageToken = page.nextPageToken!;
    } while (pageToken);
    return all;
  }

  async export(conversationId: string): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.record.exportConversation({ conversationId }, options())) {
      pieces.push(piece.chunk);
    }
    return Buffer.concat(pieces);
  }

  async restore(conversationId: string, data: Buffer): Promise<string> {
    const reply = await unary((done: Callback<{ conversation?: { id?: string } }>) => {
      const stream = this.record.importConversation(new Metadata(), options(), done);
      // A refusal ends the stream and reaches the callback; what is written after it has nowhere to go.
      stream.on("error", () => undefined);
      stream.write({ payload: { $case: "conversationId", value: conversationId } });
      for (let at = 0; at < data.length; at += 1 << 20) {
        stream.write({ payload: { $case: "chunk", value: data.subarray(at, at + (1 << 20)) } });
      }
      stream.end();
    });
    return reply.conversation!.id!;
  }
}

/** refused runs attempt, which must fail as said, and returns the violated fields. */
export async function refused(code: status, reason: string, attempt: () => Promise<unknown>): Promise<string[]> {
  const error = await attempt().then(() => assert.fail(`${reason}: the call was accepted`), (e: ServiceError) => e);
  assert.equal(error.code, code, `${reason}: ${error.message}`);
  const [encoded] = error.metadata.get("grpc-status-details-bin");
  const details = Status.decode(encoded as Buffer).details!;
  const infos = details.filter((d) => d.typeUrl!.endsWith("/google.rpc.ErrorInfo")).map((d) => ErrorInfo.decode(d.value!));
  assert.deepEqual(infos.map((i) => [i.domain, i.reason]), [["palimpsest.dev", reason]]);
  const bad = details.filter((d) => d.typeUrl!.endsWith("/google.rpc.BadRequest")).map((d) => BadRequest.decode(d.value!));
  return bad.flatMap((b) => b.fieldViolations!.map((v) => v.field!));
}
