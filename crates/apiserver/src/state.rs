//! What the requests share: the store, the kinds served, and what is made up for them. Knows no request.

use std::sync::Arc;

use webhook::dial::Dialers;

use crate::access::authentication::Authentication;
use crate::access::tokens::Tokens;
use crate::aggregation::Checking;
use crate::aggregation::front_proxy::FrontProxy;
use crate::authority;
use crate::clock::Clock;
use crate::faults::Faults;
use crate::hooks::Hooks;
use crate::http::upstream::Door;
use crate::ids::Ids;
use crate::log::Log;
use crate::object::allocation::Pool;
use crate::progress::Progress;
use crate::registry::Registry;
use crate::store::Store;

/// Who may do what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authorization {
    /// Everybody may do everything.
    #[default]
    AlwaysAllow,
    /// What roles say that are bound to somebody; `system:masters` may do everything.
    Rbac,
}

/// Which controllers run beside the server, as in kube-controller-manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each controller is there or not")]
pub struct Controllers {
    /// A deleted namespace loses its content, says what is left, and goes.
    pub namespaces: bool,
    /// What belongs to nobody that is there goes; foreground deletion and orphaning come to an end.
    pub garbage_collector: bool,
    /// Every namespace has the service account `default`.
    pub service_accounts: bool,
    /// Every namespace has the config map `kube-root-ca.crt`.
    pub root_ca: bool,
    /// Secrets of type `kubernetes.io/service-account-token` are filled, and go with their account.
    pub token_secrets: bool,
    /// Cluster roles with an aggregation rule hold the rules of those that it selects.
    pub aggregated_roles: bool,
    /// Approved certificate signing requests for Kubernetes' own signers are signed.
    pub signing: bool,
}

impl Controllers {
    /// None: a control plane alone, as envtest has it.
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

    /// All of them: a cluster.
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

/// What the server does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switches {
    /// What runs beside it.
    pub(crate) controllers: Controllers,
    /// Who may do what.
    pub(crate) authorization: Authorization,
    /// Whether it writes what kube-apiserver writes when it starts, and shows others a certificate.
    pub(crate) post_start_hooks: bool,
    /// Whether the admission plugin `ServiceAccount` is on.
    pub(crate) service_account_admission: bool,
}

/// What the requests share.
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) registry: Registry,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
    pub(crate) log: Log,
    pub(crate) switches: Switches,
    pub(crate) dialers: Option<Arc<dyn Dialers>>,
    pub(crate) hooks: Hooks,
    pub(crate) pool: Pool,
    pub(crate) faults: Faults,
    pub(crate) authority: authority::Lazy,
    pub(crate) progress: Progress,
    pub(crate) front_proxy: FrontProxy,
    pub(crate) checking: Checking,
    pub(crate) tokens: Tokens,
    /// Whom the front door accepts.
    pub(crate) authentication: Authentication,
    /// The server that holds the objects, where this one does not.
    pub(crate) door: Option<Door>,
}

impl Shared {
    /// What another server begins with that holds the same.
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
            hooks: Hooks::default(),
            pool: Pool::default(),
            // What was written at the start names it.
            authority: if self.switches.post_start_hooks {
                self.authority.clone()
            } else {
                self.authority.anew()
            },
            progress: Progress::default(),
            front_proxy: self.front_proxy.clone(),
            checking: self.checking.anew(),
            tokens: self.tokens.anew(),
            authentication: self.authentication.clone(),
            door: self.door.as_ref().map(Door::anew),
        }
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("revision", &self.store.revision()).finish_non_exhaustive()
    }
}
