from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from palimpsest_context.v1 import content_pb2 as _content_pb2
from palimpsest_context.v1 import event_pb2 as _event_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EndRunRequest(_message.Message):
    __slots__ = ["conversation_id", "grace", "request_id", "run_id"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    GRACE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    grace: _duration_pb2.Duration
    request_id: str
    run_id: str
    def __init__(self, conversation_id: _Optional[str] = ..., run_id: _Optional[str] = ..., grace: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class EndRunResponse(_message.Message):
    __slots__ = ["delete_time", "duplicate", "revision", "scheduled_contents"]
    DELETE_TIME_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SCHEDULED_CONTENTS_FIELD_NUMBER: _ClassVar[int]
    delete_time: _timestamp_pb2.Timestamp
    duplicate: bool
    revision: int
    scheduled_contents: int
    def __init__(self, scheduled_contents: _Optional[int] = ..., delete_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., revision: _Optional[int] = ..., duplicate: bool = ...) -> None: ...

class FullContent(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ListSourcesRequest(_message.Message):
    __slots__ = ["conversation_id", "page_size", "page_token", "run_id"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    page_size: int
    page_token: str
    run_id: str
    def __init__(self, conversation_id: _Optional[str] = ..., run_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSourcesResponse(_message.Message):
    __slots__ = ["next_page_token", "sources"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    sources: _containers.RepeatedCompositeFieldContainer[_content_pb2.SourceRecord]
    def __init__(self, sources: _Optional[_Iterable[_Union[_content_pb2.SourceRecord, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RetrieveContentRequest(_message.Message):
    __slots__ = ["content_id", "conversation_id", "excerpts", "full", "max_reply_bytes", "max_tokens", "page_token", "range"]
    CONTENT_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    EXCERPTS_FIELD_NUMBER: _ClassVar[int]
    FULL_FIELD_NUMBER: _ClassVar[int]
    MAX_REPLY_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    RANGE_FIELD_NUMBER: _ClassVar[int]
    content_id: str
    conversation_id: str
    excerpts: _content_pb2.ExcerptQuery
    full: FullContent
    max_reply_bytes: int
    max_tokens: int
    page_token: str
    range: _content_pb2.ContentRange
    def __init__(self, conversation_id: _Optional[str] = ..., content_id: _Optional[str] = ..., full: _Optional[_Union[FullContent, _Mapping]] = ..., range: _Optional[_Union[_content_pb2.ContentRange, _Mapping]] = ..., excerpts: _Optional[_Union[_content_pb2.ExcerptQuery, _Mapping]] = ..., max_tokens: _Optional[int] = ..., page_token: _Optional[str] = ..., max_reply_bytes: _Optional[int] = ...) -> None: ...

class RetrieveContentResponse(_message.Message):
    __slots__ = ["byte_range", "chunk", "excerpts", "next_page_token", "source"]
    BYTE_RANGE_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    EXCERPTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    byte_range: _content_pb2.Span
    chunk: bytes
    excerpts: _containers.RepeatedCompositeFieldContainer[_content_pb2.Excerpt]
    next_page_token: str
    source: _content_pb2.SourceRecord
    def __init__(self, source: _Optional[_Union[_content_pb2.SourceRecord, _Mapping]] = ..., chunk: _Optional[bytes] = ..., byte_range: _Optional[_Union[_content_pb2.Span, _Mapping]] = ..., excerpts: _Optional[_Iterable[_Union[_content_pb2.Excerpt, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SearchContentRequest(_message.Message):
    __slots__ = ["conversation_id", "excerpts", "max_tokens", "run_id"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    EXCERPTS_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    excerpts: _content_pb2.ExcerptQuery
    max_tokens: int
    run_id: str
    def __init__(self, conversation_id: _Optional[str] = ..., excerpts: _Optional[_Union[_content_pb2.ExcerptQuery, _Mapping]] = ..., run_id: _Optional[str] = ..., max_tokens: _Optional[int] = ...) -> None: ...

class SearchContentResponse(_message.Message):
    __slots__ = ["excerpts", "searched_contents", "skipped_contents"]
    EXCERPTS_FIELD_NUMBER: _ClassVar[int]
    SEARCHED_CONTENTS_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_CONTENTS_FIELD_NUMBER: _ClassVar[int]
    excerpts: _containers.RepeatedCompositeFieldContainer[_content_pb2.Excerpt]
    searched_contents: int
    skipped_contents: int
    def __init__(self, excerpts: _Optional[_Iterable[_Union[_content_pb2.Excerpt, _Mapping]]] = ..., searched_contents: _Optional[int] = ..., skipped_contents: _Optional[int] = ...) -> None: ...

class StoreContentHeader(_message.Message):
    __slots__ = ["content_type", "conversation_id", "metadata_json", "request_id", "reuse", "run_id", "sha256", "source_title", "source_type", "source_url"]
    CONTENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    REUSE_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TITLE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URL_FIELD_NUMBER: _ClassVar[int]
    content_type: str
    conversation_id: str
    metadata_json: str
    request_id: str
    reuse: bool
    run_id: str
    sha256: str
    source_title: str
    source_type: _content_pb2.SourceType
    source_url: str
    def __init__(self, conversation_id: _Optional[str] = ..., run_id: _Optional[str] = ..., source_type: _Optional[_Union[_content_pb2.SourceType, str]] = ..., source_url: _Optional[str] = ..., content_type: _Optional[str] = ..., metadata_json: _Optional[str] = ..., request_id: _Optional[str] = ..., sha256: _Optional[str] = ..., source_title: _Optional[str] = ..., reuse: bool = ...) -> None: ...

class StoreContentRequest(_message.Message):
    __slots__ = ["chunk", "header"]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    HEADER_FIELD_NUMBER: _ClassVar[int]
    chunk: bytes
    header: StoreContentHeader
    def __init__(self, header: _Optional[_Union[StoreContentHeader, _Mapping]] = ..., chunk: _Optional[bytes] = ...) -> None: ...

class StoreContentResponse(_message.Message):
    __slots__ = ["citation", "duplicate", "events", "revision", "shared"]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SHARED_FIELD_NUMBER: _ClassVar[int]
    citation: _content_pb2.Citation
    duplicate: bool
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.LifecycleEvent]
    revision: int
    shared: bool
    def __init__(self, citation: _Optional[_Union[_content_pb2.Citation, _Mapping]] = ..., events: _Optional[_Iterable[_Union[_event_pb2.LifecycleEvent, _Mapping]]] = ..., revision: _Optional[int] = ..., duplicate: bool = ..., shared: bool = ...) -> None: ...

class StreamContentRequest(_message.Message):
    __slots__ = ["content_id", "conversation_id", "offset_bytes"]
    CONTENT_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    OFFSET_BYTES_FIELD_NUMBER: _ClassVar[int]
    content_id: str
    conversation_id: str
    offset_bytes: int
    def __init__(self, conversation_id: _Optional[str] = ..., content_id: _Optional[str] = ..., offset_bytes: _Optional[int] = ...) -> None: ...

class StreamContentResponse(_message.Message):
    __slots__ = ["chunk", "offset_bytes", "source"]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    OFFSET_BYTES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    chunk: bytes
    offset_bytes: int
    source: _content_pb2.SourceRecord
    def __init__(self, source: _Optional[_Union[_content_pb2.SourceRecord, _Mapping]] = ..., offset_bytes: _Optional[int] = ..., chunk: _Optional[bytes] = ...) -> None: ...
