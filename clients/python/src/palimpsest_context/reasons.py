"""An error for each reason for which a call fails. Generated from error.proto."""

from __future__ import annotations

from typing import Dict, Type

from .errors import PalimpsestError

__all__ = [
    "ActionPolicyNotFoundError",
    "AlreadyRewoundError",
    "CancelledError",
    "ChecksumMismatchError",
    "ContentExpiredError",
    "ContentNotFoundError",
    "ContentNotTextError",
    "ContentionError",
    "ContextCannotFitError",
    "ConversationDeletedError",
    "ConversationExistsError",
    "ConversationNotFoundError",
    "CorruptRecordError",
    "EmptyContextError",
    "ExpansionTooLargeError",
    "ForgetNotFoundError",
    "HistoryAmbiguousError",
    "HistoryDivergedError",
    "HistoryPrefixUnknownError",
    "IndexMismatchError",
    "InternalError",
    "InvalidFieldError",
    "LimitExceededError",
    "ManifestNotFoundError",
    "ManifestNotRebuildableError",
    "MemoryDisabledError",
    "MemoryUnavailableError",
    "MessageNotFoundError",
    "ModelProfileNotFoundError",
    "NoActorError",
    "NoMessagesError",
    "NotCorrectableError",
    "NotEditedError",
    "NothingToCompactError",
    "NothingToUndoError",
    "OriginalErasedError",
    "OutcomeUnknownError",
    "OverloadedError",
    "PendingToolCallsError",
    "PermissionDeniedError",
    "PromptNotFoundError",
    "QuotaExceededError",
    "ReplyTooLargeError",
    "RequestIdReusedError",
    "ResultWithoutCallError",
    "ResumeTokenExpiredError",
    "RunEndedError",
    "StoreFullError",
    "StoreUnavailableError",
    "SummaryNotFoundError",
    "TurnPassedError",
    "UnauthenticatedError",
]


class InvalidFieldError(PalimpsestError):
    """INVALID_ARGUMENT. Fields of the request break their documented rules. The
    google.rpc.BadRequest in the error lists all of them."""


class ConversationNotFoundError(PalimpsestError):
    """NOT_FOUND. No conversation has this id."""


class ConversationDeletedError(PalimpsestError):
    """NOT_FOUND. The conversation was deleted, or outlived its ttl. Only CreateConversation can use
    the id again. If it was deleted without a tombstone, an append can too, unless it repeats a
    request from before the deletion."""


class ConversationExistsError(PalimpsestError):
    """ALREADY_EXISTS. A conversation with this id exists."""


class MessageNotFoundError(PalimpsestError):
    """NOT_FOUND. No message has this index or id."""


class ManifestNotFoundError(PalimpsestError):
    """NOT_FOUND. No manifest has this id, or it is no longer kept."""


class ModelProfileNotFoundError(PalimpsestError):
    """NOT_FOUND. No profile exists for this model."""


class IndexMismatchError(PalimpsestError):
    """ABORTED. The message would not get the expected_index of the request, because another call
    appended first."""


class ContentionError(PalimpsestError):
    """ABORTED. Other calls changed the conversation 8 times while this one was being decided. Try
    again."""


class RequestIdReusedError(PalimpsestError):
    """ALREADY_EXISTS. The request id was used before for a different request."""


class ResultWithoutCallError(PalimpsestError):
    """INVALID_ARGUMENT. The conversation holds no unanswered tool call with the call_id of a tool
    result."""


class PendingToolCallsError(PalimpsestError):
    """FAILED_PRECONDITION. Tool calls at the end of the conversation wait for their results. The
    error names the id of each call in a violation."""


class EmptyContextError(PalimpsestError):
    """FAILED_PRECONDITION. The conversation has messages, but none that a model could answer: it
    has system messages only, or nothing that can be shown. The error message says which."""


class ContextCannotFitError(PalimpsestError):
    """FAILED_PRECONDITION. Fixed input, leading system messages, pinned messages and the newest
    unit do not fit into the budget, even with tool results clipped as far as possible. The error
    message has the weight of each."""


class TurnPassedError(PalimpsestError):
    """FAILED_PRECONDITION. The requested turn is lower than the current turn."""


class ReplyTooLargeError(PalimpsestError):
    """RESOURCE_EXHAUSTED. The answer would be larger than max_reply_bytes, or than the server's
    limit. Nothing was changed."""


class LimitExceededError(PalimpsestError):
    """RESOURCE_EXHAUSTED. The conversation has reached the limit that the error message names."""


class StoreUnavailableError(PalimpsestError):
    """UNAVAILABLE. The store cannot be reached or is shutting down. Try again."""


