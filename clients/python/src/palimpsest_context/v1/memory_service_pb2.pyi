from google.protobuf import timestamp_pb2 as _timestamp_pb2
from palimpsest_context.v1 import event_pb2 as _event_pb2
from palimpsest_context.v1 import memory_pb2 as _memory_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
FORGET_RECORDS_DELETE: ForgetRecords
FORGET_RECORDS_KEEP: ForgetRecords
FORGET_RECORDS_UNSPECIFIED: ForgetRecords
FORGET_STATE_DONE: ForgetState
FORGET_STATE_FAILED: ForgetState
FORGET_STATE_PENDING: ForgetState
FORGET_STATE_UNSPECIFIED: ForgetState
FORGET_STATE_VERIFYING: ForgetState
MEMORY_SYNC_STATE_IN_SYNC: MemorySyncState
MEMORY_SYNC_STATE_RETRYING: MemorySyncState
MEMORY_SYNC_STATE_SENDING: MemorySyncState
MEMORY_SYNC_STATE_STOPPED: MemorySyncState
MEMORY_SYNC_STATE_UNSPECIFIED: MemorySyncState
MEMORY_SYNC_STATE_WAITING: MemorySyncState

class AddMemoryRequest(_message.Message):
    __slots__ = ["actor_id", "conversation_id", "expire_time", "metadata_json", "request_id", "scope", "text"]
    ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    actor_id: str
    conversation_id: str
    expire_time: _timestamp_pb2.Timestamp
    metadata_json: str
    request_id: str
    scope: _memory_pb2.MemoryScope
    text: str
    def __init__(self, conversation_id: _Optional[str] = ..., actor_id: _Optional[str] = ..., scope: _Optional[_Union[_memory_pb2.MemoryScope, str]] = ..., text: _Optional[str] = ..., metadata_json: _Optional[str] = ..., expire_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class AddMemoryResponse(_message.Message):
    __slots__ = ["memory_id"]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    def __init__(self, memory_id: _Optional[str] = ...) -> None: ...

class DeleteMemoryRequest(_message.Message):
    __slots__ = ["actor_id", "conversation_id", "memory_id", "scope"]
    ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    actor_id: str
    conversation_id: str
    memory_id: str
    scope: _memory_pb2.MemoryScope
    def __init__(self, conversation_id: _Optional[str] = ..., actor_id: _Optional[str] = ..., scope: _Optional[_Union[_memory_pb2.MemoryScope, str]] = ..., memory_id: _Optional[str] = ...) -> None: ...

class DeleteMemoryResponse(_message.Message):
    __slots__ = ["deleted"]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    deleted: bool
    def __init__(self, deleted: bool = ...) -> None: ...

class EndSessionRequest(_message.Message):
    __slots__ = ["conversation_id"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    def __init__(self, conversation_id: _Optional[str] = ...) -> None: ...

class EndSessionResponse(_message.Message):
    __slots__ = ["session", "sync"]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SYNC_FIELD_NUMBER: _ClassVar[int]
    session: int
    sync: _containers.RepeatedCompositeFieldContainer[MemorySync]
    def __init__(self, session: _Optional[int] = ..., sync: _Optional[_Iterable[_Union[MemorySync, _Mapping]]] = ...) -> None: ...

class Forget(_message.Message):
    __slots__ = ["create_time", "deleted_conversations", "deleted_memories", "done_time", "forget_id", "residue", "state"]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    DELETED_CONVERSATIONS_FIELD_NUMBER: _ClassVar[int]
    DELETED_MEMORIES_FIELD_NUMBER: _ClassVar[int]
    DONE_TIME_FIELD_NUMBER: _ClassVar[int]
    FORGET_ID_FIELD_NUMBER: _ClassVar[int]
    RESIDUE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    create_time: _timestamp_pb2.Timestamp
    deleted_conversations: int
    deleted_memories: int
    done_time: _timestamp_pb2.Timestamp
    forget_id: str
    residue: _containers.RepeatedScalarFieldContainer[str]
    state: ForgetState
    def __init__(self, forget_id: _Optional[str] = ..., state: _Optional[_Union[ForgetState, str]] = ..., deleted_memories: _Optional[int] = ..., deleted_conversations: _Optional[int] = ..., residue: _Optional[_Iterable[str]] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., done_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ForgetActorRequest(_message.Message):
    __slots__ = ["actor_id", "records"]
    ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    actor_id: str
    records: ForgetRecords
    def __init__(self, actor_id: _Optional[str] = ..., records: _Optional[_Union[ForgetRecords, str]] = ...) -> None: ...

class ForgetActorResponse(_message.Message):
    __slots__ = ["forget"]
    FORGET_FIELD_NUMBER: _ClassVar[int]
    forget: Forget
    def __init__(self, forget: _Optional[_Union[Forget, _Mapping]] = ...) -> None: ...

class GetForgetRequest(_message.Message):
    __slots__ = ["forget_id"]
    FORGET_ID_FIELD_NUMBER: _ClassVar[int]
    forget_id: str
    def __init__(self, forget_id: _Optional[str] = ...) -> None: ...

class GetForgetResponse(_message.Message):
    __slots__ = ["forget"]
    FORGET_FIELD_NUMBER: _ClassVar[int]
    forget: Forget
    def __init__(self, forget: _Optional[_Union[Forget, _Mapping]] = ...) -> None: ...

class GetMemorySyncRequest(_message.Message):
    __slots__ = ["conversation_id"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    def __init__(self, conversation_id: _Optional[str] = ...) -> None: ...

class GetMemorySyncResponse(_message.Message):
    __slots__ = ["sync"]
    SYNC_FIELD_NUMBER: _ClassVar[int]
    sync: _containers.RepeatedCompositeFieldContainer[MemorySync]
    def __init__(self, sync: _Optional[_Iterable[_Union[MemorySync, _Mapping]]] = ...) -> None: ...

class ListMemoriesRequest(_message.Message):
    __slots__ = ["actor_id", "conversation_id", "kinds", "page_size", "page_token", "scope"]
    ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    actor_id: str
    conversation_id: str
    kinds: _containers.RepeatedScalarFieldContainer[_memory_pb2.MemoryKind]
    page_size: int
    page_token: str
    scope: _memory_pb2.MemoryScope
    def __init__(self, conversation_id: _Optional[str] = ..., actor_id: _Optional[str] = ..., scope: _Optional[_Union[_memory_pb2.MemoryScope, str]] = ..., kinds: _Optional[_Iterable[_Union[_memory_pb2.MemoryKind, str]]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListMemoriesResponse(_message.Message):
    __slots__ = ["memories", "next_page_token"]
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    memories: _containers.RepeatedCompositeFieldContainer[_memory_pb2.Memory]
    next_page_token: str
    def __init__(self, memories: _Optional[_Iterable[_Union[_memory_pb2.Memory, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class MemorySync(_message.Message):
    __slots__ = ["lag_messages", "next_try", "reason", "residue", "session", "skipped_messages", "state", "synced_to", "target"]
    LAG_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    NEXT_TRY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RESIDUE_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SYNCED_TO_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    lag_messages: int
    next_try: _timestamp_pb2.Timestamp
    reason: str
    residue: _containers.RepeatedScalarFieldContainer[str]
    session: int
    skipped_messages: int
    state: MemorySyncState
    synced_to: int
    target: str
    def __init__(self, target: _Optional[str] = ..., synced_to: _Optional[int] = ..., lag_messages: _Optional[int] = ..., state: _Optional[_Union[MemorySyncState, str]] = ..., reason: _Optional[str] = ..., next_try: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., skipped_messages: _Optional[int] = ..., session: _Optional[int] = ..., residue: _Optional[_Iterable[str]] = ...) -> None: ...

class SearchMemoriesRequest(_message.Message):
    __slots__ = ["conversation_id", "max_results", "min_score", "query", "scopes"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_RESULTS_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    max_results: int
    min_score: float
    query: str
    scopes: _containers.RepeatedScalarFieldContainer[_memory_pb2.MemoryScope]
    def __init__(self, conversation_id: _Optional[str] = ..., query: _Optional[str] = ..., scopes: _Optional[_Iterable[_Union[_memory_pb2.MemoryScope, str]]] = ..., max_results: _Optional[int] = ..., min_score: _Optional[float] = ...) -> None: ...

class SearchMemoriesResponse(_message.Message):
    __slots__ = ["degradations", "memories"]
    DEGRADATIONS_FIELD_NUMBER: _ClassVar[int]
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    degradations: _containers.RepeatedCompositeFieldContainer[_event_pb2.Degradation]
    memories: _containers.RepeatedCompositeFieldContainer[_memory_pb2.Memory]
    def __init__(self, memories: _Optional[_Iterable[_Union[_memory_pb2.Memory, _Mapping]]] = ..., degradations: _Optional[_Iterable[_Union[_event_pb2.Degradation, _Mapping]]] = ...) -> None: ...

class ForgetRecords(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class ForgetState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class MemorySyncState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
