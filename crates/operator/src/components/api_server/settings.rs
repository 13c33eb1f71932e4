//! Arguments that kube-apiserver and gardener-apiserver have in common.

use std::collections::BTreeMap;

use api::garden::shoot::api_server::{ApiServerLogging, ApiServerRequests, WatchCacheSizes};

use super::CIPHER_SUITES;
use super::parts::{ServerParts, switches};

/// The etcd of all objects but events.
const ETCD_MAIN: &str = "https://virtual-garden-etcd-main-client:2379";
const ETCD_CA: &str = "/srv/kubernetes/etcd/ca";
const ETCD_CLIENT: &str = "/srv/kubernetes/etcd/client";
const SERVER: &str = "/srv/kubernetes/apiserver";

/// The settings of a Garden for one of its API servers.
#[derive(Clone, Copy, Debug)]
pub struct ServerSettings<'a> {
    /// Feature gates.
    pub feature_gates: &'a BTreeMap<String, bool>,
    /// Limits of concurrent requests.
    pub requests: Option<&'a ApiServerRequests>,
    /// Log verbosity.
    pub logging: Option<&'a ApiServerLogging>,
    /// Sizes of watch caches.
    pub watch_cache_sizes: Option<&'a WatchCacheSizes>,
}

/// Names of the Secrets with the certificates of an API server.
#[derive(Clone, Copy, Debug)]
pub struct ServerCertificates<'a> {
    /// The authority of etcd.
    pub ca_etcd: &'a str,
    /// The client certificate for etcd.
    pub etcd_client: &'a str,
    /// The server certificate.
    pub server: &'a str,
}

/// Adds etcd, certificates and a Garden's settings. OPC-077, OPC-078, OPC-114.
///
/// The original writes an empty argument for feature gates that are an empty map, with which a server does not start; here
/// that is as if they were absent.
pub fn add(parts: &mut ServerParts, settings: &ServerSettings<'_>, certificates: &ServerCertificates<'_>) {
    parts.argument("--http2-max-streams-per-connection=1000");
    parts.flag("etcd-cafile", format_args!("{ETCD_CA}/bundle.crt"));
    parts.flag("etcd-certfile", format_args!("{ETCD_CLIENT}/tls.crt"));
    parts.flag("etcd-keyfile", format_args!("{ETCD_CLIENT}/tls.key"));
    parts.flag("etcd-servers", ETCD_MAIN);
    parts.argument("--livez-grace-period=1m");
    parts.argument("--profiling=false");
    parts.argument("--shutdown-delay-duration=15s");
    parts.flag("tls-cert-file", format_args!("{SERVER}/tls.crt"));
    parts.flag("tls-private-key-file", format_args!("{SERVER}/tls.key"));
    parts.flag("tls-cipher-suites", CIPHER_SUITES.join(","));
    if !settings.feature_gates.is_empty() {
        parts.flag("feature-gates", switches(settings.feature_gates));
    }
    let requests = settings.requests;
    parts.optional_flag("max-requests-inflight", requests.and_then(|of| of.max_non_mutating_inflight));
    parts.optional_flag("max-mutating-requests-inflight", requests.and_then(|of| of.max_mutating_inflight));
    let http = settings.logging.and_then(|logging| logging.http_access_verbosity);
    parts.optional_flag("vmodule=httplog", http);
    parts.optional_flag("v", settings.logging.and_then(|logging| logging.verbosity));
    add_watch_caches(parts, settings.watch_cache_sizes);
    parts.secret("ca-etcd", certificates.ca_etcd, ETCD_CA);
    parts.secret("etcd-client", certificates.etcd_client, ETCD_CLIENT);
    parts.secret("server", certificates.server, SERVER);
}

/// The default size is only written beside sizes of single resources.
fn add_watch_caches(parts: &mut ServerParts, sizes: Option<&WatchCacheSizes>) {
    let Some(sizes) = sizes.filter(|sizes| !sizes.resources.is_empty()) else { return };
    parts.optional_flag("default-watch-cache-size", sizes.default);
    let each = sizes.resources.iter().map(|size| {
        let group = size.api_group.as_ref().map(|group| format!(".{group}")).unwrap_or_default();
        format!("{}{group}#{}", size.resource, size.size)
    });
    parts.flag("watch-cache-sizes", each.collect::<Vec<_>>().join(","));
}

#[cfg(test)]
mod tests {
    use api::garden::shoot::api_server::ResourceWatchCacheSize;
    use rstest::rstest;

    use super::*;

    fn size(group: Option<&str>, resource: &str, size: i32) -> ResourceWatchCacheSize {
        let api_group = group.map(str::to_owned);
        ResourceWatchCacheSize { api_group, resource: resource.to_owned(), size, ..Default::default() }
    }

    #[rstest]
    #[case(WatchCacheSizes::default(), &[])]
    #[case(WatchCacheSizes { default: Some(50), ..Default::default() }, &[])]
    #[case(
        WatchCacheSizes { resources: vec![size(None, "secrets", 5)], ..Default::default() },
        &["--watch-cache-sizes=secrets#5"]
    )]
    #[case(
        WatchCacheSizes {
            default: Some(50),
            resources: vec![size(None, "secrets", 5), size(Some("apps"), "deployments", 0)],
            ..Default::default()
        },
        &["--default-watch-cache-size=50", "--watch-cache-sizes=secrets#5,deployments.apps#0"]
    )]
    fn watch_caches_are_only_set_with_resources(#[case] sizes: WatchCacheSizes, #[case] want: &[&str]) {
        let mut parts = ServerParts::default();
        add_watch_caches(&mut parts, Some(&sizes));
        assert_eq!(parts.arguments, want);
    }
}
