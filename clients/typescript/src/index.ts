/** Init is what a message of the API is made of: `Init<typeof MessageSchema>`. */
export type { MessageInitShape as Init } from "@bufbuild/protobuf";

export type { Call, Tool, Tools } from "./calls.js";
export type { ChannelOptions } from "./channel.js";
export { Conversation, type AddOptions, type ConversationOptions, type MessageFields, type Synced, type SyncOptions, type ViewOptions } from "./conversation.js";
export { PalimpsestError, VersionError, type Reason, type Violation } from "./errors.js";
export type { Format, Json } from "./formats.js";
export { version } from "./gen/version.js";
export type { LocalOptions } from "./local.js";
export { Palimpsest } from "./palimpsest.js";
export type { Piece, PieceKind } from "./piece.js";
export type { Raw } from "./raw.js";
export type { AnthropicRequest, BuildOptions, GeminiRequest, OpenAIRequest, ResponsesRequest } from "./requests.js";
export type { Stream } from "./stream.js";
