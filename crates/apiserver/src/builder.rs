//! Builder of [`ApiServer`]: kinds, CRDs, clock, webhooks, and switches.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use formats::exposition::Family;
use jiff::Timestamp;
use schema::{Crd, Kinds, KubernetesVersion, TypedKind};
use serde_json::Value;
use webhook::admission_plugin::AdmissionPlugins;
use webhook::dial::Dialers;
use webhook::strategy::Strategy;

use crate::access::authentication::Authentication;
use crate::access::authorization::RulesCache;
use crate::access::delegation::Delegate;
use crate::access::tokens::{Issuance, SigningKey, Tokens, VerifyingKey};
use crate::aggregation::availability_checker::AvailabilityChecker;
use crate::aggregation::front_proxy::FrontProxy;
use crate::authority::{self, KeyPair};
use crate::clock::Clock;
use crate::faults::Faults;
use crate::http::upstream::{Upstream, UpstreamProxy};
use crate::ids::Ids;
use crate::log::Log;
use crate::object::allocation::pool::Pool;
use crate::progress::Progress;
use crate::registry::Registry;
use crate::seed;
use crate::seed::post_start_hooks;
use crate::server::ApiServer;
use crate::server::metrics::ServerMetrics;
use crate::state::{Authorization, Controllers, ServerState, Switches};
use crate::store::Store;
use crate::typed::TypedRules;
use crate::webhook_cache::WebhookCache;

/// Configures and starts an [`ApiServer`].
#[must_use]
pub struct Builder {
    kinds: Kinds,
    typed_kinds: Vec<(TypedKind, &'static Strategy)>,
    crds: Vec<Crd>,
    epoch: Timestamp,
    seed: u64,
    events: usize,
    namespaces: Vec<String>,
    dialers: Option<Arc<dyn Dialers>>,
    plugins: Option<Arc<dyn AdmissionPlugins>>,
    switches: Switches,
    issuance: Issuance,
    authentication: Authentication,
    front_proxy: FrontProxy,
    advertised: SocketAddr,
    authority: authority::LazyAuthority,
    upstream: Option<Arc<dyn Upstream>>,
    delegate: Option<Arc<dyn Delegate>>,
    version: Option<Value>,
    metrics: Option<ServerMetrics>,
}

/// The time between the bookmarks of a watch, as kube-apiserver has it.
const BOOKMARK_PERIOD: Duration = Duration::from_mins(1);
/// The default start time of the server's clock.
const EPOCH: &str = "2026-01-01T00:00:00Z";

impl Default for Builder {
    /// Kubernetes' built-in kinds, a clock that starts at the beginning of 2026, and the namespaces of a fresh cluster.
    fn default() -> Self {
        let namespaces = ["default", "kube-node-lease", "kube-public", "kube-system"];
        Self {
            kinds: Kinds::kubernetes().clone(),
            typed_kinds: Vec::new(),
            crds: Vec::new(),
            epoch: EPOCH.parse().expect("a constant"),
            seed: 0,
            events: 10_000,
            namespaces: namespaces.map(str::to_owned).to_vec(),
            dialers: None,
            plugins: None,
            switches: Switches {
                controllers: Controllers { namespaces: true, ..Controllers::none() },
                authorization: Authorization::AlwaysAllow,
                post_start_hooks: false,
                service_account_admission: false,
                typed_rules: TypedRules::All,
                max_expiration: None,
                bookmark_period: BOOKMARK_PERIOD,
            },
            issuance: Issuance::default(),
            authentication: Authentication::default(),
            front_proxy: FrontProxy::default(),
            advertised: post_start_hooks::ADVERTISED,
            authority: authority::LazyAuthority::default(),
            upstream: None,
            delegate: None,
            version: None,
            metrics: None,
        }
    }
}

impl ApiServer {
    /// A builder with default settings.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl Builder {
    /// Serves the API of this version of Kubernetes (default: 1.36).
    pub fn kubernetes(self, version: KubernetesVersion) -> Self {
        if version == self.kinds.version() { self } else { self.kinds(Kinds::of(version)) }
    }

    /// Serves these built-in kinds.
    pub fn kinds(mut self, kinds: Kinds) -> Self {
        self.kinds = kinds;
        self
    }

