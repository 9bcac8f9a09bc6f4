from palimpsest_context.v1 import content_pb2 as _content_pb2
from palimpsest_context.v1 import context_pb2 as _context_pb2
from palimpsest_context.v1 import event_pb2 as _event_pb2
from palimpsest_context.v1 import expiration_pb2 as _expiration_pb2
from palimpsest_context.v1 import message_pb2 as _message_pb2
from palimpsest_context.v1 import policy_pb2 as _policy_pb2
from palimpsest_context.v1 import provider_input_pb2 as _provider_input_pb2
from palimpsest_context.v1 import retention_pb2 as _retention_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
EXPAND_MODE_RESTORE: ExpandMode
EXPAND_MODE_RETURN_ONLY: ExpandMode
EXPAND_MODE_UNSPECIFIED: ExpandMode

class AnswerToolCallRequest(_message.Message):
    __slots__ = ["conversation_id", "max_tokens", "tool_call"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    max_tokens: int
    tool_call: _message_pb2.ToolCall
    def __init__(self, conversation_id: _Optional[str] = ..., tool_call: _Optional[_Union[_message_pb2.ToolCall, _Mapping]] = ..., max_tokens: _Optional[int] = ...) -> None: ...

class AnswerToolCallResponse(_message.Message):
    __slots__ = ["token_count", "tool_result"]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULT_FIELD_NUMBER: _ClassVar[int]
    token_count: int
    tool_result: _message_pb2.ToolResult
    def __init__(self, tool_result: _Optional[_Union[_message_pb2.ToolResult, _Mapping]] = ..., token_count: _Optional[int] = ...) -> None: ...

class AppendMessageRequest(_message.Message):
    __slots__ = ["additional_content", "conversation_id", "expected_index", "expiration_override", "message", "provider_input", "request_id", "return_variants"]
    ADDITIONAL_CONTENT_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_INDEX_FIELD_NUMBER: _ClassVar[int]
    EXPIRATION_OVERRIDE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_INPUT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RETURN_VARIANTS_FIELD_NUMBER: _ClassVar[int]
    additional_content: _containers.RepeatedCompositeFieldContainer[_retention_pb2.AdditionalContent]
    conversation_id: str
    expected_index: int
    expiration_override: _expiration_pb2.ExpirationOverride
    message: _message_pb2.Message
    provider_input: _provider_input_pb2.ProviderInput
    request_id: str
    return_variants: bool
    def __init__(self, conversation_id: _Optional[str] = ..., message: _Optional[_Union[_message_pb2.Message, _Mapping]] = ..., additional_content: _Optional[_Iterable[_Union[_retention_pb2.AdditionalContent, _Mapping]]] = ..., request_id: _Optional[str] = ..., expected_index: _Optional[int] = ..., expiration_override: _Optional[_Union[_expiration_pb2.ExpirationOverride, _Mapping]] = ..., return_variants: bool = ..., provider_input: _Optional[_Union[_provider_input_pb2.ProviderInput, _Mapping]] = ...) -> None: ...

class AppendMessageResponse(_message.Message):
    __slots__ = ["calls", "display_message", "events", "history", "left_out_calls", "persistent_message", "receipt", "receipts"]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_CALLS_FIELD_NUMBER: _ClassVar[int]
    PERSISTENT_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RECEIPTS_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    calls: _containers.RepeatedCompositeFieldContainer[_provider_input_pb2.AppendedCall]
    display_message: _message_pb2.Message
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.LifecycleEvent]
    history: _provider_input_pb2.HistoryResult
    left_out_calls: int
    persistent_message: _message_pb2.Message
    receipt: _context_pb2.Receipt
    receipts: _containers.RepeatedCompositeFieldContainer[_context_pb2.Receipt]
    def __init__(self, receipt: _Optional[_Union[_context_pb2.Receipt, _Mapping]] = ..., events: _Optional[_Iterable[_Union[_event_pb2.LifecycleEvent, _Mapping]]] = ..., display_message: _Optional[_Union[_message_pb2.Message, _Mapping]] = ..., persistent_message: _Optional[_Union[_message_pb2.Message, _Mapping]] = ..., receipts: _Optional[_Iterable[_Union[_context_pb2.Receipt, _Mapping]]] = ..., calls: _Optional[_Iterable[_Union[_provider_input_pb2.AppendedCall, _Mapping]]] = ..., history: _Optional[_Union[_provider_input_pb2.HistoryResult, _Mapping]] = ..., left_out_calls: _Optional[int] = ...) -> None: ...

