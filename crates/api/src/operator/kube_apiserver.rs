//! kube-apiserver of a virtual cluster.

use std::collections::BTreeMap;

use crate::garden::Duration;
use crate::garden::shoot::api_server::{
    AdmissionPlugin, ApiServerLogging, ApiServerRequests, AuditConfig, OidcConfig, ServiceAccountConfig,
    WatchCacheSizes,
};

object! {
    /// kube-apiserver of a virtual cluster: the fields of a Shoot's, and the last four.
    VirtualApiServerConfig {
        /// Feature gates.
        feature_gates: BTreeMap<String, bool>,
        /// Admission plugins beside Gardener's defaults.
        admission_plugins: Vec<AdmissionPlugin>,
        /// Audiences of its tokens; empty for `kubernetes`.
        api_audiences: Vec<String>,
        /// The audit configuration.
        audit_config: Option<AuditConfig>,
        /// The OpenID Connect configuration.
        oidc_config: Option<OidcConfig>,
        /// APIs that are enabled or disabled.
        runtime_config: BTreeMap<String, bool>,
        /// Tokens of ServiceAccounts.
        service_account_config: Option<ServiceAccountConfig>,
        /// Sizes of watch caches.
        watch_cache_sizes: Option<WatchCacheSizes>,
        /// Limits of concurrent requests.
        requests: Option<ApiServerRequests>,
        /// Whether anonymous requests are allowed.
        enable_anonymous_authentication: Option<bool>,
        /// How long events are kept.
        #[serde(rename = "eventTTL")]
        event_ttl: Option<Duration>,
        /// Log verbosity.
        logging: Option<ApiServerLogging>,
        /// How long a pod stays on a node that is not ready, in seconds.
        default_not_ready_toleration_seconds: Option<i64>,
        /// How long a pod stays on a node that cannot be reached, in seconds.
        default_unreachable_toleration_seconds: Option<i64>,
        /// Where audit events are sent.
        audit_webhook: Option<AuditWebhook>,
        /// Who else authenticates requests.
        authentication: Option<Authentication>,
        /// Resources whose objects are stored in the Etcd of events.
        #[serde(rename = "resourcesToStoreInETCDEvents")]
        resources_to_store_in_etcd_events: Vec<GroupResource>,
        /// A certificate for other names.
        sni: Option<Sni>,
    }

    /// Where audit events are sent.
    AuditWebhook {
        /// Number of events in one request; default 30.
        batch_max_size: Option<i32>,
        /// The Secret with the webhook's kubeconfig.
        kubeconfig_secret_name: String,
        /// Version of the events; default `audit.k8s.io/v1`.
        version: Option<String>,
    }

    /// Who else authenticates requests.
    Authentication {
        /// A webhook.
        webhook: Option<AuthenticationWebhook>,
    }

    /// A webhook that authenticates requests.
    AuthenticationWebhook {
        /// How long its answers are kept.
        #[serde(rename = "cacheTTL")]
        cache_ttl: Option<Duration>,
        /// The Secret with its kubeconfig.
        kubeconfig_secret_name: String,
        /// Version of the reviews: `v1alpha1`, `v1beta1` (default), `v1`.
        version: Option<String>,
    }

    /// A resource.
    GroupResource {
        /// Its group.
        group: String,
        /// Its plural name.
        resource: String,
    }

    /// A certificate for other names.
    Sni {
        /// The Secret with the certificate.
        secret_name: String,
        /// The names; empty for those of the certificate.
        domain_patterns: Vec<String>,
    }
}
