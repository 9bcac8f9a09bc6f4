from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from palimpsest_context.v1 import context_pb2 as _context_pb2
from palimpsest_context.v1 import event_pb2 as _event_pb2
from palimpsest_context.v1 import message_pb2 as _message_pb2
from palimpsest_context.v1 import policy_pb2 as _policy_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
LIST_ORDER_ASCENDING: ListOrder
LIST_ORDER_DESCENDING: ListOrder
LIST_ORDER_UNSPECIFIED: ListOrder
LIST_VIEW_CURRENT: ListView
LIST_VIEW_ORIGINAL: ListView
LIST_VIEW_UNSPECIFIED: ListView

class Conversation(_message.Message):
    __slots__ = ["actor_id", "agent_id", "continues", "counter", "create_time", "expire_time", "id", "message_count", "metadata_json", "policy", "revision", "stored_bytes", "title", "token_count", "turn", "update_time", "window_start_index"]
    ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    CONTINUES_FIELD_NUMBER: _ClassVar[int]
    COUNTER_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    STORED_BYTES_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    WINDOW_START_INDEX_FIELD_NUMBER: _ClassVar[int]
    actor_id: str
    agent_id: str
    continues: str
    counter: str
    create_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    id: str
    message_count: int
    metadata_json: str
    policy: _policy_pb2.Policy
    revision: int
    stored_bytes: int
    title: str
    token_count: int
    turn: int
    update_time: _timestamp_pb2.Timestamp
    window_start_index: int
    def __init__(self, id: _Optional[str] = ..., actor_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., title: _Optional[str] = ..., metadata_json: _Optional[str] = ..., policy: _Optional[_Union[_policy_pb2.Policy, _Mapping]] = ..., counter: _Optional[str] = ..., turn: _Optional[int] = ..., revision: _Optional[int] = ..., message_count: _Optional[int] = ..., token_count: _Optional[int] = ..., window_start_index: _Optional[int] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., expire_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., stored_bytes: _Optional[int] = ..., continues: _Optional[str] = ...) -> None: ...

