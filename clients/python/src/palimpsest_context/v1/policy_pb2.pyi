from google.protobuf import duration_pb2 as _duration_pb2
from palimpsest_context.v1 import expiration_pb2 as _expiration_pb2
from palimpsest_context.v1 import memory_pb2 as _memory_pb2
from palimpsest_context.v1 import message_pb2 as _message_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

COMPACTION_STRATEGY_HIERARCHICAL: CompactionStrategy
COMPACTION_STRATEGY_SLIDING_WINDOW: CompactionStrategy
COMPACTION_STRATEGY_SUMMARIZE: CompactionStrategy
COMPACTION_STRATEGY_UNSPECIFIED: CompactionStrategy
DESCRIPTOR: _descriptor.FileDescriptor
MEMORY_EXTRACTION_EXTRACTIVE: MemoryExtraction
MEMORY_EXTRACTION_MODEL: MemoryExtraction
MEMORY_EXTRACTION_NONE: MemoryExtraction
MEMORY_EXTRACTION_UNSPECIFIED: MemoryExtraction
MEMORY_ON_DELETE_FORGET: MemoryOnDelete
MEMORY_ON_DELETE_KEEP: MemoryOnDelete
MEMORY_ON_DELETE_UNSPECIFIED: MemoryOnDelete
MEMORY_SYNC_STRATEGY_BATCH: MemorySyncStrategy
MEMORY_SYNC_STRATEGY_END_OF_SESSION: MemorySyncStrategy
MEMORY_SYNC_STRATEGY_IMMEDIATE: MemorySyncStrategy
MEMORY_SYNC_STRATEGY_UNSPECIFIED: MemorySyncStrategy
REASONING_BINDING_DROPS: ReasoningBinding
REASONING_BINDING_NONE: ReasoningBinding
REASONING_BINDING_REFUSES: ReasoningBinding
REASONING_BINDING_UNSPECIFIED: ReasoningBinding
REWRITE_MODE_COALESCED: RewriteMode
REWRITE_MODE_EAGER: RewriteMode
REWRITE_MODE_UNSPECIFIED: RewriteMode

class ActionCitations(_message.Message):
    __slots__ = ["enabled", "threshold_chars"]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_CHARS_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    threshold_chars: int
    def __init__(self, enabled: bool = ..., threshold_chars: _Optional[int] = ...) -> None: ...

class ActionPolicy(_message.Message):
    __slots__ = ["action_id", "agent_action_id", "citations", "default_compact_prompt_id", "expiration", "importance", "tool_name"]
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_COMPACT_PROMPT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPIRATION_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    agent_action_id: str
    citations: ActionCitations
    default_compact_prompt_id: str
    expiration: _expiration_pb2.Expiration
    importance: _message_pb2.Importance
    tool_name: str
    def __init__(self, agent_action_id: _Optional[str] = ..., action_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., expiration: _Optional[_Union[_expiration_pb2.Expiration, _Mapping]] = ..., default_compact_prompt_id: _Optional[str] = ..., citations: _Optional[_Union[ActionCitations, _Mapping]] = ..., importance: _Optional[_Union[_message_pb2.Importance, str]] = ...) -> None: ...

class Budget(_message.Message):
    __slots__ = ["context_window_tokens", "max_context_tokens", "reserved_output_tokens"]
    CONTEXT_WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_CONTEXT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    RESERVED_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    context_window_tokens: int
    max_context_tokens: int
    reserved_output_tokens: int
    def __init__(self, context_window_tokens: _Optional[int] = ..., reserved_output_tokens: _Optional[int] = ..., max_context_tokens: _Optional[int] = ...) -> None: ...

class CitationsPolicy(_message.Message):
    __slots__ = ["enabled", "recall_tools", "release_on_end_run", "threshold_chars"]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    RECALL_TOOLS_FIELD_NUMBER: _ClassVar[int]
    RELEASE_ON_END_RUN_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_CHARS_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    recall_tools: NameList
    release_on_end_run: bool
    threshold_chars: int
    def __init__(self, enabled: bool = ..., threshold_chars: _Optional[int] = ..., release_on_end_run: bool = ..., recall_tools: _Optional[_Union[NameList, _Mapping]] = ...) -> None: ...

