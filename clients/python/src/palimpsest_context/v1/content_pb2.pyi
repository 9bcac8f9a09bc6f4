from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

CONTENT_STATE_EXPIRED: ContentState
CONTENT_STATE_STORED: ContentState
CONTENT_STATE_UNSPECIFIED: ContentState
DESCRIPTOR: _descriptor.FileDescriptor
SOURCE_TYPE_DATABASE: SourceType
SOURCE_TYPE_SEARCH: SourceType
SOURCE_TYPE_STORAGE: SourceType
SOURCE_TYPE_TOOL: SourceType
SOURCE_TYPE_UNSPECIFIED: SourceType
SOURCE_TYPE_WEB: SourceType

class Citation(_message.Message):
    __slots__ = ["content_id", "content_type", "excerpt", "how_to_retrieve", "location", "source_title", "source_type", "source_url", "text", "total_bytes", "total_chars"]
    CONTENT_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    EXCERPT_FIELD_NUMBER: _ClassVar[int]
    HOW_TO_RETRIEVE_FIELD_NUMBER: _ClassVar[int]
    LOCATION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TITLE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URL_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOTAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_CHARS_FIELD_NUMBER: _ClassVar[int]
    content_id: str
    content_type: str
    excerpt: str
    how_to_retrieve: str
    location: str
    source_title: str
    source_type: SourceType
    source_url: str
    text: str
    total_bytes: int
    total_chars: int
    def __init__(self, content_id: _Optional[str] = ..., excerpt: _Optional[str] = ..., location: _Optional[str] = ..., total_chars: _Optional[int] = ..., total_bytes: _Optional[int] = ..., source_type: _Optional[_Union[SourceType, str]] = ..., source_url: _Optional[str] = ..., content_type: _Optional[str] = ..., how_to_retrieve: _Optional[str] = ..., text: _Optional[str] = ..., source_title: _Optional[str] = ...) -> None: ...

class ContentRange(_message.Message):
    __slots__ = ["bytes", "chars", "items", "lines"]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    CHARS_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    bytes: Span
    chars: Span
    items: Span
    lines: Span
    def __init__(self, bytes: _Optional[_Union[Span, _Mapping]] = ..., chars: _Optional[_Union[Span, _Mapping]] = ..., lines: _Optional[_Union[Span, _Mapping]] = ..., items: _Optional[_Union[Span, _Mapping]] = ...) -> None: ...

class Excerpt(_message.Message):
    __slots__ = ["byte_range", "char_range", "content_id", "location", "matched_terms", "relevance", "score", "text"]
    BYTE_RANGE_FIELD_NUMBER: _ClassVar[int]
    CHAR_RANGE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_ID_FIELD_NUMBER: _ClassVar[int]
    LOCATION_FIELD_NUMBER: _ClassVar[int]
    MATCHED_TERMS_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    byte_range: Span
    char_range: Span
    content_id: str
    location: str
    matched_terms: _containers.RepeatedScalarFieldContainer[str]
    relevance: str
    score: float
    text: str
    def __init__(self, content_id: _Optional[str] = ..., text: _Optional[str] = ..., location: _Optional[str] = ..., byte_range: _Optional[_Union[Span, _Mapping]] = ..., char_range: _Optional[_Union[Span, _Mapping]] = ..., score: _Optional[float] = ..., matched_terms: _Optional[_Iterable[str]] = ..., relevance: _Optional[str] = ...) -> None: ...

class ExcerptQuery(_message.Message):
    __slots__ = ["max_excerpt_chars", "max_excerpts", "search_terms"]
    MAX_EXCERPTS_FIELD_NUMBER: _ClassVar[int]
    MAX_EXCERPT_CHARS_FIELD_NUMBER: _ClassVar[int]
    SEARCH_TERMS_FIELD_NUMBER: _ClassVar[int]
    max_excerpt_chars: int
    max_excerpts: int
    search_terms: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, search_terms: _Optional[_Iterable[str]] = ..., max_excerpts: _Optional[int] = ..., max_excerpt_chars: _Optional[int] = ...) -> None: ...

class SourceRecord(_message.Message):
    __slots__ = ["access_time", "cited_at_append", "cited_by", "content_id", "content_type", "expire_time", "metadata_json", "run_id", "sha256", "source_title", "source_type", "source_url", "state", "total_bytes", "total_chars"]
    ACCESS_TIME_FIELD_NUMBER: _ClassVar[int]
    CITED_AT_APPEND_FIELD_NUMBER: _ClassVar[int]
    CITED_BY_FIELD_NUMBER: _ClassVar[int]
    CONTENT_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TITLE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URL_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_CHARS_FIELD_NUMBER: _ClassVar[int]
    access_time: _timestamp_pb2.Timestamp
    cited_at_append: bool
    cited_by: _containers.RepeatedScalarFieldContainer[int]
    content_id: str
    content_type: str
    expire_time: _timestamp_pb2.Timestamp
    metadata_json: str
    run_id: str
    sha256: str
    source_title: str
    source_type: SourceType
    source_url: str
    state: ContentState
    total_bytes: int
    total_chars: int
    def __init__(self, content_id: _Optional[str] = ..., source_type: _Optional[_Union[SourceType, str]] = ..., source_url: _Optional[str] = ..., content_type: _Optional[str] = ..., total_bytes: _Optional[int] = ..., total_chars: _Optional[int] = ..., sha256: _Optional[str] = ..., access_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., cited_by: _Optional[_Iterable[int]] = ..., state: _Optional[_Union[ContentState, str]] = ..., run_id: _Optional[str] = ..., metadata_json: _Optional[str] = ..., cited_at_append: bool = ..., expire_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., source_title: _Optional[str] = ...) -> None: ...

class Span(_message.Message):
    __slots__ = ["end_index", "start_index"]
    END_INDEX_FIELD_NUMBER: _ClassVar[int]
    START_INDEX_FIELD_NUMBER: _ClassVar[int]
    end_index: int
    start_index: int
    def __init__(self, start_index: _Optional[int] = ..., end_index: _Optional[int] = ...) -> None: ...

class SourceType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class ContentState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
