# The front door: every target is one or two commands; logic lives in `cargo xtask`.
.DEFAULT_GOAL := help
.PHONY: help check ci fmt clippy test tidy laws doc deny run lint bench mutants control-plane verify-envtest fidelity go-clients e2e images tool-image kind-node dist

help: ## say what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "%-15s %s\n", $$1, $$2}'

check: fmt clippy test doc lint ## all that must be green before a commit

ci: ## all that must pass before a change lands; `.ci/run STEP...` does single steps
	.ci/run

fmt: ## sources are formatted
	cargo fmt --all --check

clippy: ## no warning in any target
	cargo clippy --workspace --all-targets --quiet -- -D warnings

test: ## all tests (nextest where installed)
	@if cargo nextest --version >/dev/null 2>&1; then cargo nextest run --workspace && cargo test --workspace --doc --quiet; else cargo test --workspace; fi

laws: ## the laws of versions over 100,000 profiles, shoots and windows each
	PROPTEST_CASES=100000 cargo test --package versions --test it -- laws windows

tidy: ## the house rules
	cargo test --package xtask

doc: ## public docs without warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

deny: ## licences, sources and bans of dependencies
	cargo deny --version >/dev/null 2>&1 || cargo install --locked --debug cargo-deny
	cargo fetch --locked --quiet
	cargo deny --offline check bans licenses sources

run: ## verify our components on the embedded API server
	cargo run --release -- run

lint: ## contracts, fixtures, ledgers and suites
	cargo run --quiet -- lint

bench: ## the hot paths, with criterion
	cargo bench --workspace

mutants: ## change the code of components and see the contracts notice
	cargo xtask mutants

control-plane: ## kube-apiserver and etcd from pinned Go modules; prints the folder (1.28: cargo xtask control-plane --kubernetes 1.28)
	@cargo xtask control-plane

verify-envtest: ## every contract on a real control plane, with the outcome of the embedded one (CI asks a case of each clause)
	.ci/steps/envtest --whole

fidelity: ## 2,000 requests on the embedded and on a real API server have the same answers (CI sends 1,000)
	.ci/steps/fidelity --whole

go-clients: ## controller-runtime, client-go and kubectl, embedded and on a real control plane
	.ci/steps/go-clients

dist: ## release binaries in target/dist
	cargo xtask dist

images: ## our components as container images for kind; prints name and size
	@cargo xtask images

tool-image: ## gardener-conformance itself as a container image; prints name and size
	@cargo xtask images --tool

kind-node: ## a kind node image from pinned parts, without a registry; prints its name
	@cargo xtask kind-node

e2e: ## every contract and our images in real kind clusters (CI asks a case of each clause); does all the set-up first
	.ci/steps/kind --whole
