from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
MEMORY_KIND_ADDED: MemoryKind
MEMORY_KIND_FACT: MemoryKind
MEMORY_KIND_SAID: MemoryKind
MEMORY_KIND_UNSPECIFIED: MemoryKind
MEMORY_SCOPE_AGENT: MemoryScope
MEMORY_SCOPE_ORG: MemoryScope
MEMORY_SCOPE_SESSION: MemoryScope
MEMORY_SCOPE_UNSPECIFIED: MemoryScope
MEMORY_SCOPE_USER: MemoryScope

class Memory(_message.Message):
    __slots__ = ["expire_time", "id", "kind", "metadata_json", "said_by", "scope", "score", "sources", "superseded_by", "text", "time"]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    SAID_BY_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    expire_time: _timestamp_pb2.Timestamp
    id: str
    kind: MemoryKind
    metadata_json: str
    said_by: str
    scope: MemoryScope
    score: float
    sources: _containers.RepeatedCompositeFieldContainer[MemorySource]
    superseded_by: str
    text: str
    time: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[_Union[MemoryKind, str]] = ..., text: _Optional[str] = ..., said_by: _Optional[str] = ..., sources: _Optional[_Iterable[_Union[MemorySource, _Mapping]]] = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., scope: _Optional[_Union[MemoryScope, str]] = ..., score: _Optional[float] = ..., expire_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., superseded_by: _Optional[str] = ..., metadata_json: _Optional[str] = ...) -> None: ...

class MemorySource(_message.Message):
    __slots__ = ["conversation_id", "end_index", "start_index", "time"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    END_INDEX_FIELD_NUMBER: _ClassVar[int]
    START_INDEX_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    end_index: int
    start_index: int
    time: _timestamp_pb2.Timestamp
    def __init__(self, conversation_id: _Optional[str] = ..., start_index: _Optional[int] = ..., end_index: _Optional[int] = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RecalledMemories(_message.Message):
    __slots__ = ["memories", "text"]
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    memories: _containers.RepeatedCompositeFieldContainer[Memory]
    text: str
    def __init__(self, text: _Optional[str] = ..., memories: _Optional[_Iterable[_Union[Memory, _Mapping]]] = ...) -> None: ...

class MemoryScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class MemoryKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