class CompactionPolicy(_message.Message):
    __slots__ = ["count_reasoning", "fan_out", "keep_recent", "list_tokens", "live_prefix", "min_shrink_percent", "prepare_percent", "prompt_id", "strategy", "summary_input_tokens", "summary_tokens", "tail_percent", "target_percent", "threshold_messages"]
    COUNT_REASONING_FIELD_NUMBER: _ClassVar[int]
    FAN_OUT_FIELD_NUMBER: _ClassVar[int]
    KEEP_RECENT_FIELD_NUMBER: _ClassVar[int]
    LIST_TOKENS_FIELD_NUMBER: _ClassVar[int]
    LIVE_PREFIX_FIELD_NUMBER: _ClassVar[int]
    MIN_SHRINK_PERCENT_FIELD_NUMBER: _ClassVar[int]
    PREPARE_PERCENT_FIELD_NUMBER: _ClassVar[int]
    PROMPT_ID_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TAIL_PERCENT_FIELD_NUMBER: _ClassVar[int]
    TARGET_PERCENT_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    count_reasoning: bool
    fan_out: int
    keep_recent: int
    list_tokens: int
    live_prefix: bool
    min_shrink_percent: int
    prepare_percent: int
    prompt_id: str
    strategy: CompactionStrategy
    summary_input_tokens: int
    summary_tokens: int
    tail_percent: int
    target_percent: int
    threshold_messages: int
    def __init__(self, strategy: _Optional[_Union[CompactionStrategy, str]] = ..., threshold_messages: _Optional[int] = ..., prepare_percent: _Optional[int] = ..., keep_recent: _Optional[int] = ..., tail_percent: _Optional[int] = ..., target_percent: _Optional[int] = ..., min_shrink_percent: _Optional[int] = ..., fan_out: _Optional[int] = ..., summary_tokens: _Optional[int] = ..., prompt_id: _Optional[str] = ..., count_reasoning: bool = ..., list_tokens: _Optional[int] = ..., live_prefix: bool = ..., summary_input_tokens: _Optional[int] = ...) -> None: ...

class DeduplicationPolicy(_message.Message):
    __slots__ = ["enabled", "excluded_tools", "min_lines"]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    MIN_LINES_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    excluded_tools: NameList
    min_lines: int
    def __init__(self, enabled: bool = ..., excluded_tools: _Optional[_Union[NameList, _Mapping]] = ..., min_lines: _Optional[int] = ...) -> None: ...

class ExpirationPolicy(_message.Message):
    __slots__ = ["enabled", "results"]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    results: _expiration_pb2.Expiration
    def __init__(self, enabled: bool = ..., results: _Optional[_Union[_expiration_pb2.Expiration, _Mapping]] = ...) -> None: ...

class FitPolicy(_message.Message):
    __slots__ = ["context_window_tokens", "keep_opening", "max_context_tokens", "max_result_percent", "reserved_output_tokens", "target_percent"]
    CONTEXT_WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    KEEP_OPENING_FIELD_NUMBER: _ClassVar[int]
    MAX_CONTEXT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_RESULT_PERCENT_FIELD_NUMBER: _ClassVar[int]
    RESERVED_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TARGET_PERCENT_FIELD_NUMBER: _ClassVar[int]
    context_window_tokens: int
    keep_opening: bool
    max_context_tokens: int
    max_result_percent: int
    reserved_output_tokens: int
    target_percent: int
    def __init__(self, max_context_tokens: _Optional[int] = ..., context_window_tokens: _Optional[int] = ..., reserved_output_tokens: _Optional[int] = ..., target_percent: _Optional[int] = ..., max_result_percent: _Optional[int] = ..., keep_opening: bool = ...) -> None: ...

class MemoryPolicy(_message.Message):
    __slots__ = ["batch_max_age", "batch_messages", "batch_tokens", "enabled", "extract", "infer", "on_delete", "recall", "session_idle", "sync", "sync_delay", "sync_roles", "sync_scope"]
    BATCH_MAX_AGE_FIELD_NUMBER: _ClassVar[int]
    BATCH_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    BATCH_TOKENS_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    EXTRACT_FIELD_NUMBER: _ClassVar[int]
    INFER_FIELD_NUMBER: _ClassVar[int]
    ON_DELETE_FIELD_NUMBER: _ClassVar[int]
    RECALL_FIELD_NUMBER: _ClassVar[int]
    SESSION_IDLE_FIELD_NUMBER: _ClassVar[int]
    SYNC_DELAY_FIELD_NUMBER: _ClassVar[int]
    SYNC_FIELD_NUMBER: _ClassVar[int]
    SYNC_ROLES_FIELD_NUMBER: _ClassVar[int]
    SYNC_SCOPE_FIELD_NUMBER: _ClassVar[int]
    batch_max_age: _duration_pb2.Duration
    batch_messages: int
    batch_tokens: int
    enabled: bool
    extract: MemoryExtraction
    infer: bool
    on_delete: MemoryOnDelete
    recall: MemoryRecallPolicy
    session_idle: _duration_pb2.Duration
    sync: MemorySyncStrategy
    sync_delay: _duration_pb2.Duration
    sync_roles: RoleList
    sync_scope: _memory_pb2.MemoryScope
    def __init__(self, enabled: bool = ..., sync: _Optional[_Union[MemorySyncStrategy, str]] = ..., batch_messages: _Optional[int] = ..., batch_tokens: _Optional[int] = ..., batch_max_age: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., sync_delay: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., session_idle: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., sync_roles: _Optional[_Union[RoleList, _Mapping]] = ..., extract: _Optional[_Union[MemoryExtraction, str]] = ..., sync_scope: _Optional[_Union[_memory_pb2.MemoryScope, str]] = ..., infer: bool = ..., recall: _Optional[_Union[MemoryRecallPolicy, _Mapping]] = ..., on_delete: _Optional[_Union[MemoryOnDelete, str]] = ...) -> None: ...

