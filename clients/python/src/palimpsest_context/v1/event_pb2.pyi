from palimpsest_context.v1 import message_pb2 as _message_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DECISION_KIND_CITED: DecisionKind
DECISION_KIND_CLEARED: DecisionKind
DECISION_KIND_CLIPPED: DecisionKind
DECISION_KIND_COMPACTED: DecisionKind
DECISION_KIND_CORRECTED: DecisionKind
DECISION_KIND_DEDUPLICATED: DecisionKind
DECISION_KIND_DEFERRED: DecisionKind
DECISION_KIND_HIDDEN: DecisionKind
DECISION_KIND_LEFT_OUT: DecisionKind
DECISION_KIND_MASKED: DecisionKind
DECISION_KIND_PRUNED: DecisionKind
DECISION_KIND_RECALLED: DecisionKind
DECISION_KIND_REMOVED: DecisionKind
DECISION_KIND_REPAIRED: DecisionKind
DECISION_KIND_SUMMARIZED: DecisionKind
DECISION_KIND_UNSPECIFIED: DecisionKind
DECISION_REASON_APPENDED: DecisionReason
DECISION_REASON_ARGUMENTS_WRAPPED: DecisionReason
DECISION_REASON_BEFORE_WINDOW: DecisionReason
DECISION_REASON_BYTES_REPLACED: DecisionReason
DECISION_REASON_CACHE_COLD: DecisionReason
DECISION_REASON_CALL_NEVER_ANSWERED: DecisionReason
DECISION_REASON_COMPACT_REQUEST: DecisionReason
DECISION_REASON_CONTINUE_ADDED: DecisionReason
DECISION_REASON_COPY_NOT_SHOWN: DecisionReason
DECISION_REASON_CORRECTION_REQUEST: DecisionReason
DECISION_REASON_DUPLICATE_LINES: DecisionReason
DECISION_REASON_EMPTY_TEXT: DecisionReason
DECISION_REASON_EXPAND_REQUEST: DecisionReason
DECISION_REASON_EXPIRED: DecisionReason
DECISION_REASON_EXPIRED_EXTRACT: DecisionReason
DECISION_REASON_EXPIRED_FIRST_CHARS: DecisionReason
DECISION_REASON_EXPIRED_SUMMARY: DecisionReason
DECISION_REASON_FOREIGN_BLOCK: DecisionReason
DECISION_REASON_HELD_FOR_REWRITE: DecisionReason
DECISION_REASON_MEDIA_AS_TEXT: DecisionReason
DECISION_REASON_MEMORIES_ANSWER: DecisionReason
DECISION_REASON_MEMORY_BELOW_FLOOR: DecisionReason
DECISION_REASON_MEMORY_DEADLINE: DecisionReason
DECISION_REASON_MEMORY_DRY_RUN: DecisionReason
DECISION_REASON_MEMORY_FORGOTTEN: DecisionReason
DECISION_REASON_MEMORY_INDEX_COLD: DecisionReason
DECISION_REASON_MEMORY_IN_VIEW: DecisionReason
DECISION_REASON_MEMORY_NO_ACTOR: DecisionReason
DECISION_REASON_MEMORY_OVER_CAP: DecisionReason
DECISION_REASON_MEMORY_QUERY_EMPTY: DecisionReason
DECISION_REASON_MEMORY_UNAVAILABLE: DecisionReason
DECISION_REASON_MESSAGE_THRESHOLD: DecisionReason
DECISION_REASON_NAME_REPLACED: DecisionReason
DECISION_REASON_NEWEST_UNIT_OVER_BUDGET: DecisionReason
DECISION_REASON_NO_ROOM: DecisionReason
DECISION_REASON_OPENER_ADDED: DecisionReason
DECISION_REASON_OVERFLOW: DecisionReason
DECISION_REASON_OVER_BUDGET_SHARE: DecisionReason
DECISION_REASON_OVER_CITATION_THRESHOLD: DecisionReason
DECISION_REASON_PRUNED: DecisionReason
DECISION_REASON_REMOVED_BY_CALLER: DecisionReason
DECISION_REASON_RESIDUE_DROPPED: DecisionReason
DECISION_REASON_RESULT_LATE: DecisionReason
DECISION_REASON_RESULT_OVER_SHARE: DecisionReason
DECISION_REASON_RETENTION: DecisionReason
DECISION_REASON_REWIND_REQUEST: DecisionReason
DECISION_REASON_RUN_ENDED: DecisionReason
DECISION_REASON_SIGNATURE_ADDED: DecisionReason
DECISION_REASON_STORE_CONTENT_REQUEST: DecisionReason
DECISION_REASON_SUMMARIES_MERGED: DecisionReason
DECISION_REASON_SUMMARY_NOT_ASKED: DecisionReason
DECISION_REASON_SUMMARY_NOT_READY: DecisionReason
DECISION_REASON_SUMMARY_REFUSED: DecisionReason
DECISION_REASON_SYSTEM_AS_USER: DecisionReason
DECISION_REASON_UNIT_EXPIRED: DecisionReason
DECISION_REASON_UNSPECIFIED: DecisionReason
DESCRIPTOR: _descriptor.FileDescriptor
EVENT_TYPE_ADDED: EventType
EVENT_TYPE_CITED: EventType
EVENT_TYPE_CLIPPED: EventType
EVENT_TYPE_COMPACTED: EventType
EVENT_TYPE_COMPACTION_FAILED: EventType
EVENT_TYPE_CONTENT_EXPIRED: EventType
EVENT_TYPE_CONTENT_STORED: EventType
EVENT_TYPE_COPY_RETURNED: EventType
EVENT_TYPE_CORRECTED: EventType
EVENT_TYPE_DEDUPLICATED: EventType
EVENT_TYPE_EXPANDED: EventType
EVENT_TYPE_EXPIRED: EventType
EVENT_TYPE_HIDDEN: EventType
EVENT_TYPE_MEMORY_FORGOTTEN: EventType
EVENT_TYPE_MEMORY_RECALLED: EventType
EVENT_TYPE_MEMORY_SKIPPED: EventType
EVENT_TYPE_PRUNED: EventType
EVENT_TYPE_REMOVED: EventType
EVENT_TYPE_RETENTION_APPLIED: EventType
EVENT_TYPE_REWIND_UNDONE: EventType
EVENT_TYPE_SUMMARIZED: EventType
EVENT_TYPE_UNSPECIFIED: EventType

