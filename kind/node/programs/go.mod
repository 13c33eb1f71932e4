// The programs of the node that are our own: the sandbox's first process and the pod network.
module conformance.gardener.cloud/node/programs

go 1.26.8

require github.com/vishvananda/netlink v1.3.1

require (
	github.com/vishvananda/netns v0.0.5 // indirect
	golang.org/x/sys v0.10.0 // indirect
)
