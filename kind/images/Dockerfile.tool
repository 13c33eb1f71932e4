# gardener-conformance for those who have no Rust: `make tool-image`. What it reads and writes is mounted:
# docker run --rm --network host --user $(id -u) --tmpfs /tmp -v $PWD:/work gardener-conformance/gardener-conformance:local verify ...
FROM scratch AS gardener-conformance
ARG PROGRAM
COPY ${PROGRAM}/${PROGRAM} /gardener-conformance
WORKDIR /tmp
WORKDIR /work
ENTRYPOINT ["/gardener-conformance"]
