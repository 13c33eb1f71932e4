//! What kube-apiserver and gardener-apiserver of a Garden have in common: arguments, volumes, and the files in them.
//!
//! [`common`], [`audit`], [`admission`] and [`encryption`] each describe a part; a component appends those parts to its
//! container in this order, which is the order of the arguments.

pub mod admission;
pub mod audit;
pub mod encryption;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use api::garden::shoot::api_server::{ApiServerLogging, ApiServerRequests, WatchCacheSizes};
use serde_json::{Value, json};

use super::access::push;
use super::error::RenderError;
use super::generated::{CA_ETCD, ETCD_CLIENT, GeneratedSecrets};
use super::networks::{ETCD_CLIENT_PORT, MAIN_ETCD};
use super::objects::secret_volume;

/// Accepted cipher suites, in the order of preference.
pub(super) const CIPHER_SUITES: [&str; 9] = [
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
];
const ETCD_CA_PATH: &str = "/srv/kubernetes/etcd/ca";
const ETCD_CLIENT_PATH: &str = "/srv/kubernetes/etcd/client";
const SERVER_PATH: &str = "/srv/kubernetes/apiserver";

/// What a part of an API server's settings adds to its pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodParts {
    /// Arguments of the container.
    pub arguments: Vec<String>,
    /// Volumes of the pod, each with its mount in the container.
    pub volumes: Vec<(Value, Value)>,
}

/// Settings of an API server that a Garden has, as far as arguments are concerned.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerSettings<'a> {
    /// Feature gates.
    pub feature_gates: Option<&'a BTreeMap<String, bool>>,
    /// Limits of concurrent requests.
    pub requests: Option<&'a ApiServerRequests>,
    /// Log verbosity.
    pub logging: Option<&'a ApiServerLogging>,
    /// Sizes of watch caches.
    pub watch_cache_sizes: Option<&'a WatchCacheSizes>,
}

impl PodParts {
    /// Appends another part's arguments and volumes.
    pub fn append(&mut self, other: Self) {
        self.arguments.extend(other.arguments);
        self.volumes.extend(other.volumes);
    }

    /// Appends arguments, mounts and volumes to the first container of a Deployment.
    pub fn add_to(self, deployment: &mut Value) {
        let pod = &mut deployment["spec"]["template"]["spec"];
        for argument in self.arguments {
            push(&mut pod["containers"][0], "args", argument.into());
        }
        for (volume, mount) in self.volumes {
            push(&mut pod["containers"][0], "volumeMounts", mount);
            push(pod, "volumes", volume);
        }
    }
}

/// A volume's mount; `read_only` only where the original says so.
pub(super) fn mount(name: &str, path: &str, read_only: bool) -> Value {
    let mut mount = json!({"name": name, "mountPath": path});
    if read_only {
        mount["readOnly"] = true.into();
    }
    mount
}

/// The connection to the main etcd, the certificate in the Secret `server`, and what the settings say.
///
/// # Errors
/// If a certificate for etcd was not generated.
pub fn common(
    settings: ServerSettings<'_>,
    secrets: &GeneratedSecrets,
    server: &str,
) -> Result<PodParts, RenderError> {
    let mut arguments = vec![
        "--http2-max-streams-per-connection=1000".to_owned(),
        format!("--etcd-cafile={ETCD_CA_PATH}/bundle.crt"),
        format!("--etcd-certfile={ETCD_CLIENT_PATH}/tls.crt"),
        format!("--etcd-keyfile={ETCD_CLIENT_PATH}/tls.key"),
        format!("--etcd-servers=https://{MAIN_ETCD}:{ETCD_CLIENT_PORT}"),
        "--livez-grace-period=1m".to_owned(),
        "--profiling=false".to_owned(),
        "--shutdown-delay-duration=15s".to_owned(),
        format!("--tls-cert-file={SERVER_PATH}/tls.crt"),
        format!("--tls-private-key-file={SERVER_PATH}/tls.key"),
        format!("--tls-cipher-suites={}", CIPHER_SUITES.join(",")),
    ];
    arguments.extend(settings.arguments());
    let volume = |name: &str, secret: &str, path| (secret_volume(name, secret), mount(name, path, false));
    let volumes = vec![
        volume("ca-etcd", secrets.name(CA_ETCD)?, ETCD_CA_PATH),
        volume("etcd-client", secrets.name(ETCD_CLIENT)?, ETCD_CLIENT_PATH),
        volume("server", server, SERVER_PATH),
    ];
    Ok(PodParts { arguments, volumes })
}

impl ServerSettings<'_> {
    fn arguments(self) -> Vec<String> {
        let mut arguments: Vec<String> = self.feature_gates.and_then(gates).into_iter().collect();
        let mut add = |flag: &str, value: Option<i32>| {
            arguments.extend(value.map(|value| format!("--{flag}{value}")));
        };
        if let Some(requests) = self.requests {
            add("max-requests-inflight=", requests.max_non_mutating_inflight);
            add("max-mutating-requests-inflight=", requests.max_mutating_inflight);
        }
        if let Some(logging) = self.logging {
            add("vmodule=httplog=", logging.http_access_verbosity);
            add("v=", logging.verbosity);
        }
        if let Some(sizes) = self.watch_cache_sizes.filter(|sizes| !sizes.resources.is_empty()) {
            add("default-watch-cache-size=", sizes.default);
            arguments.push(watch_cache_sizes(sizes));
        }
        arguments
    }
}

/// The flag for feature gates; `None` without any.
#[must_use]
pub fn gates(gates: &BTreeMap<String, bool>) -> Option<String> {
    let gates: Vec<String> = gates.iter().map(|(name, is_on)| format!("{name}={is_on}")).collect();
    (!gates.is_empty()).then(|| format!("--feature-gates={}", gates.join(",")))
}

fn watch_cache_sizes(sizes: &WatchCacheSizes) -> String {
    let each = sizes.resources.iter().map(|size| {
        let group = size.api_group.as_ref().map(|group| format!(".{group}")).unwrap_or_default();
        format!("{}{group}#{}", size.resource, size.size)
    });
    format!("--watch-cache-sizes={}", each.collect::<Vec<_>>().join(","))
}
