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
        /// Admission plugins beside those that Gardener wants.
        admission_plugins: Vec<AdmissionPlugin>,
        /// Audiences of its tokens; empty for `kubernetes`.
        api_audiences: Vec<String>,
        /// What is written of requests.
        audit_config: Option<AuditConfig>,
        /// Who else says who users are.
        oidc_config: Option<OidcConfig>,
        /// APIs that are switched on and off.
        runtime_config: BTreeMap<String, bool>,
        /// Tokens of ServiceAccounts.
        service_account_config: Option<ServiceAccountConfig>,
        /// How much is held for those who watch.
        watch_cache_sizes: Option<WatchCacheSizes>,
        /// How many requests are answered at once.
        requests: Option<ApiServerRequests>,
        /// Whether requests of nobody are answered.
        enable_anonymous_authentication: Option<bool>,
        /// How long events are kept.
        #[serde(rename = "eventTTL")]
        event_ttl: Option<Duration>,
        /// How much is logged.
        logging: Option<ApiServerLogging>,
        /// How long a pod stays on a node that is not ready, in seconds.
        default_not_ready_toleration_seconds: Option<i64>,
        /// How long a pod stays on a node that cannot be reached, in seconds.
        default_unreachable_toleration_seconds: Option<i64>,
    }

    /// How much is logged.
    ApiServerLogging {
        /// Verbosity, 2 by default.
        verbosity: Option<i32>,
        /// Verbosity of what is said of requests.
        http_access_verbosity: Option<i32>,
    }

    /// How many requests are answered at once.
    ApiServerRequests {
        /// That only read.
        max_non_mutating_inflight: Option<i32>,
        /// That write.
        max_mutating_inflight: Option<i32>,
    }

    /// Tokens of ServiceAccounts.
    ServiceAccountConfig {
        /// Who issues them.
        issuer: Option<String>,
        /// Whether those of pods live for a year.
        extend_token_expiration: Option<bool>,
        /// How long they live at most.
        max_token_expiration: Option<Duration>,
        /// Whose tokens are accepted too.
        accepted_issuers: Vec<String>,
    }

    /// What is written of requests.
    AuditConfig {
        /// The policy.
        audit_policy: Option<AuditPolicy>,
    }

    /// Where the audit policy lies.
    AuditPolicy {
        /// In a ConfigMap of the shoot's namespace.
        config_map_ref: Option<ObjectReference>,
    }

    /// An OpenID Connect provider.
    OidcConfig {
        /// Certificates that it is trusted by, PEM.
        ca_bundle: Option<String>,
        /// What kubectl says of itself.
        client_authentication: Option<OpenIdConnectClientAuthentication>,
        /// The client that tokens must be for.
        #[serde(rename = "clientID")]
        client_id: Option<String>,
        /// The claim that holds a user's groups.
        groups_claim: Option<String>,
        /// What is put before groups.
        groups_prefix: Option<String>,
        /// Its URL.
        #[serde(rename = "issuerURL")]
        issuer_url: Option<String>,
        /// Claims that tokens must have.
        required_claims: BTreeMap<String, String>,
        /// How tokens may be signed: `RS256`.
        signing_algs: Vec<String>,
        /// The claim that holds a user's name.
        username_claim: Option<String>,
        /// What is put before names.
        username_prefix: Option<String>,
    }

    /// What kubectl says of itself to an OpenID Connect provider.
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
        /// True switches it off.
        disabled: Option<bool>,
        /// The Secret with the kubeconfig that it uses.
        kubeconfig_secret_name: Option<String>,
    }

    /// How much is held for those who watch.
    WatchCacheSizes {
        /// Of each resource.
        default: Option<i32>,
        /// Of some.
        resources: Vec<ResourceWatchCacheSize>,
    }

    /// How much of one resource is held for those who watch.
    ResourceWatchCacheSize {
        /// Its group; absent for the core group.
        api_group: Option<String>,
        /// Its plural name.
        resource: String,
        /// How many objects.
        size: i32,
    }
}
