// Package clients runs what controllers written in Go need against the cluster of $KUBECONFIG: controller-runtime's manager
// (typed cache, client, leader election, webhooks) and client-go, both of which send built-in kinds as protobuf.
//
//	KUBECONFIG=$(gardener-conformance env up --substrate embedded) go test ./...
package clients