class BatchAppendItem(_message.Message):
    __slots__ = ["additional_content", "expiration_override", "message", "provider_input"]
    ADDITIONAL_CONTENT_FIELD_NUMBER: _ClassVar[int]
    EXPIRATION_OVERRIDE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_INPUT_FIELD_NUMBER: _ClassVar[int]
    additional_content: _containers.RepeatedCompositeFieldContainer[_retention_pb2.AdditionalContent]
    expiration_override: _expiration_pb2.ExpirationOverride
    message: _message_pb2.Message
    provider_input: _provider_input_pb2.ProviderInput
    def __init__(self, message: _Optional[_Union[_message_pb2.Message, _Mapping]] = ..., additional_content: _Optional[_Iterable[_Union[_retention_pb2.AdditionalContent, _Mapping]]] = ..., expiration_override: _Optional[_Union[_expiration_pb2.ExpirationOverride, _Mapping]] = ..., provider_input: _Optional[_Union[_provider_input_pb2.ProviderInput, _Mapping]] = ...) -> None: ...

class BatchAppendMessagesRequest(_message.Message):
    __slots__ = ["conversation_id", "expected_index", "items", "request_id"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_INDEX_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    expected_index: int
    items: _containers.RepeatedCompositeFieldContainer[BatchAppendItem]
    request_id: str
    def __init__(self, conversation_id: _Optional[str] = ..., items: _Optional[_Iterable[_Union[BatchAppendItem, _Mapping]]] = ..., request_id: _Optional[str] = ..., expected_index: _Optional[int] = ...) -> None: ...

class BatchAppendMessagesResponse(_message.Message):
    __slots__ = ["calls", "events", "left_out_calls", "receipts"]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_CALLS_FIELD_NUMBER: _ClassVar[int]
    RECEIPTS_FIELD_NUMBER: _ClassVar[int]
    calls: _containers.RepeatedCompositeFieldContainer[_provider_input_pb2.AppendedCall]
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.LifecycleEvent]
    left_out_calls: int
    receipts: _containers.RepeatedCompositeFieldContainer[_context_pb2.Receipt]
    def __init__(self, receipts: _Optional[_Iterable[_Union[_context_pb2.Receipt, _Mapping]]] = ..., events: _Optional[_Iterable[_Union[_event_pb2.LifecycleEvent, _Mapping]]] = ..., calls: _Optional[_Iterable[_Union[_provider_input_pb2.AppendedCall, _Mapping]]] = ..., left_out_calls: _Optional[int] = ...) -> None: ...

class BuildAppend(_message.Message):
    __slots__ = ["expected_index", "items", "provider_input"]
    EXPECTED_INDEX_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_INPUT_FIELD_NUMBER: _ClassVar[int]
    expected_index: int
    items: _containers.RepeatedCompositeFieldContainer[BatchAppendItem]
    provider_input: _provider_input_pb2.ProviderInput
    def __init__(self, items: _Optional[_Iterable[_Union[BatchAppendItem, _Mapping]]] = ..., provider_input: _Optional[_Union[_provider_input_pb2.ProviderInput, _Mapping]] = ..., expected_index: _Optional[int] = ...) -> None: ...

