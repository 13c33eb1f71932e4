//! How a server is made: kinds, CRDs, clock, webhooks, and switches.

use std::net::SocketAddr;
use std::sync::Arc;

use jiff::Timestamp;
use schema::{Crd, Kinds};
use webhook::dial::Dialers;

use crate::access::authentication::Authentication;
use crate::access::tokens::{Issuance, SigningKey, Tokens, VerifyingKey};
use crate::aggregation::Checking;
use crate::aggregation::front_proxy::FrontProxy;
use crate::authority::{self, KeyPair};
use crate::clock::Clock;
use crate::faults::Faults;
use crate::hooks::Hooks;
use crate::http::upstream::{Door, Upstream};
use crate::ids::Ids;
use crate::log::Log;
use crate::object::allocation::Pool;
use crate::progress::Progress;
use crate::registry::Registry;
use crate::seed;
use crate::seed::post_start_hooks;
use crate::server::ApiServer;
use crate::state::{Authorization, Controllers, Shared, Switches};
use crate::store::Store;

/// Makes an [`ApiServer`].
#[must_use]
pub struct Builder {
    kinds: Kinds,
    crds: Vec<Crd>,
    epoch: Timestamp,
    seed: u64,
    events: usize,
    namespaces: Vec<String>,
    dialers: Option<Arc<dyn Dialers>>,
    switches: Switches,
    issuance: Issuance,
    authentication: Authentication,
    front_proxy: FrontProxy,
    advertised: SocketAddr,
    authority: authority::Lazy,
    upstream: Option<Arc<dyn Upstream>>,
}

/// The time when a server starts that is not told another one.
const EPOCH: &str = "2026-01-01T00:00:00Z";

impl Default for Builder {
    /// Kubernetes' own kinds, started at the beginning of 2026, with the namespaces of a fresh cluster.
    fn default() -> Self {
        let namespaces = ["default", "kube-node-lease", "kube-public", "kube-system"];
        Self {
            kinds: Kinds::kubernetes().clone(),
            crds: Vec::new(),
            epoch: EPOCH.parse().expect("a constant"),
            seed: 0,
            events: 10_000,
            namespaces: namespaces.map(str::to_owned).to_vec(),
            dialers: None,
            switches: Switches {
                controllers: Controllers { namespaces: true, ..Controllers::none() },
                authorization: Authorization::AlwaysAllow,
                post_start_hooks: false,
                service_account_admission: false,
            },
            issuance: Issuance::default(),
            authentication: Authentication::default(),
            front_proxy: FrontProxy::default(),
            advertised: post_start_hooks::ADVERTISED,
            authority: authority::Lazy::default(),
            upstream: None,
        }
    }
}

impl ApiServer {
    /// How a server is made.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl Builder {
    /// Serves these built-in kinds.
    pub fn kinds(mut self, kinds: Kinds) -> Self {
        self.kinds = kinds;
        self
    }

    /// Serves the kinds of these CRDs, which are there as objects too.
    pub fn crds(mut self, crds: impl IntoIterator<Item = Crd>) -> Self {
        self.crds.extend(crds);
        self
    }

    /// The wall time at the start; it goes on with tokio's clock.
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

    /// One more namespace that is there at the start.
    pub fn namespace(mut self, name: impl Into<String>) -> Self {
        self.namespaces.push(name.into());
        self
    }

    /// How webhooks are reached; without it, every call of a webhook fails.
    pub fn dialers(mut self, dialers: Arc<dyn Dialers>) -> Self {
        self.dialers = Some(dialers);
        self
    }

    /// Which controllers run beside the server; without a word, that of namespaces alone.
    pub fn controllers(mut self, controllers: Controllers) -> Self {
        self.switches.controllers = controllers;
        self
    }

    /// Whether a deleted namespace loses its content and goes (default), or waits for its finalizers as where no
    /// kube-controller-manager runs.
    pub fn namespace_controller(mut self, on: bool) -> Self {
        self.switches.controllers.namespaces = on;
        self
    }

