from google.protobuf import timestamp_pb2 as _timestamp_pb2
from palimpsest_context.v1 import content_pb2 as _content_pb2
from palimpsest_context.v1 import message_pb2 as _message_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

COMPACTION_STATE_PREPARING: CompactionState
COMPACTION_STATE_READY: CompactionState
COMPACTION_STATE_UNSPECIFIED: CompactionState
CONTEXT_FORMAT_ANTHROPIC: ContextFormat
CONTEXT_FORMAT_GEMINI: ContextFormat
CONTEXT_FORMAT_NEUTRAL: ContextFormat
CONTEXT_FORMAT_OPENAI_CHAT: ContextFormat
CONTEXT_FORMAT_OPENAI_RESPONSES: ContextFormat
CONTEXT_FORMAT_UNSPECIFIED: ContextFormat
DESCRIPTOR: _descriptor.FileDescriptor
PREFIX_BREAK_CORRECTED: PrefixBreak
PREFIX_BREAK_EDITED: PrefixBreak
PREFIX_BREAK_EXPANDED: PrefixBreak
PREFIX_BREAK_EXPIRED: PrefixBreak
PREFIX_BREAK_FIRST_BUILD: PrefixBreak
PREFIX_BREAK_MEMORY: PrefixBreak
PREFIX_BREAK_OTHER_COORDINATES: PrefixBreak
PREFIX_BREAK_PINNED: PrefixBreak
PREFIX_BREAK_PRUNED: PrefixBreak
PREFIX_BREAK_RETENTION: PrefixBreak
PREFIX_BREAK_REWOUND: PrefixBreak
PREFIX_BREAK_SUMMARIZED: PrefixBreak
PREFIX_BREAK_TAIL_REPLACED: PrefixBreak
PREFIX_BREAK_UNSPECIFIED: PrefixBreak
PREFIX_BREAK_WINDOW_MOVED: PrefixBreak

class CompactionStatus(_message.Message):
    __slots__ = ["own_calls", "reported", "state", "summary_id", "used_percent", "used_tokens", "window_start_index"]
    OWN_CALLS_FIELD_NUMBER: _ClassVar[int]
    REPORTED_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_ID_FIELD_NUMBER: _ClassVar[int]
    USED_PERCENT_FIELD_NUMBER: _ClassVar[int]
    USED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_START_INDEX_FIELD_NUMBER: _ClassVar[int]
    own_calls: ModelUsage
    reported: bool
    state: CompactionState
    summary_id: str
    used_percent: int
    used_tokens: int
    window_start_index: int
    def __init__(self, used_percent: _Optional[int] = ..., window_start_index: _Optional[int] = ..., used_tokens: _Optional[int] = ..., reported: bool = ..., state: _Optional[_Union[CompactionState, str]] = ..., summary_id: _Optional[str] = ..., own_calls: _Optional[_Union[ModelUsage, _Mapping]] = ...) -> None: ...

class ContextMessage(_message.Message):
    __slots__ = ["edit_id", "end_index", "name", "origin", "parts", "role", "shortened", "tokens"]
    EDIT_ID_FIELD_NUMBER: _ClassVar[int]
    END_INDEX_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SHORTENED_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    edit_id: str
    end_index: int
    name: str
    origin: Origin
    parts: _containers.RepeatedCompositeFieldContainer[_message_pb2.Part]
    role: _message_pb2.Role
    shortened: bool
    tokens: int
    def __init__(self, role: _Optional[_Union[_message_pb2.Role, str]] = ..., parts: _Optional[_Iterable[_Union[_message_pb2.Part, _Mapping]]] = ..., tokens: _Optional[int] = ..., edit_id: _Optional[str] = ..., origin: _Optional[_Union[Origin, _Mapping]] = ..., end_index: _Optional[int] = ..., shortened: bool = ..., name: _Optional[str] = ...) -> None: ...

class FixedInput(_message.Message):
    __slots__ = ["render_system", "system_prompt", "tokens", "tools_json"]
    RENDER_SYSTEM_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_PROMPT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_JSON_FIELD_NUMBER: _ClassVar[int]
    render_system: bool
    system_prompt: str
    tokens: int
    tools_json: str
    def __init__(self, system_prompt: _Optional[str] = ..., tools_json: _Optional[str] = ..., tokens: _Optional[int] = ..., render_system: bool = ...) -> None: ...