class OutcomeUnknownError(PalimpsestError):
    """UNAVAILABLE. The store failed while writing, so that the outcome is unknown. Try again with
    the same request id."""


class CorruptRecordError(PalimpsestError):
    """DATA_LOSS. A stored value does not match its checksum or cannot be read."""


class StoreFullError(PalimpsestError):
    """RESOURCE_EXHAUSTED. The store, its disk or its memory is full. Nothing was written. Delete
    conversations, or give the store more room."""


class InternalError(PalimpsestError):
    """INTERNAL. The sidecar met something unexpected. Its log says more."""


class ManifestNotRebuildableError(PalimpsestError):
    """FAILED_PRECONDITION. The manifest was made by another version of the renderer, or its
    originals are gone, so that it cannot be rebuilt."""


class CancelledError(PalimpsestError):
    """CANCELLED or DEADLINE_EXCEEDED. The caller canceled the call, or its deadline passed."""


class ResumeTokenExpiredError(PalimpsestError):
    """OUT_OF_RANGE. The events after the resume token are no longer kept. The error message names
    the oldest token."""


class ActionPolicyNotFoundError(PalimpsestError):
    """NOT_FOUND. No action policy has this key."""


class PromptNotFoundError(PalimpsestError):
    """NOT_FOUND. No prompt has this id."""


class SummaryNotFoundError(PalimpsestError):
    """NOT_FOUND. No summary of the conversation has this id."""


class NotEditedError(PalimpsestError):
    """FAILED_PRECONDITION. The message is already shown in full, so that there is nothing to
    restore."""


class OriginalErasedError(PalimpsestError):
    """FAILED_PRECONDITION. The original was erased, as its expiration asked for. Do not retry."""


class ExpansionTooLargeError(PalimpsestError):
    """FAILED_PRECONDITION. The unit in full would take more than half of the budget, or room that
    other messages need; or not even the smallest piece fits into the answer. The error message
    names ranges to ask for, or the weights."""


class NothingToCompactError(PalimpsestError):
    """FAILED_PRECONDITION. There is nothing to summarize between the last summary and the newest
    messages, or the summary did not make the view smaller by enough."""


class AlreadyRewoundError(PalimpsestError):
    """FAILED_PRECONDITION. An earlier rewind has already taken the messages back."""


class ContentNotFoundError(PalimpsestError):
    """NOT_FOUND. No content of the conversation has this handle."""


class ContentExpiredError(PalimpsestError):
    """NOT_FOUND. The content is gone for good: its run has ended, or its message was erased.
    ExpandMessage also answers with it for a message whose content was deleted with its run. Do not
    retry."""


class ContentNotTextError(PalimpsestError):
    """FAILED_PRECONDITION. The content is not UTF-8 text. Only its bytes can be retrieved."""


class RunEndedError(PalimpsestError):
    """FAILED_PRECONDITION. The run has ended. Store the content for another run, or for the
    conversation."""


class ChecksumMismatchError(PalimpsestError):
    """INVALID_ARGUMENT. The bytes do not match the SHA-256 in the header. Nothing was stored."""


class OverloadedError(PalimpsestError):
    """RESOURCE_EXHAUSTED. Calls in progress use all the memory set aside for them. Nothing was
    changed. Try again after the delay in google.rpc.RetryInfo."""


class NothingToUndoError(PalimpsestError):
    """FAILED_PRECONDITION. There is no rewind to undo, or messages were appended after it."""


class NoMessagesError(PalimpsestError):
    """FAILED_PRECONDITION. The conversation has no messages: append the first one."""


class NotCorrectableError(PalimpsestError):
    """FAILED_PRECONDITION. The part of the message cannot be corrected: it is neither a text nor a
    tool result with words of the caller's own, it lies in a content, or the message was taken back.
    The error message says which."""


class UnauthenticatedError(PalimpsestError):
    """UNAUTHENTICATED. The call has no valid credential: none, an unknown one, or an expired one."""


class PermissionDeniedError(PalimpsestError):
    """PERMISSION_DENIED. The credential is an agent's and the call an operator's, or the
    conversation would belong to an actor that the credential does not speak for."""


class QuotaExceededError(PalimpsestError):
    """RESOURCE_EXHAUSTED. The namespace has reached a limit that its operator set, which
    google.rpc.QuotaFailure and the error message name. Nothing was changed. Try again after the
    delay in google.rpc.RetryInfo; a limit of conversations or of bytes needs deletions first, or a
    higher limit."""


class MemoryDisabledError(PalimpsestError):
    """FAILED_PRECONDITION. The server has no memory across conversations (flag --memory)."""


