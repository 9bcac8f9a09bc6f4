from google.protobuf import timestamp_pb2 as _timestamp_pb2
from palimpsest_context.v1 import content_pb2 as _content_pb2
from palimpsest_context.v1 import expiration_pb2 as _expiration_pb2
from palimpsest_context.v1 import memory_pb2 as _memory_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
IMPORTANCE_HIGH: Importance
IMPORTANCE_LOW: Importance
IMPORTANCE_NORMAL: Importance
IMPORTANCE_UNSPECIFIED: Importance
MESSAGE_TYPE_ACTION_RESULT: MessageType
MESSAGE_TYPE_OTHER: MessageType
MESSAGE_TYPE_RETRY_CONTEXT: MessageType
MESSAGE_TYPE_SUB_AGENT_RESULT: MessageType
MESSAGE_TYPE_SYSTEM: MessageType
MESSAGE_TYPE_UNSPECIFIED: MessageType
MESSAGE_TYPE_USER_INPUT: MessageType
PART_VARIANT_DISPLAY_ONLY: PartVariant
PART_VARIANT_PERSISTENT_ONLY: PartVariant
PART_VARIANT_UNSPECIFIED: PartVariant
ROLE_ASSISTANT: Role
ROLE_SYSTEM: Role
ROLE_TOOL: Role
ROLE_UNSPECIFIED: Role
ROLE_USER: Role
TOOL_RESULT_STATE_COMPLETED: ToolResultState
TOOL_RESULT_STATE_ERROR: ToolResultState
TOOL_RESULT_STATE_UNSPECIFIED: ToolResultState
VIEW_LEVEL_CITED: ViewLevel
VIEW_LEVEL_CLEARED: ViewLevel
VIEW_LEVEL_FULL: ViewLevel
VIEW_LEVEL_REMOVED: ViewLevel
VIEW_LEVEL_SHORTENED: ViewLevel
VIEW_LEVEL_UNSPECIFIED: ViewLevel

class ActionRef(_message.Message):
    __slots__ = ["action_id", "agent_action_id"]
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    agent_action_id: str
    def __init__(self, action_id: _Optional[str] = ..., agent_action_id: _Optional[str] = ...) -> None: ...

class Erasure(_message.Message):
    __slots__ = ["original_length_bytes", "original_length_chars"]
    ORIGINAL_LENGTH_BYTES_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_LENGTH_CHARS_FIELD_NUMBER: _ClassVar[int]
    original_length_bytes: int
    original_length_chars: int
    def __init__(self, original_length_bytes: _Optional[int] = ..., original_length_chars: _Optional[int] = ...) -> None: ...