class Manifest(_message.Message):
    __slots__ = ["budget_tokens", "content_sha256", "counter", "create_time", "edit_seq", "factor", "format", "id", "message_count", "model", "policy_hash", "renderer_version", "revision", "total_tokens", "turn", "window_start_index"]
    BUDGET_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CONTENT_SHA256_FIELD_NUMBER: _ClassVar[int]
    COUNTER_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    EDIT_SEQ_FIELD_NUMBER: _ClassVar[int]
    FACTOR_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    POLICY_HASH_FIELD_NUMBER: _ClassVar[int]
    RENDERER_VERSION_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    TOTAL_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    WINDOW_START_INDEX_FIELD_NUMBER: _ClassVar[int]
    budget_tokens: int
    content_sha256: str
    counter: str
    create_time: _timestamp_pb2.Timestamp
    edit_seq: int
    factor: float
    format: ContextFormat
    id: str
    message_count: int
    model: str
    policy_hash: str
    renderer_version: int
    revision: int
    total_tokens: int
    turn: int
    window_start_index: int
    def __init__(self, id: _Optional[str] = ..., turn: _Optional[int] = ..., format: _Optional[_Union[ContextFormat, str]] = ..., model: _Optional[str] = ..., message_count: _Optional[int] = ..., edit_seq: _Optional[int] = ..., window_start_index: _Optional[int] = ..., budget_tokens: _Optional[int] = ..., total_tokens: _Optional[int] = ..., counter: _Optional[str] = ..., factor: _Optional[float] = ..., policy_hash: _Optional[str] = ..., renderer_version: _Optional[int] = ..., content_sha256: _Optional[str] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., revision: _Optional[int] = ...) -> None: ...

class ModelUsage(_message.Message):
    __slots__ = ["cache_read_tokens", "cache_write_tokens", "calls", "cost", "input_tokens", "output_tokens"]
    CACHE_READ_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    cache_read_tokens: int
    cache_write_tokens: int
    calls: int
    cost: float
    input_tokens: int
    output_tokens: int
    def __init__(self, calls: _Optional[int] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cost: _Optional[float] = ..., cache_read_tokens: _Optional[int] = ..., cache_write_tokens: _Optional[int] = ...) -> None: ...

class Origin(_message.Message):
    __slots__ = ["message_index", "summary_id", "synthetic"]
    MESSAGE_INDEX_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_ID_FIELD_NUMBER: _ClassVar[int]
    SYNTHETIC_FIELD_NUMBER: _ClassVar[int]
    message_index: int
    summary_id: str
    synthetic: str
    def __init__(self, message_index: _Optional[int] = ..., summary_id: _Optional[str] = ..., synthetic: _Optional[str] = ...) -> None: ...

class PrefixReport(_message.Message):
    __slots__ = ["broken_by", "fixed_input_changed", "previous_blocks", "rewrite", "stable_blocks", "stable_tokens"]
    BROKEN_BY_FIELD_NUMBER: _ClassVar[int]
    FIXED_INPUT_CHANGED_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_BLOCKS_FIELD_NUMBER: _ClassVar[int]
    REWRITE_FIELD_NUMBER: _ClassVar[int]
    STABLE_BLOCKS_FIELD_NUMBER: _ClassVar[int]
    STABLE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    broken_by: PrefixBreak
    fixed_input_changed: bool
    previous_blocks: int
    rewrite: RewriteReport
    stable_blocks: int
    stable_tokens: int
    def __init__(self, stable_blocks: _Optional[int] = ..., stable_tokens: _Optional[int] = ..., fixed_input_changed: bool = ..., broken_by: _Optional[_Union[PrefixBreak, str]] = ..., previous_blocks: _Optional[int] = ..., rewrite: _Optional[_Union[RewriteReport, _Mapping]] = ...) -> None: ...

class Receipt(_message.Message):
    __slots__ = ["citations", "duplicate", "estimated", "id", "index", "revision", "token_count", "turn_added"]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TURN_ADDED_FIELD_NUMBER: _ClassVar[int]
    citations: _containers.RepeatedCompositeFieldContainer[_content_pb2.Citation]
    duplicate: bool
    estimated: bool
    id: str
    index: int
    revision: int
    token_count: int
    turn_added: int
    def __init__(self, index: _Optional[int] = ..., id: _Optional[str] = ..., turn_added: _Optional[int] = ..., token_count: _Optional[int] = ..., estimated: bool = ..., citations: _Optional[_Iterable[_Union[_content_pb2.Citation, _Mapping]]] = ..., revision: _Optional[int] = ..., duplicate: bool = ...) -> None: ...

class Rendered(_message.Message):
    __slots__ = ["blocks", "cache_breakpoints", "content_sha256", "messages_json", "request_json", "system_json"]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    CACHE_BREAKPOINTS_FIELD_NUMBER: _ClassVar[int]
    CONTENT_SHA256_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_JSON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_JSON_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_JSON_FIELD_NUMBER: _ClassVar[int]
    blocks: int
    cache_breakpoints: _containers.RepeatedScalarFieldContainer[int]
    content_sha256: str
    messages_json: bytes
    request_json: str
    system_json: bytes
    def __init__(self, system_json: _Optional[bytes] = ..., messages_json: _Optional[bytes] = ..., content_sha256: _Optional[str] = ..., cache_breakpoints: _Optional[_Iterable[int]] = ..., blocks: _Optional[int] = ..., request_json: _Optional[str] = ...) -> None: ...