class MemoryRecallPolicy(_message.Message):
    __slots__ = ["deadline", "enabled", "floor", "max_each_tokens", "max_memories", "max_tokens", "max_view_percent", "scopes"]
    DEADLINE_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    MAX_EACH_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_MEMORIES_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_VIEW_PERCENT_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    deadline: _duration_pb2.Duration
    enabled: bool
    floor: float
    max_each_tokens: int
    max_memories: int
    max_tokens: int
    max_view_percent: int
    scopes: MemoryScopeList
    def __init__(self, enabled: bool = ..., scopes: _Optional[_Union[MemoryScopeList, _Mapping]] = ..., max_memories: _Optional[int] = ..., max_each_tokens: _Optional[int] = ..., max_tokens: _Optional[int] = ..., deadline: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., floor: _Optional[float] = ..., max_view_percent: _Optional[int] = ...) -> None: ...

class MemoryScopeList(_message.Message):
    __slots__ = ["scopes"]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    scopes: _containers.RepeatedScalarFieldContainer[_memory_pb2.MemoryScope]
    def __init__(self, scopes: _Optional[_Iterable[_Union[_memory_pb2.MemoryScope, str]]] = ...) -> None: ...

class ModelProfile(_message.Message):
    __slots__ = ["cache_lifetime", "cache_read_price", "cache_write_price", "context_window_tokens", "counter", "factor", "input_price", "live_prefix", "media_tokens", "model", "output_price", "reasoning_binding", "reserved_output_tokens"]
    CACHE_LIFETIME_FIELD_NUMBER: _ClassVar[int]
    CACHE_READ_PRICE_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_PRICE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COUNTER_FIELD_NUMBER: _ClassVar[int]
    FACTOR_FIELD_NUMBER: _ClassVar[int]
    INPUT_PRICE_FIELD_NUMBER: _ClassVar[int]
    LIVE_PREFIX_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_PRICE_FIELD_NUMBER: _ClassVar[int]
    REASONING_BINDING_FIELD_NUMBER: _ClassVar[int]
    RESERVED_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    cache_lifetime: _duration_pb2.Duration
    cache_read_price: float
    cache_write_price: float
    context_window_tokens: int
    counter: str
    factor: float
    input_price: float
    live_prefix: bool
    media_tokens: int
    model: str
    output_price: float
    reasoning_binding: ReasoningBinding
    reserved_output_tokens: int
    def __init__(self, model: _Optional[str] = ..., context_window_tokens: _Optional[int] = ..., reserved_output_tokens: _Optional[int] = ..., counter: _Optional[str] = ..., factor: _Optional[float] = ..., media_tokens: _Optional[int] = ..., input_price: _Optional[float] = ..., cache_read_price: _Optional[float] = ..., cache_write_price: _Optional[float] = ..., output_price: _Optional[float] = ..., live_prefix: bool = ..., cache_lifetime: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., reasoning_binding: _Optional[_Union[ReasoningBinding, str]] = ...) -> None: ...

class NameList(_message.Message):
    __slots__ = ["names"]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, names: _Optional[_Iterable[str]] = ...) -> None: ...

