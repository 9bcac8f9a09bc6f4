import type { Client } from "@connectrpc/connect";

import type { Call } from "./calls.js";
import { type ConversationService, ListOrder } from "./gen/palimpsest/v1/conversation_service_pb.js";
import { Role, type Message, type ToolCall } from "./gen/palimpsest/v1/message_pb.js";
import { PalimpsestError } from "./errors.js";
import { isRecallTool } from "./recall.js";

const pageSize = 32; // few are wanted

/** waitingCalls reads the record from its end, as far as the calls may reach whose results are missing. */
export async function waitingCalls(record: Client<typeof ConversationService>, conversationId: string): Promise<Call[]> {
  const tail = new Tail();
  for (let pageToken = ""; ; ) {
    const page = await record.listMessages({ conversationId, pageSize, pageToken, order: ListOrder.DESCENDING, maxReplyBytes: 64 << 20 }).catch((thrown: unknown) => {
      if (thrown instanceof PalimpsestError && thrown.reason === "CONVERSATION_NOT_FOUND") return undefined;
      throw thrown;
    });
    pageToken = page?.nextPageToken ?? "";
    if (!page?.messages.every((message) => tail.take(message)) || pageToken === "") return tail.calls;
  }
}

/** Tail is given the newest messages, newest first. */
class Tail {
  readonly calls: Call[] = [];
  readonly #answered: string[] = [];
  #called = false;

  /** take says whether an earlier message may belong to the same calls. */
  take(message: Message): boolean {
    if (message.view?.hidden) return true;
    if (message.role === Role.TOOL && !this.#called) {
      for (const { content } of message.parts) if (content.case === "toolResult") this.#answered.push(content.value.callId);
      return true;
    }
    if (message.role !== Role.ASSISTANT || message.tags.includes("aborted")) return false;
    for (const { content } of [...message.parts].reverse()) if (content.case === "toolCall") this.#pair(content.value);
    return true;
  }

  #pair(call: ToolCall): void {
    this.#called = true;
    const at = this.#answered.indexOf(call.callId);
    if (at >= 0) this.#answered.splice(at, 1);
    else this.calls.unshift({ id: call.callId, name: call.name, argumentsJson: call.argumentsJson, recalls: isRecallTool(call.name), custom: false });
  }
}