class RewriteReport(_message.Message):
    __slots__ = ["break_even_turns", "cost", "reread_tokens", "saved_per_turn", "saved_tokens_per_turn"]
    BREAK_EVEN_TURNS_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    REREAD_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SAVED_PER_TURN_FIELD_NUMBER: _ClassVar[int]
    SAVED_TOKENS_PER_TURN_FIELD_NUMBER: _ClassVar[int]
    break_even_turns: int
    cost: float
    reread_tokens: int
    saved_per_turn: float
    saved_tokens_per_turn: int
    def __init__(self, reread_tokens: _Optional[int] = ..., saved_tokens_per_turn: _Optional[int] = ..., cost: _Optional[float] = ..., saved_per_turn: _Optional[float] = ..., break_even_turns: _Optional[int] = ...) -> None: ...

class Summary(_message.Message):
    __slots__ = ["children", "edit_id", "end_index", "id", "level", "model", "original_erased", "start_index", "text", "tokens"]
    CHILDREN_FIELD_NUMBER: _ClassVar[int]
    EDIT_ID_FIELD_NUMBER: _ClassVar[int]
    END_INDEX_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_ERASED_FIELD_NUMBER: _ClassVar[int]
    START_INDEX_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    children: _containers.RepeatedScalarFieldContainer[str]
    edit_id: str
    end_index: int
    id: str
    level: int
    model: str
    original_erased: bool
    start_index: int
    text: str
    tokens: int
    def __init__(self, id: _Optional[str] = ..., start_index: _Optional[int] = ..., end_index: _Optional[int] = ..., level: _Optional[int] = ..., children: _Optional[_Iterable[str]] = ..., text: _Optional[str] = ..., tokens: _Optional[int] = ..., model: _Optional[str] = ..., edit_id: _Optional[str] = ..., original_erased: bool = ...) -> None: ...

class TokenReport(_message.Message):
    __slots__ = ["budget", "counter", "estimated", "factor", "fixed", "memories", "messages", "saved_by_citing", "saved_by_clipping", "saved_by_compaction", "saved_by_deduplication", "saved_by_expiry", "saved_by_fit", "saved_by_pruning", "saved_by_retention", "summaries", "total"]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    COUNTER_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_FIELD_NUMBER: _ClassVar[int]
    FACTOR_FIELD_NUMBER: _ClassVar[int]
    FIXED_FIELD_NUMBER: _ClassVar[int]
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    SAVED_BY_CITING_FIELD_NUMBER: _ClassVar[int]
    SAVED_BY_CLIPPING_FIELD_NUMBER: _ClassVar[int]
    SAVED_BY_COMPACTION_FIELD_NUMBER: _ClassVar[int]
    SAVED_BY_DEDUPLICATION_FIELD_NUMBER: _ClassVar[int]
    SAVED_BY_EXPIRY_FIELD_NUMBER: _ClassVar[int]
    SAVED_BY_FIT_FIELD_NUMBER: _ClassVar[int]
    SAVED_BY_PRUNING_FIELD_NUMBER: _ClassVar[int]
    SAVED_BY_RETENTION_FIELD_NUMBER: _ClassVar[int]
    SUMMARIES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    budget: int
    counter: str
    estimated: bool
    factor: float
    fixed: int
    memories: int
    messages: int
    saved_by_citing: int
    saved_by_clipping: int
    saved_by_compaction: int
    saved_by_deduplication: int
    saved_by_expiry: int
    saved_by_fit: int
    saved_by_pruning: int
    saved_by_retention: int
    summaries: int
    total: int
    def __init__(self, fixed: _Optional[int] = ..., messages: _Optional[int] = ..., summaries: _Optional[int] = ..., total: _Optional[int] = ..., budget: _Optional[int] = ..., saved_by_clipping: _Optional[int] = ..., saved_by_fit: _Optional[int] = ..., saved_by_expiry: _Optional[int] = ..., saved_by_retention: _Optional[int] = ..., saved_by_pruning: _Optional[int] = ..., saved_by_compaction: _Optional[int] = ..., saved_by_citing: _Optional[int] = ..., memories: _Optional[int] = ..., saved_by_deduplication: _Optional[int] = ..., counter: _Optional[str] = ..., factor: _Optional[float] = ..., estimated: bool = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ["cache_read_tokens", "cache_write_tokens", "input_tokens", "output_tokens", "reasoning_tokens"]
    CACHE_READ_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    REASONING_TOKENS_FIELD_NUMBER: _ClassVar[int]
    cache_read_tokens: int
    cache_write_tokens: int
    input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    def __init__(self, input_tokens: _Optional[int] = ..., cache_read_tokens: _Optional[int] = ..., cache_write_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., reasoning_tokens: _Optional[int] = ...) -> None: ...

class ContextFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class PrefixBreak(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class CompactionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
