//! Settings of a shoot's API server.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::garden::Duration;
use crate::garden::reference::ObjectReference;

object! {
    /// kube-apiserver.
    KubeApiServerConfig {
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
    }

    /// Log verbosity.
    ApiServerLogging {
        /// Verbosity, 2 by default.
        verbosity: Option<i32>,
        /// Verbosity of logs about requests.
        http_access_verbosity: Option<i32>,
    }

    /// Limits of concurrent requests.
    ApiServerRequests {
        /// Limit of read-only requests.
        max_non_mutating_inflight: Option<i32>,
        /// Limit of mutating requests.
        max_mutating_inflight: Option<i32>,
    }

    /// Tokens of ServiceAccounts.
    ServiceAccountConfig {
        /// The issuer.
        issuer: Option<String>,
        /// Whether the expiration of pods' tokens is extended to a year.
        extend_token_expiration: Option<bool>,
        /// Maximal lifetime.
        max_token_expiration: Option<Duration>,
        /// Other accepted issuers.
        accepted_issuers: Vec<String>,
    }

    /// The audit configuration.
    AuditConfig {
        /// The policy.
        audit_policy: Option<AuditPolicy>,
    }

    /// The audit policy.
    AuditPolicy {
        /// The ConfigMap in the shoot's namespace.
        config_map_ref: Option<ObjectReference>,
    }

    /// An OpenID Connect provider.
    OidcConfig {
        /// CA bundle of the provider, PEM.
        ca_bundle: Option<String>,
        /// Settings of the client kubectl.
        client_authentication: Option<OpenIdConnectClientAuthentication>,
        /// The client that tokens must be for.
        #[serde(rename = "clientID")]
        client_id: Option<String>,
        /// The claim with a user's groups.
        groups_claim: Option<String>,
        /// Prefix of groups.
        groups_prefix: Option<String>,
        /// Its URL.
        #[serde(rename = "issuerURL")]
        issuer_url: Option<String>,
        /// Required claims of tokens.
        required_claims: BTreeMap<String, String>,
        /// Accepted signing algorithms: `RS256`.
        signing_algs: Vec<String>,
        /// The claim with a user's name.
        username_claim: Option<String>,
        /// Prefix of names.
        username_prefix: Option<String>,
    }

    /// Settings of the client kubectl for an OpenID Connect provider.
    OpenIdConnectClientAuthentication {
        /// Further settings.
        extra_config: BTreeMap<String, String>,
        /// Its secret.
        secret: Option<String>,
    }

    /// An admission plugin.
    AdmissionPlugin {
        /// Its name.
        name: String,
        /// Its configuration.
        config: Option<Value>,
        /// True disables it.
        disabled: Option<bool>,
        /// The Secret with the kubeconfig that it uses.
        kubeconfig_secret_name: Option<String>,
    }

    /// Sizes of watch caches.
    WatchCacheSizes {
        /// Default size.
        default: Option<i32>,
        /// Sizes of some resources.
        resources: Vec<ResourceWatchCacheSize>,
    }

    /// The watch cache of one resource.
    ResourceWatchCacheSize {
        /// Its group; absent for the core group.
        api_group: Option<String>,
        /// Its plural name.
        resource: String,
        /// Number of objects.
        size: i32,
    }
}
