import type { Client } from "@connectrpc/connect";

import type { Channel } from "./channel.js";
import { ContentService } from "./gen/palimpsest/v1/content_service_pb.js";
import { ContextService } from "./gen/palimpsest/v1/context_service_pb.js";
import { ConversationService } from "./gen/palimpsest/v1/conversation_service_pb.js";
import { MemoryService } from "./gen/palimpsest/v1/memory_service_pb.js";
import { PolicyService } from "./gen/palimpsest/v1/policy_service_pb.js";

/** Raw are the sidecar's own calls, with the deadlines, request ids, retries and errors of this package. */
export interface Raw {
  readonly content: Client<typeof ContentService>;
  readonly context: Client<typeof ContextService>;
  readonly conversation: Client<typeof ConversationService>;
  readonly memory: Client<typeof MemoryService>;
  readonly policy: Client<typeof PolicyService>;
}

/** rawOf makes the clients of a channel; patienceMs is how long they try to reach a sidecar that is away, if not as long as a call may take. */
export function rawOf(channel: Channel, patienceMs?: number): Raw {
  return {
    content: channel.client(ContentService, patienceMs),
    context: channel.client(ContextService, patienceMs),
    conversation: channel.client(ConversationService, patienceMs),
    memory: channel.client(MemoryService, patienceMs),
    policy: channel.client(PolicyService, patienceMs),
  };
}
