//! The flags of gardener-apiserver that have an effect here, or are accepted without effect.

use apiserver::flags::access::{
    CLIENTS, PROXIES, PROXY_EXTRA, PROXY_GROUPS, PROXY_NAMES, PROXY_UID, PROXY_USER,
};
use apiserver::flags::{FlagForm, KnownFlag};

pub(super) const PORT: &str = "secure-port";
pub(super) const ADDRESS: &str = "bind-address";
pub(super) const CERTIFICATE: &str = "tls-cert-file";
pub(super) const KEY: &str = "tls-private-key-file";
pub(super) const KUBECONFIG: &str = "kubeconfig";
pub(super) const AUTHENTICATION_KUBECONFIG: &str = "authentication-kubeconfig";
pub(super) const AUTHORIZATION_KUBECONFIG: &str = "authorization-kubeconfig";
pub(super) const SKIP_LOOKUP: &str = "authentication-skip-lookup";
pub(super) const TOKEN_TTL: &str = "authentication-token-webhook-cache-ttl";
pub(super) const ALLOWED_TTL: &str = "authorization-webhook-cache-authorized-ttl";
pub(super) const DENIED_TTL: &str = "authorization-webhook-cache-unauthorized-ttl";
pub(super) const ALWAYS_ALLOWED: &str = "authorization-always-allow-paths";
pub(super) const IDENTITY: &str = "cluster-identity";
pub(super) const MAX_EXPIRATION: &str = "shoot-admin-kubeconfig-max-expiration";
pub(super) const ENABLED_PLUGINS: &str = "enable-admission-plugins";
pub(super) const DISABLED_PLUGINS: &str = "disable-admission-plugins";
pub(super) const PLUGIN_CONFIGURATION: &str = "admission-control-config-file";
pub(super) const FEATURE_GATES: &str = "feature-gates";
pub(super) const LOG_LEVEL: &str = "log-level";
pub(super) const LOG_FORMAT: &str = "log-format";
pub(super) const ETCD: &str = "etcd-servers";
pub(super) const ENCRYPTION: &str = "encryption-provider-config";
pub(super) const AUDIT: &str = "audit-policy-file";
pub(super) const STORAGE: &str = "storage-dir";

const fn value(name: &'static str, help: &'static str) -> KnownFlag {
    KnownFlag { name, form: FlagForm::Value, help }
}

const fn switch(name: &'static str, help: &'static str) -> KnownFlag {
    KnownFlag { name, form: FlagForm::Switch, help }
}

/// All known flags.
pub(super) const FLAGS: &[KnownFlag] = &[
    value(IDENTITY, "the identity of the garden cluster; required"),
    value(CERTIFICATE, "the server's certificate, then intermediate ones; required"),
    value(KEY, "the key of --tls-cert-file; required"),
    value(PORT, "the port to serve on [default: 443]"),
    value(ADDRESS, "the address to serve on [default: 0.0.0.0]"),
    value(KUBECONFIG, "the kube-apiserver with namespaces and Secrets [default: the one of this cluster]"),
    value(
        AUTHENTICATION_KUBECONFIG,
        "the kube-apiserver that knows tokens [default: the one of this cluster]",
    ),
    value(AUTHORIZATION_KUBECONFIG, "the kube-apiserver that authorizes [default: the one of this cluster]"),
    switch(
        SKIP_LOOKUP,
        "do not read authorities of clients from the ConfigMap kube-system/extension-apiserver-authentication",
    ),
    value(TOKEN_TTL, "how long the user of a token is cached [default: 10s]"),
    value(ALLOWED_TTL, "how long an allowed access is cached [default: 10s]"),
    value(DENIED_TTL, "how long a denied access is cached [default: 10s]"),
    value(ALWAYS_ALLOWED, "paths that everybody may get [default: /healthz,/readyz,/livez]"),
    value(CLIENTS, "authorities of client certificates, in place of those of the ConfigMap"),
    value(PROXIES, "authorities of front proxies, in place of those of the ConfigMap"),
    value(PROXY_NAMES, "common names that a front proxy may have; any if empty"),
    value(PROXY_USER, "headers with a user's name [default: x-remote-user]"),
    value(PROXY_UID, "headers with a user's uid"),
    value(PROXY_GROUPS, "headers with a user's groups [default: x-remote-group]"),
    value(PROXY_EXTRA, "prefixes of headers with extra attributes [default: x-remote-extra-]"),
    value(ENABLED_PLUGINS, "admission plugins to turn on"),
    value(DISABLED_PLUGINS, "admission plugins to turn off"),
    value(PLUGIN_CONFIGURATION, "the configuration of admission plugins"),
    value(FEATURE_GATES, "features of gardener-apiserver v1.82.0, its own with their defaults alone"),
    value(MAX_EXPIRATION, "how long a kubeconfig of shoots/adminkubeconfig is valid at most [default: 24h]"),
    value(LOG_LEVEL, "debug, info or error [default: info]"),
    value(LOG_FORMAT, "json or text [default: json]"),
    value(ETCD, "refused: etcd is not built"),
    value(ENCRYPTION, "refused: encryption at rest is not built"),
    value(AUDIT, "refused: audit is not built"),
    value(STORAGE, "refused: the journal is not built"),
    switch("help", "prints this text"),
    switch("h", "prints this text"),
    switch("version", "prints the version"),
    value("authentication-tolerate-lookup-failure", ""),
    value("default-watch-cache-size", ""),
    value("delete-collection-workers", ""),
    value("egress-selector-config-file", ""),
    switch("enable-garbage-collector", ""),
    switch("enable-priority-and-fairness", ""),
    value("etcd-cafile", ""),
    value("etcd-certfile", ""),
    value("etcd-keyfile", ""),
    value("etcd-prefix", ""),
    value("goaway-chance", ""),
    value("http2-max-streams-per-connection", ""),
    value("max-mutating-requests-inflight", ""),
    value("max-requests-inflight", ""),
    value("min-request-timeout", ""),
    switch("profiling", ""),
    value("request-timeout", ""),
    value("shoot-credentials-rotation-interval", ""),
    value("shutdown-delay-duration", ""),
    value("storage-media-type", ""),
    value("tls-cipher-suites", ""),
    value("tls-min-version", ""),
    value("tracing-config-file", ""),
    value("v", ""),
    value("vmodule", ""),
    switch("watch-cache", ""),
    value("watch-cache-sizes", ""),
];