    /// The authority that signs; one of the server's own where none is given.
    pub fn authority(mut self, pair: KeyPair) -> Self {
        self.authority = authority::Lazy::given(pair);
        self
    }

    /// Who may do what: everybody everything (default), or as roles and their bindings say.
    pub fn authorization(mut self, authorization: Authorization) -> Self {
        self.switches.authorization = authorization;
        self
    }

    /// The issuer of the tokens of service accounts.
    pub fn issuer(self, issuer: impl Into<String>) -> Self {
        self.issuers([issuer.into()])
    }

    /// The issuer of the tokens of service accounts, and further ones whose tokens are accepted
    /// (`--service-account-issuer`, repeated).
    pub fn issuers(mut self, issuers: impl IntoIterator<Item = String>) -> Self {
        self.issuance.issuers = issuers.into_iter().collect();
        self
    }

    /// The key that signs the tokens of service accounts; one of the server's own where none is given.
    pub fn signing_key(mut self, key: SigningKey) -> Self {
        self.issuance.signing = Some(key);
        self
    }

    /// The keys that verify the tokens of service accounts; the signing key's public half where none are given.
    pub fn verifying_keys(mut self, keys: impl IntoIterator<Item = VerifyingKey>) -> Self {
        self.issuance.verifying.extend(keys);
        self
    }

    /// Whom the front door accepts beside the holders of tokens.
    pub fn authentication(mut self, authentication: Authentication) -> Self {
        self.authentication = authentication;
        self
    }

    /// The certificate that other API servers are shown (`--proxy-client-cert-file`); none if absent. Without this call, the
    /// server makes one of its own.
    pub fn front_proxy(mut self, certificate: Option<KeyPair>) -> Self {
        self.front_proxy = FrontProxy::given(certificate);
        self
    }

    /// The audiences that the server answers to, which are those of tokens that name none too (`--api-audiences`); the
    /// issuers where none are given.
    pub fn audiences(mut self, audiences: impl IntoIterator<Item = String>) -> Self {
        self.issuance.audiences = audiences.into_iter().collect();
        self
    }

    /// Whether the server begins with all that a kube-apiserver writes when it starts, beside namespaces and roles: the
    /// Service `kubernetes` with its endpoints, priorities, APIServices, how it is asked for others (`kube-system`'s
    /// ConfigMap `extension-apiserver-authentication`). It then keeps an APIService for each version of a group that a CRD
    /// brings, and shows other API servers the front proxy's certificate. Off unless asked for.
    pub fn post_start_hooks(mut self, on: bool) -> Self {
        self.switches.post_start_hooks = on;
        self
    }

    /// Whether the admission plugin `ServiceAccount` is on: new pods need a service account that exists, and get its token.
    /// Off unless this is called, as no controller makes the account `default`.
    pub fn service_account_admission(mut self, on: bool) -> Self {
        self.switches.service_account_admission = on;
        self
    }

    /// Where these objects say that the server is, which need not be true; no endpoints are written for loopback.
    pub fn advertised(mut self, address: SocketAddr) -> Self {
        self.advertised = address;
        self
    }

    /// Hands every request on to another server and keeps faults and the request log alone: it holds no objects, and its
    /// revision tells nothing.
    pub fn upstream(mut self, upstream: Arc<dyn Upstream>) -> Self {
        self.upstream = Some(upstream);
        self
    }

    /// Starts the server.
    #[must_use]
    pub fn build(self) -> ApiServer {
        let clock = Clock::starting_at(self.epoch);
        let shared = Shared {
            store: Store::new(self.events),
            registry: Registry::new(&self.kinds, &self.crds),
            faults: Faults::new(clock.clone()),
            front_proxy: self.front_proxy,
            checking: Checking::default(),
            tokens: Tokens::new(self.issuance),
            authentication: self.authentication,
            authority: self.authority,
            progress: Progress::default(),
            clock,
            ids: Ids::seeded(self.seed),
            log: Log::default(),
            switches: self.switches,
            dialers: self.dialers,
            hooks: Hooks::default(),
            pool: Pool::default(),
            door: self.upstream.map(Door::to),
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
