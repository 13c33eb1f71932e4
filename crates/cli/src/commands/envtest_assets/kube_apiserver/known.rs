//! The flags of kube-apiserver that have an effect here, or are accepted without effect.

use apiserver::flags::access::{
    CLIENTS, PROXIES, PROXY_EXTRA, PROXY_GROUPS, PROXY_NAMES, PROXY_UID, PROXY_USER,
};
use apiserver::flags::{FlagForm, KnownFlag};

pub(super) const PORT: &str = "secure-port";
pub(super) const ADDRESS: &str = "bind-address";
pub(super) const ADVERTISED: &str = "advertise-address";
pub(super) const FOLDER: &str = "cert-dir";
pub(super) const CERTIFICATE: &str = "tls-cert-file";
pub(super) const KEY: &str = "tls-private-key-file";
pub(super) const TOKENS: &str = "token-auth-file";
pub(super) const SIGNING: &str = "service-account-signing-key-file";
pub(super) const VERIFYING: &str = "service-account-key-file";
pub(super) const ISSUER: &str = "service-account-issuer";
pub(super) const AUDIENCES: &str = "api-audiences";
pub(super) const AUTHORIZATION: &str = "authorization-mode";
pub(super) const ANONYMOUS: &str = "anonymous-auth";
pub(super) const OWN_PROXY_CERTIFICATE: &str = "proxy-client-cert-file";
pub(super) const OWN_PROXY_KEY: &str = "proxy-client-key-file";
pub(super) const ENABLED_PLUGINS: &str = "enable-admission-plugins";
pub(super) const DISABLED_PLUGINS: &str = "disable-admission-plugins";

const fn value(name: &'static str, help: &'static str) -> KnownFlag {
    KnownFlag { name, form: FlagForm::Value, help }
}

const fn switch(name: &'static str, help: &'static str) -> KnownFlag {
    KnownFlag { name, form: FlagForm::Switch, help }
}

/// All known flags. `insecure-port` must not have a help text: envtest passes that flag if a line of the help begins with
/// it.
pub(super) const FLAGS: &[KnownFlag] = &[
    value(PORT, "the port to serve on [default: 6443]"),
    value(ADDRESS, "the address to serve on [default: 0.0.0.0]"),
    value(ADVERTISED, "the address in the endpoints of the Service kubernetes; none if it is loopback"),
    value(
        FOLDER,
        "the folder of apiserver.crt and apiserver.key, written there if --tls-cert-file is not given",
    ),
    value(CERTIFICATE, "the server's certificate, then intermediate ones"),
    value(KEY, "the key of --tls-cert-file"),
    value(CLIENTS, "authorities of client certificates, which name users (CN) and groups (O)"),
    value(TOKENS, "a CSV file of bearer tokens: token, user, uid, \"group1,group2\""),
    value(SIGNING, "the key that signs tokens of service accounts; RSA, or ECDSA over P-256 or P-384"),
    value(VERIFYING, "keys or certificates that verify such tokens; may be repeated"),
    value(ISSUER, "the issuer of such tokens; further ones are accepted"),
    value(AUDIENCES, "the audiences of tokens for this server [default: the issuers]"),
    value(
        AUTHORIZATION,
        "RBAC or AlwaysAllow [default: AlwaysAllow]; Node, ABAC and Webhook are ignored beside one of both",
    ),
    switch(ANONYMOUS, "whether requests without credentials are those of system:anonymous [default: true]"),
    value(PROXIES, "authorities of front proxies, which name other users in headers"),
    value(PROXY_NAMES, "common names that front proxies may have [default: any]"),
    value(PROXY_USER, "headers with the user's name"),
    value(PROXY_UID, "headers with the user's uid"),
    value(PROXY_GROUPS, "headers with the user's groups"),
    value(PROXY_EXTRA, "prefixes of headers with extra attributes of the user"),
    value(
        OWN_PROXY_CERTIFICATE,
        "the client certificate for aggregated API servers [default: a generated one]",
    ),
    value(OWN_PROXY_KEY, "the key of --proxy-client-cert-file"),
    value(ENABLED_PLUGINS, "admission plugins; the log lists those that do not exist here"),
    value(
        DISABLED_PLUGINS,
        "admission plugins; only ServiceAccount can be switched off, the log lists others",
    ),
    value("v", "verbosity of the log; debug messages from 4 on"),
    switch("help", "prints this text"),
    switch("h", "prints this text"),
    switch("version", "prints the version"),
    switch("allow-privileged", ""),
    switch("enable-aggregator-routing", ""),
    switch("enable-bootstrap-token-auth", ""),
    switch("enable-garbage-collector", ""),
    switch("enable-priority-and-fairness", ""),
    switch("profiling", ""),
    switch("service-account-lookup", ""),
    value("audit-log-path", ""),
    value("audit-policy-file", ""),
    value("authorization-always-allow-paths", ""),
    value("etcd-cafile", ""),
    value("etcd-certfile", ""),
    value("etcd-keyfile", ""),
    value("etcd-prefix", ""),
    value("etcd-servers", ""),
    value("event-ttl", ""),
    value("external-hostname", ""),
    value("feature-gates", ""),
    value("insecure-bind-address", ""),
    value("insecure-port", ""),
    value("kubelet-preferred-address-types", ""),
    value("max-mutating-requests-inflight", ""),
    value("max-requests-inflight", ""),
    value("min-request-timeout", ""),
    value("request-timeout", ""),
    value("runtime-config", ""),
    value("service-account-max-token-expiration", ""),
    value("service-cluster-ip-range", ""),
    value("service-node-port-range", ""),
    value("storage-backend", ""),
    value("storage-media-type", ""),
    value("tls-cipher-suites", ""),
    value("tls-min-version", ""),
    value("vmodule", ""),
    value("watch-cache-sizes", ""),
];