class Decision(_message.Message):
    __slots__ = ["detail", "edit_id", "end_index", "kind", "reason", "start_index", "summary_id", "tokens_after", "tokens_before"]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    EDIT_ID_FIELD_NUMBER: _ClassVar[int]
    END_INDEX_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    START_INDEX_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_ID_FIELD_NUMBER: _ClassVar[int]
    TOKENS_AFTER_FIELD_NUMBER: _ClassVar[int]
    TOKENS_BEFORE_FIELD_NUMBER: _ClassVar[int]
    detail: str
    edit_id: str
    end_index: int
    kind: DecisionKind
    reason: DecisionReason
    start_index: int
    summary_id: str
    tokens_after: int
    tokens_before: int
    def __init__(self, start_index: _Optional[int] = ..., end_index: _Optional[int] = ..., kind: _Optional[_Union[DecisionKind, str]] = ..., reason: _Optional[_Union[DecisionReason, str]] = ..., detail: _Optional[str] = ..., tokens_before: _Optional[int] = ..., tokens_after: _Optional[int] = ..., edit_id: _Optional[str] = ..., summary_id: _Optional[str] = ...) -> None: ...

class Degradation(_message.Message):
    __slots__ = ["asked", "code", "done", "reason"]
    ASKED_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    asked: str
    code: str
    done: str
    reason: str
    def __init__(self, asked: _Optional[str] = ..., reason: _Optional[str] = ..., done: _Optional[str] = ..., code: _Optional[str] = ...) -> None: ...

class LifecycleEvent(_message.Message):
    __slots__ = ["content_id", "correction_reason", "edit_id", "end_index", "expand_reason", "memory_ids", "message_index", "reason", "summary_id", "tokens_saved", "turn", "type", "view"]
    CONTENT_ID_FIELD_NUMBER: _ClassVar[int]
    CORRECTION_REASON_FIELD_NUMBER: _ClassVar[int]
    EDIT_ID_FIELD_NUMBER: _ClassVar[int]
    END_INDEX_FIELD_NUMBER: _ClassVar[int]
    EXPAND_REASON_FIELD_NUMBER: _ClassVar[int]
    MEMORY_IDS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_INDEX_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_ID_FIELD_NUMBER: _ClassVar[int]
    TOKENS_SAVED_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    content_id: str
    correction_reason: str
    edit_id: str
    end_index: int
    expand_reason: str
    memory_ids: _containers.RepeatedScalarFieldContainer[str]
    message_index: int
    reason: DecisionReason
    summary_id: str
    tokens_saved: int
    turn: int
    type: EventType
    view: _message_pb2.MessageView
    def __init__(self, type: _Optional[_Union[EventType, str]] = ..., turn: _Optional[int] = ..., message_index: _Optional[int] = ..., reason: _Optional[_Union[DecisionReason, str]] = ..., tokens_saved: _Optional[int] = ..., edit_id: _Optional[str] = ..., view: _Optional[_Union[_message_pb2.MessageView, _Mapping]] = ..., end_index: _Optional[int] = ..., summary_id: _Optional[str] = ..., content_id: _Optional[str] = ..., expand_reason: _Optional[str] = ..., correction_reason: _Optional[str] = ..., memory_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class EventType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class DecisionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class DecisionReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