class NoActorError(PalimpsestError):
    """FAILED_PRECONDITION. The conversation lacks the actor_id or agent_id that the scope needs."""


class MemoryUnavailableError(PalimpsestError):
    """UNAVAILABLE. The memory's back end cannot be reached, or refuses the sidecar. Try again."""


class ForgetNotFoundError(PalimpsestError):
    """NOT_FOUND. No ForgetActor has this id, or it was too long ago."""


class HistoryDivergedError(PalimpsestError):
    """FAILED_PRECONDITION. The caller's whole list differs from the record; with REWIND, its first
    message does. Set on_divergence to REWIND or NEW. The error's metadata names the place in the
    list (list_index) and the message on record (message_index), both counted from 0."""


class HistoryAmbiguousError(PalimpsestError):
    """FAILED_PRECONDITION. The front of the caller's list was cut off, and the rest matches the end
    of the record in several places. Send more of it, or set on_cut to HIDE."""


class HistoryPrefixUnknownError(PalimpsestError):
    """FAILED_PRECONDITION. The server does not know the front of the list that known_sha256 names,
    or the record has changed since. Send the whole list."""


BY_REASON: Dict[str, Type[PalimpsestError]] = {
    "INVALID_FIELD": InvalidFieldError,
    "CONVERSATION_NOT_FOUND": ConversationNotFoundError,
    "CONVERSATION_DELETED": ConversationDeletedError,
    "CONVERSATION_EXISTS": ConversationExistsError,
    "MESSAGE_NOT_FOUND": MessageNotFoundError,
    "MANIFEST_NOT_FOUND": ManifestNotFoundError,
    "MODEL_PROFILE_NOT_FOUND": ModelProfileNotFoundError,
    "INDEX_MISMATCH": IndexMismatchError,
    "CONTENTION": ContentionError,
    "REQUEST_ID_REUSED": RequestIdReusedError,
    "RESULT_WITHOUT_CALL": ResultWithoutCallError,
    "PENDING_TOOL_CALLS": PendingToolCallsError,
    "EMPTY_CONTEXT": EmptyContextError,
    "CONTEXT_CANNOT_FIT": ContextCannotFitError,
    "TURN_PASSED": TurnPassedError,
    "REPLY_TOO_LARGE": ReplyTooLargeError,
    "LIMIT_EXCEEDED": LimitExceededError,
    "STORE_UNAVAILABLE": StoreUnavailableError,
    "OUTCOME_UNKNOWN": OutcomeUnknownError,
    "CORRUPT_RECORD": CorruptRecordError,
    "STORE_FULL": StoreFullError,
    "INTERNAL": InternalError,
    "MANIFEST_NOT_REBUILDABLE": ManifestNotRebuildableError,
    "CANCELLED": CancelledError,
    "RESUME_TOKEN_EXPIRED": ResumeTokenExpiredError,
    "ACTION_POLICY_NOT_FOUND": ActionPolicyNotFoundError,
    "PROMPT_NOT_FOUND": PromptNotFoundError,
    "SUMMARY_NOT_FOUND": SummaryNotFoundError,
    "NOT_EDITED": NotEditedError,
    "ORIGINAL_ERASED": OriginalErasedError,
    "EXPANSION_TOO_LARGE": ExpansionTooLargeError,
    "NOTHING_TO_COMPACT": NothingToCompactError,
    "ALREADY_REWOUND": AlreadyRewoundError,
    "CONTENT_NOT_FOUND": ContentNotFoundError,
    "CONTENT_EXPIRED": ContentExpiredError,
    "CONTENT_NOT_TEXT": ContentNotTextError,
    "RUN_ENDED": RunEndedError,
    "CHECKSUM_MISMATCH": ChecksumMismatchError,
    "OVERLOADED": OverloadedError,
    "NOTHING_TO_UNDO": NothingToUndoError,
    "NO_MESSAGES": NoMessagesError,
    "NOT_CORRECTABLE": NotCorrectableError,
    "UNAUTHENTICATED": UnauthenticatedError,
    "PERMISSION_DENIED": PermissionDeniedError,
    "QUOTA_EXCEEDED": QuotaExceededError,
    "MEMORY_DISABLED": MemoryDisabledError,
    "NO_ACTOR": NoActorError,
    "MEMORY_UNAVAILABLE": MemoryUnavailableError,
    "FORGET_NOT_FOUND": ForgetNotFoundError,
    "HISTORY_DIVERGED": HistoryDivergedError,
    "HISTORY_AMBIGUOUS": HistoryAmbiguousError,
    "HISTORY_PREFIX_UNKNOWN": HistoryPrefixUnknownError,
}
