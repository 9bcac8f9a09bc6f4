package listen

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// KnowsPeers says whether this system tells who connects to a Unix socket.
const KnowsPeers = true

// peerUID is the user who connected, as the kernel knows it.
func peerUID(conn *net.UnixConn) (uid uint32, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *unix.Ucred
	var fault error
	if err := raw.Control(func(fd uintptr) {
		peer, fault = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil || fault != nil {
		return 0, errors.Join(err, fault)
	}
	return peer.Uid, nil
}
