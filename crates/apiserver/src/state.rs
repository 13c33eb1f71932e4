//! What the requests share: the store, the kinds served, and what is made up for them. Knows no request.

use std::sync::Arc;

use webhook::dial::Dialers;

use crate::clock::Clock;
use crate::faults::Faults;
use crate::hooks::Hooks;
use crate::ids::Ids;
use crate::log::Log;
use crate::registry::Registry;
use crate::store::Store;
use crate::tokens::Tokens;

/// Who may do what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authorization {
    /// Everybody may do everything.
    #[default]
    AlwaysAllow,
    /// What roles say that are bound to somebody; `system:masters` may do everything.
    Rbac,
}

/// What the server does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switches {
    /// Whether a deleted namespace loses its content and goes, as with kube-controller-manager.
    pub(crate) namespace_controller: bool,
    /// Who may do what.
    pub(crate) authorization: Authorization,
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
    pub(crate) faults: Faults,
    pub(crate) tokens: Tokens,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("revision", &self.store.revision()).finish_non_exhaustive()
    }
}