class CountMessagesRequest(_message.Message):
    __slots__ = ["conversation_id", "filter", "range"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    RANGE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    filter: MessageFilter
    range: _message_pb2.MessageRange
    def __init__(self, conversation_id: _Optional[str] = ..., range: _Optional[_Union[_message_pb2.MessageRange, _Mapping]] = ..., filter: _Optional[_Union[MessageFilter, _Mapping]] = ...) -> None: ...

class CountMessagesResponse(_message.Message):
    __slots__ = ["message_count", "token_count"]
    MESSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    message_count: int
    token_count: int
    def __init__(self, message_count: _Optional[int] = ..., token_count: _Optional[int] = ...) -> None: ...

class CreateConversationRequest(_message.Message):
    __slots__ = ["conversation", "request_id"]
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    conversation: Conversation
    request_id: str
    def __init__(self, conversation: _Optional[_Union[Conversation, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class CreateConversationResponse(_message.Message):
    __slots__ = ["conversation"]
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    conversation: Conversation
    def __init__(self, conversation: _Optional[_Union[Conversation, _Mapping]] = ...) -> None: ...

class DeleteConversationRequest(_message.Message):
    __slots__ = ["conversation_id", "request_id", "without_tombstone"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_TOMBSTONE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    request_id: str
    without_tombstone: bool
    def __init__(self, conversation_id: _Optional[str] = ..., request_id: _Optional[str] = ..., without_tombstone: bool = ...) -> None: ...

class DeleteConversationResponse(_message.Message):
    __slots__ = ["tombstone_expire_time"]
    TOMBSTONE_EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    tombstone_expire_time: _timestamp_pb2.Timestamp
    def __init__(self, tombstone_expire_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ExportConversationRequest(_message.Message):
    __slots__ = ["conversation_id"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    def __init__(self, conversation_id: _Optional[str] = ...) -> None: ...

class ExportConversationResponse(_message.Message):
    __slots__ = ["chunk"]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    chunk: bytes
    def __init__(self, chunk: _Optional[bytes] = ...) -> None: ...

class GetConversationRequest(_message.Message):
    __slots__ = ["conversation_id"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    def __init__(self, conversation_id: _Optional[str] = ...) -> None: ...

class GetConversationResponse(_message.Message):
    __slots__ = ["conversation"]
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    conversation: Conversation
    def __init__(self, conversation: _Optional[_Union[Conversation, _Mapping]] = ...) -> None: ...

class GetManifestRequest(_message.Message):
    __slots__ = ["conversation_id", "format", "manifest_id", "max_reply_bytes"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_REPLY_BYTES_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    format: _context_pb2.ContextFormat
    manifest_id: str
    max_reply_bytes: int
    def __init__(self, conversation_id: _Optional[str] = ..., manifest_id: _Optional[str] = ..., format: _Optional[_Union[_context_pb2.ContextFormat, str]] = ..., max_reply_bytes: _Optional[int] = ...) -> None: ...

class GetManifestResponse(_message.Message):
    __slots__ = ["manifest", "messages", "rendered"]
    MANIFEST_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    RENDERED_FIELD_NUMBER: _ClassVar[int]
    manifest: _context_pb2.Manifest
    messages: _containers.RepeatedCompositeFieldContainer[_context_pb2.ContextMessage]
    rendered: _context_pb2.Rendered
    def __init__(self, manifest: _Optional[_Union[_context_pb2.Manifest, _Mapping]] = ..., messages: _Optional[_Iterable[_Union[_context_pb2.ContextMessage, _Mapping]]] = ..., rendered: _Optional[_Union[_context_pb2.Rendered, _Mapping]] = ...) -> None: ...

class GetMessageRequest(_message.Message):
    __slots__ = ["conversation_id", "max_reply_bytes", "message_index"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_REPLY_BYTES_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_INDEX_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    max_reply_bytes: int
    message_index: int
    def __init__(self, conversation_id: _Optional[str] = ..., message_index: _Optional[int] = ..., max_reply_bytes: _Optional[int] = ...) -> None: ...

class GetMessageResponse(_message.Message):
    __slots__ = ["message"]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    message: _message_pb2.Message
    def __init__(self, message: _Optional[_Union[_message_pb2.Message, _Mapping]] = ...) -> None: ...

class ImportConversationRequest(_message.Message):
    __slots__ = ["chunk", "conversation_id"]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    chunk: bytes
    conversation_id: str
    def __init__(self, conversation_id: _Optional[str] = ..., chunk: _Optional[bytes] = ...) -> None: ...

class ImportConversationResponse(_message.Message):
    __slots__ = ["conversation"]
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    conversation: Conversation
    def __init__(self, conversation: _Optional[_Union[Conversation, _Mapping]] = ...) -> None: ...

class ListConversationsRequest(_message.Message):
    __slots__ = ["actor_id", "agent_id", "page_size", "page_token"]
    ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    actor_id: str
    agent_id: str
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., actor_id: _Optional[str] = ..., agent_id: _Optional[str] = ...) -> None: ...

class ListConversationsResponse(_message.Message):
    __slots__ = ["conversations", "next_page_token"]
    CONVERSATIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    conversations: _containers.RepeatedCompositeFieldContainer[Conversation]
    next_page_token: str
    def __init__(self, conversations: _Optional[_Iterable[_Union[Conversation, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListManifestsRequest(_message.Message):
    __slots__ = ["conversation_id", "page_size", "page_token"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    page_size: int
    page_token: str
    def __init__(self, conversation_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListManifestsResponse(_message.Message):
    __slots__ = ["manifests", "next_page_token"]
    MANIFESTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    manifests: _containers.RepeatedCompositeFieldContainer[_context_pb2.Manifest]
    next_page_token: str
    def __init__(self, manifests: _Optional[_Iterable[_Union[_context_pb2.Manifest, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListMessagesRequest(_message.Message):
    __slots__ = ["conversation_id", "filter", "max_reply_bytes", "max_tokens", "order", "page_size", "page_token", "range", "view"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    MAX_REPLY_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    RANGE_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    filter: MessageFilter
    max_reply_bytes: int
    max_tokens: int
    order: ListOrder
    page_size: int
    page_token: str
    range: _message_pb2.MessageRange
    view: ListView
    def __init__(self, conversation_id: _Optional[str] = ..., range: _Optional[_Union[_message_pb2.MessageRange, _Mapping]] = ..., order: _Optional[_Union[ListOrder, str]] = ..., view: _Optional[_Union[ListView, str]] = ..., filter: _Optional[_Union[MessageFilter, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., max_reply_bytes: _Optional[int] = ..., max_tokens: _Optional[int] = ...) -> None: ...

class ListMessagesResponse(_message.Message):
    __slots__ = ["messages", "next_page_token", "summaries"]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SUMMARIES_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    next_page_token: str
    summaries: _containers.RepeatedCompositeFieldContainer[_context_pb2.Summary]
    def __init__(self, messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., summaries: _Optional[_Iterable[_Union[_context_pb2.Summary, _Mapping]]] = ...) -> None: ...

class MessageFilter(_message.Message):
    __slots__ = ["message_types", "roles", "run_id", "tags"]
    MESSAGE_TYPES_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    message_types: _containers.RepeatedScalarFieldContainer[_message_pb2.MessageType]
    roles: _containers.RepeatedScalarFieldContainer[_message_pb2.Role]
    run_id: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, roles: _Optional[_Iterable[_Union[_message_pb2.Role, str]]] = ..., tags: _Optional[_Iterable[str]] = ..., message_types: _Optional[_Iterable[_Union[_message_pb2.MessageType, str]]] = ..., run_id: _Optional[str] = ...) -> None: ...

class MessageHit(_message.Message):
    __slots__ = ["create_time", "hidden", "id", "in_view", "index", "role", "score", "snippet", "token_count"]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    IN_VIEW_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SNIPPET_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    create_time: _timestamp_pb2.Timestamp
    hidden: bool
    id: str
    in_view: bool
    index: int
    role: _message_pb2.Role
    score: float
    snippet: str
    token_count: int
    def __init__(self, index: _Optional[int] = ..., score: _Optional[float] = ..., snippet: _Optional[str] = ..., role: _Optional[_Union[_message_pb2.Role, str]] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., id: _Optional[str] = ..., in_view: bool = ..., hidden: bool = ..., token_count: _Optional[int] = ...) -> None: ...

class SearchMessagesRequest(_message.Message):
    __slots__ = ["conversation_id", "filter", "include_hidden", "max_hits", "max_snippet_chars", "query", "range"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_HIDDEN_FIELD_NUMBER: _ClassVar[int]
    MAX_HITS_FIELD_NUMBER: _ClassVar[int]
    MAX_SNIPPET_CHARS_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    RANGE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    filter: MessageFilter
    include_hidden: bool
    max_hits: int
    max_snippet_chars: int
    query: str
    range: _message_pb2.MessageRange
    def __init__(self, conversation_id: _Optional[str] = ..., query: _Optional[str] = ..., range: _Optional[_Union[_message_pb2.MessageRange, _Mapping]] = ..., filter: _Optional[_Union[MessageFilter, _Mapping]] = ..., max_hits: _Optional[int] = ..., max_snippet_chars: _Optional[int] = ..., include_hidden: bool = ...) -> None: ...

class SearchMessagesResponse(_message.Message):
    __slots__ = ["hits", "searched_messages"]
    HITS_FIELD_NUMBER: _ClassVar[int]
    SEARCHED_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[MessageHit]
    searched_messages: int
    def __init__(self, hits: _Optional[_Iterable[_Union[MessageHit, _Mapping]]] = ..., searched_messages: _Optional[int] = ...) -> None: ...

class UpdateConversationRequest(_message.Message):
    __slots__ = ["conversation", "request_id", "update_mask"]
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    conversation: Conversation
    request_id: str
    update_mask: _field_mask_pb2.FieldMask
    def __init__(self, conversation: _Optional[_Union[Conversation, _Mapping]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class UpdateConversationResponse(_message.Message):
    __slots__ = ["conversation"]
    CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    conversation: Conversation
    def __init__(self, conversation: _Optional[_Union[Conversation, _Mapping]] = ...) -> None: ...

class WatchEventsRequest(_message.Message):
    __slots__ = ["conversation_id", "resume_token"]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    resume_token: str
    def __init__(self, conversation_id: _Optional[str] = ..., resume_token: _Optional[str] = ...) -> None: ...

class WatchEventsResponse(_message.Message):
    __slots__ = ["event", "event_time", "resume_token"]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    EVENT_TIME_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    event: _event_pb2.LifecycleEvent
    event_time: _timestamp_pb2.Timestamp
    resume_token: str
    def __init__(self, event: _Optional[_Union[_event_pb2.LifecycleEvent, _Mapping]] = ..., event_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., resume_token: _Optional[str] = ...) -> None: ...

class ListOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class ListView(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
