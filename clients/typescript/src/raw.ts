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

/** rawOf makes the clients of a channel. */
export function rawOf(channel: Channel): Raw {
  return {
    content: channel.client(ContentService),
    context: channel.client(ContextService),
    conversation: channel.client(ConversationService),
    memory: channel.client(MemoryService),
    policy: channel.client(PolicyService),
  };
}
