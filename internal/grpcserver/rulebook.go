package grpcserver

import (
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// ruleBook holds the rules of every request. It is made once and only read.
type ruleBook struct {
	// What imports obey too.
	message      table[*pb.Message]
	conversation table[*pb.Conversation]

	appendMessage       table[*pb.AppendMessageRequest]
	batchAppendMessages table[*pb.BatchAppendMessagesRequest]
	buildContext        table[*pb.BuildContextRequest]
	expandMessage       table[*pb.ExpandMessageRequest]
	compactConversation table[*pb.CompactConversationRequest]
	rewindConversation  table[*pb.RewindConversationRequest]
	reportUsage         table[*pb.ReportUsageRequest]
	createConversation  table[*pb.CreateConversationRequest]
	getConversation     table[*pb.GetConversationRequest]
	listConversations   table[*pb.ListConversationsRequest]
	updateConversation  table[*pb.UpdateConversationRequest]
	deleteConversation  table[*pb.DeleteConversationRequest]
	getMessage          table[*pb.GetMessageRequest]
	listMessages        table[*pb.ListMessagesRequest]
	countMessages       table[*pb.CountMessagesRequest]
	getManifest         table[*pb.GetManifestRequest]
	listManifests       table[*pb.ListManifestsRequest]
	watchEvents         table[*pb.WatchEventsRequest]
	exportConversation  table[*pb.ExportConversationRequest]
	importConversation  table[*pb.ImportConversationRequest]
	putModelProfile     table[*pb.PutModelProfileRequest]
	getModelProfile     table[*pb.GetModelProfileRequest]
	listModelProfiles   table[*pb.ListModelProfilesRequest]
	deleteModelProfile  table[*pb.DeleteModelProfileRequest]
	putActionPolicy     table[*pb.PutActionPolicyRequest]
	getActionPolicy     table[*pb.GetActionPolicyRequest]
	listActionPolicies  table[*pb.ListActionPoliciesRequest]
	deleteActionPolicy  table[*pb.DeleteActionPolicyRequest]
	putPrompt           table[*pb.PutPromptRequest]
	getPrompt           table[*pb.GetPromptRequest]
	listPrompts         table[*pb.ListPromptsRequest]
	deletePrompt        table[*pb.DeletePromptRequest]
	storeContent        table[*pb.StoreContentRequest]
	retrieveContent     table[*pb.RetrieveContentRequest]
	streamContent       table[*pb.StreamContentRequest]
	searchContent       table[*pb.SearchContentRequest]
	listSources         table[*pb.ListSourcesRequest]
	endRun              table[*pb.EndRunRequest]
	searchMessages      table[*pb.SearchMessagesRequest]
	answerToolCall      table[*pb.AnswerToolCallRequest]
}

func newRuleBook() *ruleBook {
	message := messageRules()
	return &ruleBook{
		message:      recordRules(),
		conversation: conversationRules(),

		appendMessage:       appendMessageRules(message),
		batchAppendMessages: batchAppendMessagesRules(message),
		buildContext:        buildContextRules(),
		expandMessage:       expandMessageRules(),
		compactConversation: compactConversationRules(),
		rewindConversation:  rewindConversationRules(),
		reportUsage:         reportUsageRules(),
		createConversation:  createConversationRules(),
		getConversation:     getConversationRules(),
		listConversations:   listConversationsRules(),
		updateConversation:  updateConversationRules(),
		deleteConversation:  deleteConversationRules(),
		getMessage:          getMessageRules(),
		listMessages:        listMessagesRules(),
		countMessages:       countMessagesRules(),
		getManifest:         getManifestRules(),
		listManifests:       listManifestsRules(),
		watchEvents:         watchEventsRules(),
		exportConversation:  exportConversationRules(),
		importConversation:  importConversationRules(),
		putModelProfile:     putModelProfileRules(),
		getModelProfile:     getModelProfileRules(),
		listModelProfiles:   listModelProfilesRules(),
		deleteModelProfile:  deleteModelProfileRules(),
		putActionPolicy:     putActionPolicyRules(),
		getActionPolicy:     getActionPolicyRules(),
		listActionPolicies:  listActionPoliciesRules(),
		deleteActionPolicy:  deleteActionPolicyRules(),
		putPrompt:           putPromptRules(),
		getPrompt:           getPromptRules(),
		listPrompts:         listPromptsRules(),
		deletePrompt:        deletePromptRules(),
		storeContent:        storeContentRules(),
		retrieveContent:     retrieveContentRules(),
		streamContent:       streamContentRules(),
		searchContent:       searchContentRules(),
		listSources:         listSourcesRules(),
		endRun:              endRunRules(),
		searchMessages:      searchMessagesRules(),
		answerToolCall:      answerToolCallRules(),
	}
}

// validate returns all faults of a request in one error. What is no request of the API (health, reflection) is not its business.
func (b *ruleBook) validate(req any) error {
	m, ok := req.(proto.Message)
	if !ok || m.ProtoReflect().Descriptor().ParentFile().Package() != pb.File_palimpsest_v1_error_proto.Package() {
		return nil
	}
	c := &checker{}
	if !b.check(c, req) {
		return conversation.Errorf(conversation.Internal, "no rules for %s", m.ProtoReflect().Descriptor().FullName())
	}
	c.unknownFields(m.ProtoReflect())
	return c.err()
}

func (b *ruleBook) check(c *checker, req any) bool {
	switch r := req.(type) {
	case *pb.AppendMessageRequest:
		b.appendMessage.check(c, r)
	case *pb.BatchAppendMessagesRequest:
		b.batchAppendMessages.check(c, r)
	case *pb.BuildContextRequest:
		b.buildContext.check(c, r)
	case *pb.ExpandMessageRequest:
		b.expandMessage.check(c, r)
	case *pb.CompactConversationRequest:
		b.compactConversation.check(c, r)
	case *pb.RewindConversationRequest:
		b.rewindConversation.check(c, r)
	case *pb.ReportUsageRequest:
		b.reportUsage.check(c, r)
	case *pb.CreateConversationRequest:
		b.createConversation.check(c, r)
	case *pb.GetConversationRequest:
		b.getConversation.check(c, r)
	case *pb.ListConversationsRequest:
		b.listConversations.check(c, r)
	case *pb.UpdateConversationRequest:
		b.updateConversation.check(c, r)
	case *pb.DeleteConversationRequest:
		b.deleteConversation.check(c, r)
	case *pb.GetMessageRequest:
		b.getMessage.check(c, r)
	case *pb.ListMessagesRequest:
		b.listMessages.check(c, r)
	case *pb.CountMessagesRequest:
		b.countMessages.check(c, r)
	case *pb.GetManifestRequest:
		b.getManifest.check(c, r)
	case *pb.ListManifestsRequest:
		b.listManifests.check(c, r)
	case *pb.WatchEventsRequest:
		b.watchEvents.check(c, r)
	case *pb.ExportConversationRequest:
		b.exportConversation.check(c, r)
	case *pb.ImportConversationRequest:
		b.importConversation.check(c, r)
	case *pb.PutModelProfileRequest:
		b.putModelProfile.check(c, r)
	case *pb.GetModelProfileRequest:
		b.getModelProfile.check(c, r)
	case *pb.ListModelProfilesRequest:
		b.listModelProfiles.check(c, r)
	case *pb.DeleteModelProfileRequest:
		b.deleteModelProfile.check(c, r)
	case *pb.PutActionPolicyRequest:
		b.putActionPolicy.check(c, r)
	case *pb.GetActionPolicyRequest:
		b.getActionPolicy.check(c, r)
	case *pb.ListActionPoliciesRequest:
		b.listActionPolicies.check(c, r)
	case *pb.DeleteActionPolicyRequest:
		b.deleteActionPolicy.check(c, r)
	case *pb.PutPromptRequest:
		b.putPrompt.check(c, r)
	case *pb.GetPromptRequest:
		b.getPrompt.check(c, r)
	case *pb.ListPromptsRequest:
		b.listPrompts.check(c, r)
	case *pb.DeletePromptRequest:
		b.deletePrompt.check(c, r)
	default:
		return b.checkContent(c, req)
	}
	return true
}

// checkContent checks the requests about contents, and those that search or recall.
func (b *ruleBook) checkContent(c *checker, req any) bool {
	switch r := req.(type) {
	case *pb.StoreContentRequest:
		b.storeContent.check(c, r)
	case *pb.RetrieveContentRequest:
		b.retrieveContent.check(c, r)
	case *pb.StreamContentRequest:
		b.streamContent.check(c, r)
	case *pb.SearchContentRequest:
		b.searchContent.check(c, r)
	case *pb.ListSourcesRequest:
		b.listSources.check(c, r)
	case *pb.EndRunRequest:
		b.endRun.check(c, r)
	case *pb.SearchMessagesRequest:
		b.searchMessages.check(c, r)
	case *pb.AnswerToolCallRequest:
		b.answerToolCall.check(c, r)
	default:
		return false
	}
	return true
}
