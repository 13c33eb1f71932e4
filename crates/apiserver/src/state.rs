//! The state that all requests share: the store, the served kinds, generated ids, and so on. It does not depend on a
//! request.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use webhook::admission_plugin::AdmissionPlugins;
use webhook::dial::Dialers;

use crate::access::authentication::Authentication;
use crate::access::authorization::RulesCache;
use crate::access::delegation::Delegate;
use crate::access::tokens::Tokens;
use crate::aggregation::availability_checker::AvailabilityChecker;
use crate::aggregation::front_proxy::FrontProxy;
use crate::authority;
use crate::clock::Clock;
use crate::faults::Faults;
use crate::http::upstream::UpstreamProxy;
use crate::ids::Ids;
use crate::log::Log;
use crate::object::allocation::pool::Pool;
use crate::progress::Progress;
use crate::registry::Registry;
use crate::server::metrics::ServerMetrics;
use crate::store::Store;
use crate::typed::TypedRules;
use crate::webhook_cache::WebhookCache;

/// The authorization mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authorization {
    /// Everybody may do everything.
    #[default]
    AlwaysAllow,
    /// RBAC; `system:masters` may do everything.
    Rbac,
}

/// Which controllers run beside the server, as in kube-controller-manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each controller is there or not")]
pub struct Controllers {
    /// The namespace controller: empties deleted namespaces, sets their conditions, and removes their finalizer.
    pub namespaces: bool,
    /// The garbage collector: deletes objects whose owners are gone, and completes foreground deletion and orphaning.
    pub garbage_collector: bool,
    /// Creates the service account `default` in every namespace.
    pub service_accounts: bool,
    /// Creates the ConfigMap `kube-root-ca.crt` in every namespace.
    pub root_ca: bool,
    /// Fills Secrets of type `kubernetes.io/service-account-token`, and deletes them with their account.
    pub token_secrets: bool,
    /// Aggregates the rules of selected ClusterRoles into those with an aggregation rule.
    pub aggregated_roles: bool,
    /// Signs approved CertificateSigningRequests for Kubernetes' own signers.
    pub signing: bool,
}

impl Controllers {
    /// No controllers: a control plane alone, as in envtest.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            namespaces: false,
            garbage_collector: false,
            service_accounts: false,
            root_ca: false,
            token_secrets: false,
            aggregated_roles: false,
            signing: false,
        }
    }

    /// All controllers, as in a cluster.
    #[must_use]
    pub const fn all() -> Self {
        Self {
            namespaces: true,
            garbage_collector: true,
            service_accounts: true,
            root_ca: true,
            token_secrets: true,
            aggregated_roles: true,
            signing: true,
        }
    }
}

/// What the server does beside answering requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switches {
    /// The controllers.
    pub(crate) controllers: Controllers,
    /// The authorization mode.
    pub(crate) authorization: Authorization,
    /// Whether it writes the objects that kube-apiserver writes when it starts, and presents a client certificate to
    /// other API servers.
    pub(crate) post_start_hooks: bool,
    /// Whether the admission plugin `ServiceAccount` is on.
    pub(crate) service_account_admission: bool,
    /// Which rules of typed kinds apply to requests that do not say it.
    pub(crate) typed_rules: TypedRules,
    /// How long credentials that subresources of typed kinds grant are valid at most.
    pub(crate) max_expiration: Option<Duration>,
    /// The time between the bookmarks of a watch.
    pub(crate) bookmark_period: Duration,
}

/// The shared state of a server.
pub(crate) struct ServerState {
    pub(crate) store: Store,
    pub(crate) registry: Registry,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
    pub(crate) log: Log,
    pub(crate) switches: Switches,
    pub(crate) dialers: Option<Arc<dyn Dialers>>,
    pub(crate) webhooks: WebhookCache,
    /// The admission plugins for typed kinds.
    pub(crate) plugins: Option<Arc<dyn AdmissionPlugins>>,
    pub(crate) pool: Pool,
    pub(crate) faults: Faults,
    pub(crate) authority: authority::LazyAuthority,
    pub(crate) progress: Progress,
    pub(crate) front_proxy: FrontProxy,
    pub(crate) availability_checker: AvailabilityChecker,
    pub(crate) tokens: Tokens,
    pub(crate) rbac: RulesCache,
    /// How clients authenticate over TLS, besides with tokens.
    pub(crate) authentication: Authentication,
    /// Who knows users and permissions, if not this server.
    pub(crate) delegate: Option<Arc<dyn Delegate>>,
    /// What `/version` answers, unless it is the version of Kubernetes.
    pub(crate) version: Option<Value>,
    /// What `/metrics` answers, if it is served.
    pub(crate) metrics: Option<Arc<ServerMetrics>>,
    /// The server that stores the objects, if this one forwards requests.
    pub(crate) upstream: Option<UpstreamProxy>,
}

impl ServerState {
    /// The state of a new server with the same objects.
    pub(crate) fn fork(&self, clock: Clock, dialers: Option<Arc<dyn Dialers>>) -> Self {
        Self {
            store: self.store.fork(),
            registry: self.registry.fork(),
            faults: Faults::new(clock.clone()),
            clock,
            ids: self.ids.fork(),
            log: Log::default(),
            switches: self.switches,
            dialers,
            webhooks: WebhookCache::default(),
            plugins: self.plugins.clone(),
            pool: Pool::default(),
            // Objects that were written at the start contain its certificate.
            authority: if self.switches.post_start_hooks {
                self.authority.clone()
            } else {
                self.authority.fork()
            },
            progress: Progress::default(),
            front_proxy: self.front_proxy.clone(),
            availability_checker: self.availability_checker.fork(),
            tokens: self.tokens.fork(),
            rbac: RulesCache::default(),
            authentication: self.authentication.clone(),
            delegate: self.delegate.clone(),
            version: self.version.clone(),
            metrics: self.metrics.as_ref().map(|metrics| Arc::new(metrics.fork())),
            upstream: self.upstream.as_ref().map(UpstreamProxy::fork),
        }
    }
}

impl std::fmt::Debug for ServerState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerState").field("revision", &self.store.revision()).finish_non_exhaustive()
    }
}