class BuildContextRequest(_message.Message):
    __slots__ = ["append", "budget", "close_open_calls", "complete", "conversation_id", "dry_run", "expiration_override", "fixed_input", "format", "last_usage", "last_usage_json", "max_reply_bytes", "model", "passes", "policy_override", "prompt_cache", "recall_tools", "request_id", "same_turn", "turn"]
    APPEND_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    CLOSE_OPEN_CALLS_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    EXPIRATION_OVERRIDE_FIELD_NUMBER: _ClassVar[int]
    FIXED_INPUT_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    LAST_USAGE_FIELD_NUMBER: _ClassVar[int]
    LAST_USAGE_JSON_FIELD_NUMBER: _ClassVar[int]
    MAX_REPLY_BYTES_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PASSES_FIELD_NUMBER: _ClassVar[int]
    POLICY_OVERRIDE_FIELD_NUMBER: _ClassVar[int]
    PROMPT_CACHE_FIELD_NUMBER: _ClassVar[int]
    RECALL_TOOLS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SAME_TURN_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    append: BuildAppend
    budget: _policy_pb2.Budget
    close_open_calls: bool
    complete: bool
    conversation_id: str
    dry_run: bool
    expiration_override: _expiration_pb2.ExpirationOverride
    fixed_input: _context_pb2.FixedInput
    format: _context_pb2.ContextFormat
    last_usage: _context_pb2.Usage
    last_usage_json: str
    max_reply_bytes: int
    model: str
    passes: bool
    policy_override: _policy_pb2.Policy
    prompt_cache: bool
    recall_tools: bool
    request_id: str
    same_turn: bool
    turn: int
    def __init__(self, conversation_id: _Optional[str] = ..., turn: _Optional[int] = ..., same_turn: bool = ..., request_id: _Optional[str] = ..., format: _Optional[_Union[_context_pb2.ContextFormat, str]] = ..., model: _Optional[str] = ..., budget: _Optional[_Union[_policy_pb2.Budget, _Mapping]] = ..., fixed_input: _Optional[_Union[_context_pb2.FixedInput, _Mapping]] = ..., last_usage: _Optional[_Union[_context_pb2.Usage, _Mapping]] = ..., expiration_override: _Optional[_Union[_expiration_pb2.ExpirationOverride, _Mapping]] = ..., policy_override: _Optional[_Union[_policy_pb2.Policy, _Mapping]] = ..., dry_run: bool = ..., max_reply_bytes: _Optional[int] = ..., close_open_calls: bool = ..., append: _Optional[_Union[BuildAppend, _Mapping]] = ..., complete: bool = ..., recall_tools: bool = ..., last_usage_json: _Optional[str] = ..., prompt_cache: bool = ..., passes: bool = ...) -> None: ...

class BuildContextResponse(_message.Message):
    __slots__ = ["calls", "compaction", "decisions", "degradations", "duplicate", "events", "history", "left_out_calls", "manifest_id", "messages", "passes", "policy_hash", "prefix", "receipts", "rendered", "revision", "tokens", "turn"]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_FIELD_NUMBER: _ClassVar[int]
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    DEGRADATIONS_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_CALLS_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    PASSES_FIELD_NUMBER: _ClassVar[int]
    POLICY_HASH_FIELD_NUMBER: _ClassVar[int]
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    RECEIPTS_FIELD_NUMBER: _ClassVar[int]
    RENDERED_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    calls: _containers.RepeatedCompositeFieldContainer[_provider_input_pb2.AppendedCall]
    compaction: _context_pb2.CompactionStatus
    decisions: _containers.RepeatedCompositeFieldContainer[_event_pb2.Decision]
    degradations: _containers.RepeatedCompositeFieldContainer[_event_pb2.Degradation]
    duplicate: bool
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.LifecycleEvent]
    history: _provider_input_pb2.HistoryResult
    left_out_calls: int
    manifest_id: str
    messages: _containers.RepeatedCompositeFieldContainer[_context_pb2.ContextMessage]
    passes: _containers.RepeatedCompositeFieldContainer[BuildPass]
    policy_hash: str
    prefix: _context_pb2.PrefixReport
    receipts: _containers.RepeatedCompositeFieldContainer[_context_pb2.Receipt]
    rendered: _context_pb2.Rendered
    revision: int
    tokens: _context_pb2.TokenReport
    turn: int
    def __init__(self, turn: _Optional[int] = ..., manifest_id: _Optional[str] = ..., revision: _Optional[int] = ..., messages: _Optional[_Iterable[_Union[_context_pb2.ContextMessage, _Mapping]]] = ..., rendered: _Optional[_Union[_context_pb2.Rendered, _Mapping]] = ..., tokens: _Optional[_Union[_context_pb2.TokenReport, _Mapping]] = ..., prefix: _Optional[_Union[_context_pb2.PrefixReport, _Mapping]] = ..., decisions: _Optional[_Iterable[_Union[_event_pb2.Decision, _Mapping]]] = ..., events: _Optional[_Iterable[_Union[_event_pb2.LifecycleEvent, _Mapping]]] = ..., compaction: _Optional[_Union[_context_pb2.CompactionStatus, _Mapping]] = ..., degradations: _Optional[_Iterable[_Union[_event_pb2.Degradation, _Mapping]]] = ..., policy_hash: _Optional[str] = ..., duplicate: bool = ..., receipts: _Optional[_Iterable[_Union[_context_pb2.Receipt, _Mapping]]] = ..., calls: _Optional[_Iterable[_Union[_provider_input_pb2.AppendedCall, _Mapping]]] = ..., history: _Optional[_Union[_provider_input_pb2.HistoryResult, _Mapping]] = ..., left_out_calls: _Optional[int] = ..., passes: _Optional[_Iterable[_Union[BuildPass, _Mapping]]] = ...) -> None: ...