class Media(_message.Message):
    __slots__ = ["data", "detail", "mime_type", "uri"]
    DATA_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    detail: str
    mime_type: str
    uri: str
    def __init__(self, mime_type: _Optional[str] = ..., data: _Optional[bytes] = ..., uri: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...

class Message(_message.Message):
    __slots__ = ["actions", "create_time", "estimated", "expiration", "id", "importance", "index", "message_type", "metadata_json", "model", "name", "parts", "pinned", "role", "run_id", "step_id", "tags", "token_count", "turn_added", "view"]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_FIELD_NUMBER: _ClassVar[int]
    EXPIRATION_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_TYPE_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TURN_ADDED_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    actions: _containers.RepeatedCompositeFieldContainer[ActionRef]
    create_time: _timestamp_pb2.Timestamp
    estimated: bool
    expiration: _expiration_pb2.Expiration
    id: str
    importance: Importance
    index: int
    message_type: MessageType
    metadata_json: str
    model: str
    name: str
    parts: _containers.RepeatedCompositeFieldContainer[Part]
    pinned: bool
    role: Role
    run_id: str
    step_id: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    token_count: int
    turn_added: int
    view: MessageView
    def __init__(self, id: _Optional[str] = ..., index: _Optional[int] = ..., role: _Optional[_Union[Role, str]] = ..., parts: _Optional[_Iterable[_Union[Part, _Mapping]]] = ..., message_type: _Optional[_Union[MessageType, str]] = ..., actions: _Optional[_Iterable[_Union[ActionRef, _Mapping]]] = ..., expiration: _Optional[_Union[_expiration_pb2.Expiration, _Mapping]] = ..., pinned: bool = ..., model: _Optional[str] = ..., run_id: _Optional[str] = ..., step_id: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., metadata_json: _Optional[str] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., turn_added: _Optional[int] = ..., token_count: _Optional[int] = ..., view: _Optional[_Union[MessageView, _Mapping]] = ..., estimated: bool = ..., name: _Optional[str] = ..., importance: _Optional[_Union[Importance, str]] = ...) -> None: ...

class MessageRange(_message.Message):
    __slots__ = ["end_index", "start_index"]
    END_INDEX_FIELD_NUMBER: _ClassVar[int]
    START_INDEX_FIELD_NUMBER: _ClassVar[int]
    end_index: int
    start_index: int
    def __init__(self, start_index: _Optional[int] = ..., end_index: _Optional[int] = ...) -> None: ...

class MessageView(_message.Message):
    __slots__ = ["can_expand", "compacted_at", "edit_id", "expired", "hidden", "in_view", "level", "original_length_chars", "removed_by_caller", "summary_id", "tokens_saved"]
    CAN_EXPAND_FIELD_NUMBER: _ClassVar[int]
    COMPACTED_AT_FIELD_NUMBER: _ClassVar[int]
    EDIT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPIRED_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_FIELD_NUMBER: _ClassVar[int]
    IN_VIEW_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_LENGTH_CHARS_FIELD_NUMBER: _ClassVar[int]
    REMOVED_BY_CALLER_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_ID_FIELD_NUMBER: _ClassVar[int]
    TOKENS_SAVED_FIELD_NUMBER: _ClassVar[int]
    can_expand: bool
    compacted_at: _timestamp_pb2.Timestamp
    edit_id: str
    expired: bool
    hidden: bool
    in_view: bool
    level: ViewLevel
    original_length_chars: int
    removed_by_caller: bool
    summary_id: str
    tokens_saved: int
    def __init__(self, level: _Optional[_Union[ViewLevel, str]] = ..., edit_id: _Optional[str] = ..., original_length_chars: _Optional[int] = ..., tokens_saved: _Optional[int] = ..., can_expand: bool = ..., compacted_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., expired: bool = ..., in_view: bool = ..., summary_id: _Optional[str] = ..., hidden: bool = ..., removed_by_caller: bool = ...) -> None: ...

class Opaque(_message.Message):
    __slots__ = ["json", "provider"]
    JSON_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    json: str
    provider: str
    def __init__(self, provider: _Optional[str] = ..., json: _Optional[str] = ...) -> None: ...

class Part(_message.Message):
    __slots__ = ["citation", "erasure", "media", "opaque", "plugin", "reasoning", "recalled", "residue", "retention", "text", "tool_call", "tool_result", "variant"]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    ERASURE_FIELD_NUMBER: _ClassVar[int]
    MEDIA_FIELD_NUMBER: _ClassVar[int]
    OPAQUE_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    REASONING_FIELD_NUMBER: _ClassVar[int]
    RECALLED_FIELD_NUMBER: _ClassVar[int]
    RESIDUE_FIELD_NUMBER: _ClassVar[int]
    RETENTION_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULT_FIELD_NUMBER: _ClassVar[int]
    VARIANT_FIELD_NUMBER: _ClassVar[int]
    citation: _content_pb2.Citation
    erasure: Erasure
    media: Media
    opaque: Opaque
    plugin: str
    reasoning: Reasoning
    recalled: _memory_pb2.RecalledMemories
    residue: Residue
    retention: Retention
    text: str
    tool_call: ToolCall
    tool_result: ToolResult
    variant: PartVariant
    def __init__(self, text: _Optional[str] = ..., media: _Optional[_Union[Media, _Mapping]] = ..., tool_call: _Optional[_Union[ToolCall, _Mapping]] = ..., tool_result: _Optional[_Union[ToolResult, _Mapping]] = ..., reasoning: _Optional[_Union[Reasoning, _Mapping]] = ..., citation: _Optional[_Union[_content_pb2.Citation, _Mapping]] = ..., opaque: _Optional[_Union[Opaque, _Mapping]] = ..., recalled: _Optional[_Union[_memory_pb2.RecalledMemories, _Mapping]] = ..., retention: _Optional[_Union[Retention, _Mapping]] = ..., plugin: _Optional[str] = ..., variant: _Optional[_Union[PartVariant, str]] = ..., erasure: _Optional[_Union[Erasure, _Mapping]] = ..., residue: _Optional[_Union[Residue, _Mapping]] = ...) -> None: ...

class Permanent(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class Reasoning(_message.Message):
    __slots__ = ["model", "provider", "signature", "text"]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    model: str
    provider: str
    signature: str
    text: str
    def __init__(self, text: _Optional[str] = ..., signature: _Optional[str] = ..., provider: _Optional[str] = ..., model: _Optional[str] = ...) -> None: ...

class RecalledFrom(_message.Message):
    __slots__ = ["content_id", "memories", "message_index"]
    CONTENT_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_INDEX_FIELD_NUMBER: _ClassVar[int]
    content_id: str
    memories: bool
    message_index: int
    def __init__(self, content_id: _Optional[str] = ..., message_index: _Optional[int] = ..., memories: bool = ...) -> None: ...

class Residue(_message.Message):
    __slots__ = ["json", "provider"]
    JSON_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    json: str
    provider: str
    def __init__(self, provider: _Optional[str] = ..., json: _Optional[str] = ...) -> None: ...

class ResultSource(_message.Message):
    __slots__ = ["title", "type", "url"]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    title: str
    type: _content_pb2.SourceType
    url: str
    def __init__(self, type: _Optional[_Union[_content_pb2.SourceType, str]] = ..., url: _Optional[str] = ..., title: _Optional[str] = ...) -> None: ...

class Retention(_message.Message):
    __slots__ = ["keep_last", "permanent"]
    KEEP_LAST_FIELD_NUMBER: _ClassVar[int]
    PERMANENT_FIELD_NUMBER: _ClassVar[int]
    keep_last: int
    permanent: Permanent
    def __init__(self, permanent: _Optional[_Union[Permanent, _Mapping]] = ..., keep_last: _Optional[int] = ...) -> None: ...

class ToolCall(_message.Message):
    __slots__ = ["arguments_json", "call_id", "name"]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    arguments_json: str
    call_id: str
    name: str
    def __init__(self, call_id: _Optional[str] = ..., name: _Optional[str] = ..., arguments_json: _Optional[str] = ...) -> None: ...

class ToolResult(_message.Message):
    __slots__ = ["actions", "call_id", "citation", "expiration", "importance", "json", "name", "parts", "recalled_from", "source", "state", "text"]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    EXPIRATION_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    RECALLED_FROM_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    actions: _containers.RepeatedCompositeFieldContainer[ActionRef]
    call_id: str
    citation: _content_pb2.Citation
    expiration: _expiration_pb2.Expiration
    importance: Importance
    json: str
    name: str
    parts: ToolResultParts
    recalled_from: RecalledFrom
    source: ResultSource
    state: ToolResultState
    text: str
    def __init__(self, call_id: _Optional[str] = ..., name: _Optional[str] = ..., state: _Optional[_Union[ToolResultState, str]] = ..., text: _Optional[str] = ..., json: _Optional[str] = ..., parts: _Optional[_Union[ToolResultParts, _Mapping]] = ..., expiration: _Optional[_Union[_expiration_pb2.Expiration, _Mapping]] = ..., actions: _Optional[_Iterable[_Union[ActionRef, _Mapping]]] = ..., recalled_from: _Optional[_Union[RecalledFrom, _Mapping]] = ..., citation: _Optional[_Union[_content_pb2.Citation, _Mapping]] = ..., source: _Optional[_Union[ResultSource, _Mapping]] = ..., importance: _Optional[_Union[Importance, str]] = ...) -> None: ...

class ToolResultPart(_message.Message):
    __slots__ = ["media", "text"]
    MEDIA_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    media: Media
    text: str
    def __init__(self, text: _Optional[str] = ..., media: _Optional[_Union[Media, _Mapping]] = ...) -> None: ...

class ToolResultParts(_message.Message):
    __slots__ = ["parts"]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    parts: _containers.RepeatedCompositeFieldContainer[ToolResultPart]
    def __init__(self, parts: _Optional[_Iterable[_Union[ToolResultPart, _Mapping]]] = ...) -> None: ...

class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class MessageType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Importance(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class PartVariant(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class ToolResultState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class ViewLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
