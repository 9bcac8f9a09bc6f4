package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"google.golang.org/grpc"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// bareArgument makes this program the bare server.
const bareArgument = "bare-server"

// bareServer answers with the same messages as the sidecar, and does nothing for them.
type bareServer struct {
	pb.UnimplementedContextServiceServer
	context []byte
}

// AppendMessage answers like an append.
func (s *bareServer) AppendMessage(context.Context, *pb.AppendMessageRequest) (*pb.AppendMessageResponse, error) {
	return &pb.AppendMessageResponse{Receipt: &pb.Receipt{Index: 1, Id: "m1", TokenCount: 50}}, nil
}

// BuildContext answers with as many bytes as the request's max_context_tokens says.
func (s *bareServer) BuildContext(_ context.Context, r *pb.BuildContextRequest) (*pb.BuildContextResponse, error) {
	if n := int(r.GetBudget().GetMaxContextTokens()); len(s.context) != n {
		s.context = make([]byte, n)
	}
	return &pb.BuildContextResponse{Rendered: &pb.Rendered{MessagesJson: s.context}}, nil
}

func serveBare() {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it does not wait
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr())
	server := grpc.NewServer()
	pb.RegisterContextServiceServer(server, &bareServer{})
	if err := server.Serve(l); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
