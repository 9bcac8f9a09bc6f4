from palimpsest_context.v1 import context_pb2 as _context_pb2
from palimpsest_context.v1 import event_pb2 as _event_pb2
from palimpsest_context.v1 import message_pb2 as _message_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
ON_CUT_HIDE: OnCut
ON_CUT_KEEP: OnCut
ON_CUT_UNSPECIFIED: OnCut
ON_DIVERGENCE_NEW: OnDivergence
ON_DIVERGENCE_REFUSE: OnDivergence
ON_DIVERGENCE_REWIND: OnDivergence
ON_DIVERGENCE_UNSPECIFIED: OnDivergence
PROVIDER_INPUT_SHAPE_HISTORY: ProviderInputShape
PROVIDER_INPUT_SHAPE_MESSAGE: ProviderInputShape
PROVIDER_INPUT_SHAPE_RESPONSE: ProviderInputShape
PROVIDER_INPUT_SHAPE_UNSPECIFIED: ProviderInputShape
VIEW_PIECE_KIND_CHANGED: ViewPieceKind
VIEW_PIECE_KIND_MADE_UP: ViewPieceKind
VIEW_PIECE_KIND_RECORDED: ViewPieceKind
VIEW_PIECE_KIND_SUMMARY: ViewPieceKind
VIEW_PIECE_KIND_UNSPECIFIED: ViewPieceKind
VIEW_PIECE_KIND_WHOLE: ViewPieceKind

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
    __slots__ = ["by_place", "known_count", "known_sha256", "on_cut", "on_divergence"]
    BY_PLACE_FIELD_NUMBER: _ClassVar[int]
    KNOWN_COUNT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_SHA256_FIELD_NUMBER: _ClassVar[int]
    ON_CUT_FIELD_NUMBER: _ClassVar[int]
    ON_DIVERGENCE_FIELD_NUMBER: _ClassVar[int]
    by_place: bool
    known_count: int
    known_sha256: str
    on_cut: OnCut
    on_divergence: OnDivergence
    def __init__(self, known_count: _Optional[int] = ..., known_sha256: _Optional[str] = ..., on_divergence: _Optional[_Union[OnDivergence, str]] = ..., on_cut: _Optional[_Union[OnCut, str]] = ..., by_place: bool = ...) -> None: ...

class HistoryResult(_message.Message):
    __slots__ = ["conversation_id", "known_count", "known_sha256", "matched_count", "removed", "rewound", "view"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    KNOWN_COUNT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_SHA256_FIELD_NUMBER: _ClassVar[int]
    MATCHED_COUNT_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    REWOUND_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    known_count: int
    known_sha256: str
    matched_count: int
    removed: _containers.RepeatedCompositeFieldContainer[_message_pb2.MessageRange]
    rewound: _message_pb2.MessageRange
    view: _containers.RepeatedCompositeFieldContainer[ViewPiece]
    def __init__(self, known_count: _Optional[int] = ..., known_sha256: _Optional[str] = ..., matched_count: _Optional[int] = ..., rewound: _Optional[_Union[_message_pb2.MessageRange, _Mapping]] = ..., conversation_id: _Optional[str] = ..., removed: _Optional[_Iterable[_Union[_message_pb2.MessageRange, _Mapping]]] = ..., view: _Optional[_Iterable[_Union[ViewPiece, _Mapping]]] = ...) -> None: ...

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

class ViewPiece(_message.Message):
    __slots__ = ["json", "kind", "list_indexes", "messages", "reasons"]
    JSON_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LIST_INDEXES_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    json: str
    kind: ViewPieceKind
    list_indexes: _containers.RepeatedScalarFieldContainer[int]
    messages: _message_pb2.MessageRange
    reasons: _containers.RepeatedScalarFieldContainer[_event_pb2.DecisionReason]
    def __init__(self, kind: _Optional[_Union[ViewPieceKind, str]] = ..., list_indexes: _Optional[_Iterable[int]] = ..., json: _Optional[str] = ..., reasons: _Optional[_Iterable[_Union[_event_pb2.DecisionReason, str]]] = ..., messages: _Optional[_Union[_message_pb2.MessageRange, _Mapping]] = ...) -> None: ...

class ProviderInputShape(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class OnDivergence(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class OnCut(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class ViewPieceKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
