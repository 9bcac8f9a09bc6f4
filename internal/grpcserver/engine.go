package grpcserver

import (
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/contentservice"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/contextservice"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/conversationservice"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/memoryservice"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/policyservice"
)

// Engine is what the edge asks: the methods of *engine.Engine, so that a test can stand in for it.
type Engine interface {
	contextservice.Engine
	conversationservice.Engine
	contentservice.Engine
	memoryservice.Engine
	policyservice.Engine
}
