// Package envtest runs what test suites written in Go need of controller-runtime's envtest: a control plane that envtest starts
// itself, with webhooks, conversion, users, tokens and an aggregated API server.
//
//	KUBEBUILDER_ASSETS=$(gardener-conformance envtest-assets bin/envtest) go test ./envtest
package envtest