    /// Serves these kinds as an aggregated API server does: decoded as Go types, prepared and validated by their
    /// strategies. CRDs of the same groups are stored, and not served.
    pub fn typed_kinds(mut self, kinds: impl IntoIterator<Item = (TypedKind, &'static Strategy)>) -> Self {
        self.typed_kinds.extend(kinds);
        self
    }

    /// The admission plugins of the typed kinds, which are asked before the webhooks of each phase (default: none).
    pub fn admission(mut self, plugins: Arc<dyn AdmissionPlugins>) -> Self {
        self.plugins = Some(plugins);
        self
    }

    /// Which rules of typed kinds apply to requests that do not say it; all by default.
    pub fn typed_rules(mut self, rules: TypedRules) -> Self {
        self.switches.typed_rules = rules;
        self
    }

    /// How long credentials that subresources of typed kinds grant are valid at most; by default each subresource has a limit of
    /// its own.
    pub fn max_expiration(mut self, longest: Duration) -> Self {
        self.switches.max_expiration = Some(longest);
        self
    }

    /// Serves the kinds of these CRDs, and stores the CRDs as objects.
    pub fn crds(mut self, crds: impl IntoIterator<Item = Crd>) -> Self {
        self.crds.extend(crds);
        self
    }

    /// The wall time at the start; it advances with tokio's clock.
    pub fn epoch(mut self, epoch: Timestamp) -> Self {
        self.epoch = epoch;
        self
    }

    /// The seed of uids and generated names.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How many events of each resource are kept for watches and pages; older revisions answer 410.
    pub fn events(mut self, kept: usize) -> Self {
        self.events = kept;
        self
    }

    /// Adds a namespace that exists from the start.
    pub fn namespace(mut self, name: impl Into<String>) -> Self {
        self.namespaces.push(name.into());
        self
    }

    /// How the server connects to webhooks; without it, every webhook call fails.
    pub fn dialers(mut self, dialers: Arc<dyn Dialers>) -> Self {
        self.dialers = Some(dialers);
        self
    }

    /// Which controllers run beside the server; by default only the namespace controller.
    pub fn controllers(mut self, controllers: Controllers) -> Self {
        self.switches.controllers = controllers;
        self
    }

    /// Whether the namespace controller empties and removes deleted namespaces (default). If not, they keep their
    /// finalizers, as where no kube-controller-manager runs.
    pub fn namespace_controller(mut self, on: bool) -> Self {
        self.switches.controllers.namespaces = on;
        self
    }

    /// The certificate authority; by default the server generates one.
    pub fn authority(mut self, pair: KeyPair) -> Self {
        self.authority = authority::LazyAuthority::given(pair);
        self
    }

    /// The authorization mode: everybody may do everything (default), or RBAC.
    pub fn authorization(mut self, authorization: Authorization) -> Self {
        self.switches.authorization = authorization;
        self
    }

    /// The issuer of the tokens of service accounts.
    pub fn issuer(self, issuer: impl Into<String>) -> Self {
        self.issuers([issuer.into()])
    }

    /// The issuer of the tokens of service accounts, then further ones whose tokens are accepted
    /// (`--service-account-issuer`, repeated).
    pub fn issuers(mut self, issuers: impl IntoIterator<Item = String>) -> Self {
        self.issuance.issuers = issuers.into_iter().collect();
        self
    }

    /// The key that signs the tokens of service accounts; by default the server generates one.
    pub fn signing_key(mut self, key: SigningKey) -> Self {
        self.issuance.signing = Some(key);
        self
    }

    /// The keys that verify the tokens of service accounts; by default the signing key's public half.
    pub fn verifying_keys(mut self, keys: impl IntoIterator<Item = VerifyingKey>) -> Self {
        self.issuance.verifying.extend(keys);
        self
    }

    /// How clients authenticate over TLS, besides with tokens.
    pub fn authentication(mut self, authentication: Authentication) -> Self {
        self.authentication = authentication;
        self
    }

    /// The client certificate for other API servers (`--proxy-client-cert-file`), or none; by default the server
    /// generates one.
    pub fn front_proxy(mut self, certificate: Option<KeyPair>) -> Self {
        self.front_proxy = FrontProxy::given(certificate);
        self
    }

    /// The audiences that the server accepts, and those of tokens that request none (`--api-audiences`); by default the
    /// issuers.
    pub fn audiences(mut self, audiences: impl IntoIterator<Item = String>) -> Self {
        self.issuance.audiences = audiences.into_iter().collect();
        self
    }

    /// Whether the server starts with all objects that kube-apiserver writes when it starts, beside namespaces and
    /// roles: the Service `kubernetes` with its endpoints, priority classes, APIServices, and the ConfigMap
    /// `kube-system/extension-apiserver-authentication`. It then also keeps an APIService for each version of a CRD,
    /// and presents the front proxy's client certificate to other API servers. Off by default.
    pub fn post_start_hooks(mut self, on: bool) -> Self {
        self.switches.post_start_hooks = on;
        self
    }

    /// Whether the admission plugin `ServiceAccount` is on: a new pod needs a service account that exists, and gets its
    /// token. Off by default, as no controller creates the account `default`.
    pub fn service_account_admission(mut self, on: bool) -> Self {
        self.switches.service_account_admission = on;
        self
    }

    /// The address that these objects give for the server; it need not be true. For a loopback address the server
    /// writes no endpoints.
    pub fn advertised(mut self, address: SocketAddr) -> Self {
        self.advertised = address;
        self
    }

    /// Forwards every request to another server, and keeps only faults and the request log: it stores no objects, and
    /// its revision means nothing.
    pub fn upstream(mut self, upstream: Arc<dyn Upstream>) -> Self {
        self.upstream = Some(upstream);
        self
    }

    /// Serves the typed kinds alone, as an aggregated API server does behind the one that this delegate asks: that one knows
    /// users and permissions, and stores namespaces and all other objects, of which [`ApiServer::keep_copy`] gives this
    /// server copies. It starts without objects and without controllers.
    pub fn behind(mut self, delegate: Arc<dyn Delegate>) -> Self {
        self.delegate = Some(delegate);
        self.namespaces.clear();
        self.switches.controllers = Controllers::none();
        self
    }

    /// What `/version` answers, in place of the version of Kubernetes.
    pub fn version(mut self, version: Value) -> Self {
        self.version = Some(version);
        self
    }

    /// The time between the bookmarks of a watch, by default a minute.
    pub fn bookmark_period(mut self, period: Duration) -> Self {
        self.switches.bookmark_period = period;
        self
    }

    /// Serves `/metrics`, in Prometheus' text format: counts and durations of requests, and what `further` measures at each scrape.
    /// Without it, the path is not served, and nothing is measured.
    pub fn metrics(mut self, further: impl Fn() -> Vec<Family> + Send + Sync + 'static) -> Self {
        self.metrics = Some(ServerMetrics::new(Arc::new(further)));
        self
    }

    /// Starts the server.
    #[must_use]
    pub fn build(self) -> ApiServer {
        let clock = Clock::starting_at(self.epoch);
        let registry = Registry::new(&self.kinds, &self.typed_kinds, &self.crds);
        let shared = ServerState {
            store: Store::new(self.events),
            registry: if self.delegate.is_some() { registry.only_typed() } else { registry },
            faults: Faults::new(clock.clone()),
            front_proxy: self.front_proxy,
            availability_checker: AvailabilityChecker::default(),
            tokens: Tokens::new(self.issuance),
            rbac: RulesCache::default(),
            authentication: self.authentication,
            authority: self.authority,
            progress: Progress::default(),
            clock,
            ids: Ids::seeded(self.seed),
            log: Log::default(),
            switches: self.switches,
            dialers: self.dialers,
            webhooks: WebhookCache::default(),
            plugins: self.plugins,
            pool: Pool::default(),
            delegate: self.delegate,
            version: self.version,
            metrics: self.metrics.map(Arc::new),
            upstream: self.upstream.map(UpstreamProxy::to),
        };
        seed::write(&shared, &self.namespaces, &self.crds, self.advertised);
        ApiServer::new(shared)
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder")
            .field("epoch", &self.epoch)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