class Policy(_message.Message):
    __slots__ = ["citations", "compaction", "deduplication", "expiration", "fit", "max_wait", "memory", "pruning", "retention", "rewrite", "ttl", "ttl_without_tombstone"]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_FIELD_NUMBER: _ClassVar[int]
    DEDUPLICATION_FIELD_NUMBER: _ClassVar[int]
    EXPIRATION_FIELD_NUMBER: _ClassVar[int]
    FIT_FIELD_NUMBER: _ClassVar[int]
    MAX_WAIT_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    PRUNING_FIELD_NUMBER: _ClassVar[int]
    RETENTION_FIELD_NUMBER: _ClassVar[int]
    REWRITE_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    TTL_WITHOUT_TOMBSTONE_FIELD_NUMBER: _ClassVar[int]
    citations: CitationsPolicy
    compaction: CompactionPolicy
    deduplication: DeduplicationPolicy
    expiration: ExpirationPolicy
    fit: FitPolicy
    max_wait: _duration_pb2.Duration
    memory: MemoryPolicy
    pruning: PruningPolicy
    retention: RetentionPolicy
    rewrite: RewritePolicy
    ttl: _duration_pb2.Duration
    ttl_without_tombstone: bool
    def __init__(self, fit: _Optional[_Union[FitPolicy, _Mapping]] = ..., ttl: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., expiration: _Optional[_Union[ExpirationPolicy, _Mapping]] = ..., retention: _Optional[_Union[RetentionPolicy, _Mapping]] = ..., rewrite: _Optional[_Union[RewritePolicy, _Mapping]] = ..., max_wait: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., pruning: _Optional[_Union[PruningPolicy, _Mapping]] = ..., compaction: _Optional[_Union[CompactionPolicy, _Mapping]] = ..., citations: _Optional[_Union[CitationsPolicy, _Mapping]] = ..., ttl_without_tombstone: bool = ..., memory: _Optional[_Union[MemoryPolicy, _Mapping]] = ..., deduplication: _Optional[_Union[DeduplicationPolicy, _Mapping]] = ...) -> None: ...

class Prompt(_message.Message):
    __slots__ = ["id", "max_output_tokens", "models", "template", "version"]
    ID_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    TEMPLATE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    id: str
    max_output_tokens: int
    models: _containers.RepeatedScalarFieldContainer[str]
    template: str
    version: int
    def __init__(self, id: _Optional[str] = ..., version: _Optional[int] = ..., template: _Optional[str] = ..., models: _Optional[_Iterable[str]] = ..., max_output_tokens: _Optional[int] = ...) -> None: ...

class PruningPolicy(_message.Message):
    __slots__ = ["enabled", "erase_after", "max_part_tokens", "minimum_tokens", "protect_tokens", "protected_tool_prefixes", "protected_tools"]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    ERASE_AFTER_FIELD_NUMBER: _ClassVar[int]
    MAX_PART_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_TOKENS_FIELD_NUMBER: _ClassVar[int]
    PROTECTED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    PROTECTED_TOOL_PREFIXES_FIELD_NUMBER: _ClassVar[int]
    PROTECT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    erase_after: _duration_pb2.Duration
    max_part_tokens: int
    minimum_tokens: int
    protect_tokens: int
    protected_tool_prefixes: NameList
    protected_tools: NameList
    def __init__(self, enabled: bool = ..., protect_tokens: _Optional[int] = ..., minimum_tokens: _Optional[int] = ..., max_part_tokens: _Optional[int] = ..., protected_tools: _Optional[_Union[NameList, _Mapping]] = ..., protected_tool_prefixes: _Optional[_Union[NameList, _Mapping]] = ..., erase_after: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class RetentionPolicy(_message.Message):
    __slots__ = ["all_inputs"]
    ALL_INPUTS_FIELD_NUMBER: _ClassVar[int]
    all_inputs: bool
    def __init__(self, all_inputs: bool = ...) -> None: ...

class RewritePolicy(_message.Message):
    __slots__ = ["cold_after", "cold_cut_percent", "expect_turns", "max_deferral_turns", "min_gain_tokens", "mode"]
    COLD_AFTER_FIELD_NUMBER: _ClassVar[int]
    COLD_CUT_PERCENT_FIELD_NUMBER: _ClassVar[int]
    EXPECT_TURNS_FIELD_NUMBER: _ClassVar[int]
    MAX_DEFERRAL_TURNS_FIELD_NUMBER: _ClassVar[int]
    MIN_GAIN_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    cold_after: _duration_pb2.Duration
    cold_cut_percent: int
    expect_turns: int
    max_deferral_turns: int
    min_gain_tokens: int
    mode: RewriteMode
    def __init__(self, mode: _Optional[_Union[RewriteMode, str]] = ..., min_gain_tokens: _Optional[int] = ..., max_deferral_turns: _Optional[int] = ..., cold_after: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., expect_turns: _Optional[int] = ..., cold_cut_percent: _Optional[int] = ...) -> None: ...

class RoleList(_message.Message):
    __slots__ = ["roles"]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    roles: _containers.RepeatedScalarFieldContainer[_message_pb2.Role]
    def __init__(self, roles: _Optional[_Iterable[_Union[_message_pb2.Role, str]]] = ...) -> None: ...

class MemorySyncStrategy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class MemoryExtraction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class MemoryOnDelete(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class CompactionStrategy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class RewriteMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class ReasoningBinding(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