class BuildPass(_message.Message):
    __slots__ = ["edits", "name", "notes", "tokens", "took_us", "window_start_index"]
    EDITS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOOK_US_FIELD_NUMBER: _ClassVar[int]
    WINDOW_START_INDEX_FIELD_NUMBER: _ClassVar[int]
    edits: int
    name: str
    notes: int
    tokens: int
    took_us: int
    window_start_index: int
    def __init__(self, name: _Optional[str] = ..., took_us: _Optional[int] = ..., edits: _Optional[int] = ..., notes: _Optional[int] = ..., window_start_index: _Optional[int] = ..., tokens: _Optional[int] = ...) -> None: ...

class CompactConversationRequest(_message.Message):
    __slots__ = ["conversation_id", "options", "request_id"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    options: CompactionOptions
    request_id: str
    def __init__(self, conversation_id: _Optional[str] = ..., options: _Optional[_Union[CompactionOptions, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class CompactConversationResponse(_message.Message):
    __slots__ = ["degradations", "duplicate", "events", "result", "revision"]
    DEGRADATIONS_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    degradations: _containers.RepeatedCompositeFieldContainer[_event_pb2.Degradation]
    duplicate: bool
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.LifecycleEvent]
    result: CompactionResult
    revision: int
    def __init__(self, result: _Optional[_Union[CompactionResult, _Mapping]] = ..., events: _Optional[_Iterable[_Union[_event_pb2.LifecycleEvent, _Mapping]]] = ..., degradations: _Optional[_Iterable[_Union[_event_pb2.Degradation, _Mapping]]] = ..., revision: _Optional[int] = ..., duplicate: bool = ...) -> None: ...

class CompactionOptions(_message.Message):
    __slots__ = ["keep_recent", "strategy", "target_tokens"]
    KEEP_RECENT_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    TARGET_TOKENS_FIELD_NUMBER: _ClassVar[int]
    keep_recent: int
    strategy: _policy_pb2.CompactionStrategy
    target_tokens: int
    def __init__(self, strategy: _Optional[_Union[_policy_pb2.CompactionStrategy, str]] = ..., keep_recent: _Optional[int] = ..., target_tokens: _Optional[int] = ...) -> None: ...

class CompactionResult(_message.Message):
    __slots__ = ["compacted_range", "summaries", "tokens_saved"]
    COMPACTED_RANGE_FIELD_NUMBER: _ClassVar[int]
    SUMMARIES_FIELD_NUMBER: _ClassVar[int]
    TOKENS_SAVED_FIELD_NUMBER: _ClassVar[int]
    compacted_range: _message_pb2.MessageRange
    summaries: _containers.RepeatedCompositeFieldContainer[_context_pb2.Summary]
    tokens_saved: int
    def __init__(self, summaries: _Optional[_Iterable[_Union[_context_pb2.Summary, _Mapping]]] = ..., compacted_range: _Optional[_Union[_message_pb2.MessageRange, _Mapping]] = ..., tokens_saved: _Optional[int] = ...) -> None: ...

class CorrectMessageRequest(_message.Message):
    __slots__ = ["conversation_id", "corrections", "max_reply_bytes", "message_id", "message_index", "reason", "request_id"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    CORRECTIONS_FIELD_NUMBER: _ClassVar[int]
    MAX_REPLY_BYTES_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_INDEX_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    corrections: _containers.RepeatedCompositeFieldContainer[Correction]
    max_reply_bytes: int
    message_id: str
    message_index: int
    reason: str
    request_id: str
    def __init__(self, conversation_id: _Optional[str] = ..., message_index: _Optional[int] = ..., message_id: _Optional[str] = ..., corrections: _Optional[_Iterable[_Union[Correction, _Mapping]]] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ..., max_reply_bytes: _Optional[int] = ...) -> None: ...

class CorrectMessageResponse(_message.Message):
    __slots__ = ["dissolved_summaries", "duplicate", "events", "message", "revision", "rewrite_tokens"]
    DISSOLVED_SUMMARIES_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    REWRITE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    dissolved_summaries: _containers.RepeatedScalarFieldContainer[str]
    duplicate: bool
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.LifecycleEvent]
    message: _message_pb2.Message
    revision: int
    rewrite_tokens: int
    def __init__(self, message: _Optional[_Union[_message_pb2.Message, _Mapping]] = ..., events: _Optional[_Iterable[_Union[_event_pb2.LifecycleEvent, _Mapping]]] = ..., dissolved_summaries: _Optional[_Iterable[str]] = ..., revision: _Optional[int] = ..., rewrite_tokens: _Optional[int] = ..., duplicate: bool = ...) -> None: ...

class Correction(_message.Message):
    __slots__ = ["json", "part_index", "text"]
    JSON_FIELD_NUMBER: _ClassVar[int]
    PART_INDEX_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    json: str
    part_index: int
    text: str
    def __init__(self, part_index: _Optional[int] = ..., text: _Optional[str] = ..., json: _Optional[str] = ...) -> None: ...

class ExpandMessageRequest(_message.Message):
    __slots__ = ["chars", "conversation_id", "items", "lines", "max_reply_bytes", "max_tokens", "message_id", "message_index", "mode", "page_size", "page_token", "reason", "request_id", "summary_id"]
    CHARS_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    MAX_REPLY_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_INDEX_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_ID_FIELD_NUMBER: _ClassVar[int]
    chars: _content_pb2.Span
    conversation_id: str
    items: _content_pb2.Span
    lines: _content_pb2.Span
    max_reply_bytes: int
    max_tokens: int
    message_id: str
    message_index: int
    mode: ExpandMode
    page_size: int
    page_token: str
    reason: str
    request_id: str
    summary_id: str
    def __init__(self, conversation_id: _Optional[str] = ..., message_index: _Optional[int] = ..., message_id: _Optional[str] = ..., summary_id: _Optional[str] = ..., reason: _Optional[str] = ..., mode: _Optional[_Union[ExpandMode, str]] = ..., chars: _Optional[_Union[_content_pb2.Span, _Mapping]] = ..., lines: _Optional[_Union[_content_pb2.Span, _Mapping]] = ..., items: _Optional[_Union[_content_pb2.Span, _Mapping]] = ..., max_tokens: _Optional[int] = ..., request_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., max_reply_bytes: _Optional[int] = ...) -> None: ...

class ExpandMessageResponse(_message.Message):
    __slots__ = ["children", "duplicate", "events", "message", "next_page_token", "returned", "revision", "rewrite_tokens", "total_chars"]
    CHILDREN_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    RETURNED_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    REWRITE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_CHARS_FIELD_NUMBER: _ClassVar[int]
    children: _containers.RepeatedCompositeFieldContainer[ExpandedChild]
    duplicate: bool
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.LifecycleEvent]
    message: _message_pb2.Message
    next_page_token: str
    returned: _content_pb2.Span
    revision: int
    rewrite_tokens: int
    total_chars: int
    def __init__(self, message: _Optional[_Union[_message_pb2.Message, _Mapping]] = ..., returned: _Optional[_Union[_content_pb2.Span, _Mapping]] = ..., total_chars: _Optional[int] = ..., children: _Optional[_Iterable[_Union[ExpandedChild, _Mapping]]] = ..., events: _Optional[_Iterable[_Union[_event_pb2.LifecycleEvent, _Mapping]]] = ..., revision: _Optional[int] = ..., rewrite_tokens: _Optional[int] = ..., next_page_token: _Optional[str] = ..., duplicate: bool = ...) -> None: ...

class ExpandedChild(_message.Message):
    __slots__ = ["end_index", "message", "start_index", "summary_id"]
    END_INDEX_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    START_INDEX_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_ID_FIELD_NUMBER: _ClassVar[int]
    end_index: int
    message: _message_pb2.Message
    start_index: int
    summary_id: str
    def __init__(self, message: _Optional[_Union[_message_pb2.Message, _Mapping]] = ..., summary_id: _Optional[str] = ..., start_index: _Optional[int] = ..., end_index: _Optional[int] = ...) -> None: ...

class ReportUsageRequest(_message.Message):
    __slots__ = ["conversation_id", "manifest_id", "model", "usage", "usage_json"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    USAGE_JSON_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    manifest_id: str
    model: str
    usage: _context_pb2.Usage
    usage_json: str
    def __init__(self, conversation_id: _Optional[str] = ..., manifest_id: _Optional[str] = ..., model: _Optional[str] = ..., usage: _Optional[_Union[_context_pb2.Usage, _Mapping]] = ..., usage_json: _Optional[str] = ...) -> None: ...

class ReportUsageResponse(_message.Message):
    __slots__ = ["counted", "factor"]
    COUNTED_FIELD_NUMBER: _ClassVar[int]
    FACTOR_FIELD_NUMBER: _ClassVar[int]
    counted: bool
    factor: float
    def __init__(self, factor: _Optional[float] = ..., counted: bool = ...) -> None: ...

class RewindConversationRequest(_message.Message):
    __slots__ = ["conversation_id", "from_index", "request_id"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_INDEX_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    from_index: int
    request_id: str
    def __init__(self, conversation_id: _Optional[str] = ..., from_index: _Optional[int] = ..., request_id: _Optional[str] = ...) -> None: ...

class RewindConversationResponse(_message.Message):
    __slots__ = ["dissolved_summaries", "duplicate", "end_index", "events", "revision", "start_index"]
    DISSOLVED_SUMMARIES_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    END_INDEX_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    START_INDEX_FIELD_NUMBER: _ClassVar[int]
    dissolved_summaries: _containers.RepeatedScalarFieldContainer[str]
    duplicate: bool
    end_index: int
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.LifecycleEvent]
    revision: int
    start_index: int
    def __init__(self, start_index: _Optional[int] = ..., end_index: _Optional[int] = ..., dissolved_summaries: _Optional[_Iterable[str]] = ..., events: _Optional[_Iterable[_Union[_event_pb2.LifecycleEvent, _Mapping]]] = ..., revision: _Optional[int] = ..., duplicate: bool = ...) -> None: ...

class UndoRewindRequest(_message.Message):
    __slots__ = ["conversation_id", "request_id"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    request_id: str
    def __init__(self, conversation_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class UndoRewindResponse(_message.Message):
    __slots__ = ["duplicate", "end_index", "events", "revision", "revived_summaries", "start_index"]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    END_INDEX_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    REVIVED_SUMMARIES_FIELD_NUMBER: _ClassVar[int]
    START_INDEX_FIELD_NUMBER: _ClassVar[int]
    duplicate: bool
    end_index: int
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.LifecycleEvent]
    revision: int
    revived_summaries: _containers.RepeatedScalarFieldContainer[str]
    start_index: int
    def __init__(self, start_index: _Optional[int] = ..., end_index: _Optional[int] = ..., revived_summaries: _Optional[_Iterable[str]] = ..., events: _Optional[_Iterable[_Union[_event_pb2.LifecycleEvent, _Mapping]]] = ..., revision: _Optional[int] = ..., duplicate: bool = ...) -> None: ...

class ExpandMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
