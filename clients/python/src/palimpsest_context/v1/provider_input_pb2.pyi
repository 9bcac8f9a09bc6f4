from palimpsest_context.v1 import context_pb2 as _context_pb2
from palimpsest_context.v1 import message_pb2 as _message_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
ON_DIVERGENCE_NEW: OnDivergence
ON_DIVERGENCE_REFUSE: OnDivergence
ON_DIVERGENCE_REWIND: OnDivergence
ON_DIVERGENCE_UNSPECIFIED: OnDivergence
PROVIDER_INPUT_SHAPE_HISTORY: ProviderInputShape
PROVIDER_INPUT_SHAPE_MESSAGE: ProviderInputShape
PROVIDER_INPUT_SHAPE_RESPONSE: ProviderInputShape
PROVIDER_INPUT_SHAPE_UNSPECIFIED: ProviderInputShape

class AppendedCall(_message.Message):
    __slots__ = ["message_index", "recalls", "tool_call"]
    MESSAGE_INDEX_FIELD_NUMBER: _ClassVar[int]
    RECALLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_FIELD_NUMBER: _ClassVar[int]
    message_index: int
    recalls: bool
    tool_call: _message_pb2.ToolCall
    def __init__(self, tool_call: _Optional[_Union[_message_pb2.ToolCall, _Mapping]] = ..., recalls: bool = ..., message_index: _Optional[int] = ...) -> None: ...

class HistoryOptions(_message.Message):
    __slots__ = ["known_count", "known_sha256", "on_divergence"]
    KNOWN_COUNT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_SHA256_FIELD_NUMBER: _ClassVar[int]
    ON_DIVERGENCE_FIELD_NUMBER: _ClassVar[int]
    known_count: int
    known_sha256: str
    on_divergence: OnDivergence
    def __init__(self, known_count: _Optional[int] = ..., known_sha256: _Optional[str] = ..., on_divergence: _Optional[_Union[OnDivergence, str]] = ...) -> None: ...

class HistoryResult(_message.Message):
    __slots__ = ["conversation_id", "known_count", "known_sha256", "matched_count", "rewound"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    KNOWN_COUNT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_SHA256_FIELD_NUMBER: _ClassVar[int]
    MATCHED_COUNT_FIELD_NUMBER: _ClassVar[int]
    REWOUND_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    known_count: int
    known_sha256: str
    matched_count: int
    rewound: _message_pb2.MessageRange
    def __init__(self, known_count: _Optional[int] = ..., known_sha256: _Optional[str] = ..., matched_count: _Optional[int] = ..., rewound: _Optional[_Union[_message_pb2.MessageRange, _Mapping]] = ..., conversation_id: _Optional[str] = ...) -> None: ...

class ProviderInput(_message.Message):
    __slots__ = ["aborted", "format", "history", "json", "model", "run_id", "shape", "step_id", "tags"]
    ABORTED_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    aborted: bool
    format: _context_pb2.ContextFormat
    history: HistoryOptions
    json: str
    model: str
    run_id: str
    shape: ProviderInputShape
    step_id: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, format: _Optional[_Union[_context_pb2.ContextFormat, str]] = ..., json: _Optional[str] = ..., shape: _Optional[_Union[ProviderInputShape, str]] = ..., history: _Optional[_Union[HistoryOptions, _Mapping]] = ..., model: _Optional[str] = ..., run_id: _Optional[str] = ..., step_id: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., aborted: bool = ...) -> None: ...

class ProviderInputShape(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class OnDivergence(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
