//! The rules of users as long as no role and no binding changes: to collect them costs several times a request.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::rbac::{CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES, UserRules};
use crate::call::User;
use crate::store::Store;

/// What rules are made of.
const TABLES: [&str; 4] = [CLUSTER_ROLES, ROLES, CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS];
/// How many results are kept; when there are more, all are dropped.
const CAPACITY: usize = 1024;

/// The rules that users have in namespaces.
#[derive(Debug, Default)]
pub(crate) struct RulesCache(Mutex<CachedRules>);

#[derive(Debug, Default)]
struct CachedRules {
    /// The last changes of roles and bindings, for which the rules hold.
    revisions: [u64; 4],
    rules: BTreeMap<UserInNamespace, Arc<UserRules>>,
}

/// What the rules depend on: the user's name and groups, and a namespace.
type UserInNamespace = (String, Vec<String>, String);

impl RulesCache {
    /// The rules of a user in a namespace; `collect` reads them from the store.
    pub(super) fn rules(
        &self,
        store: &Store,
        user: &User,
        namespace: &str,
        collect: impl FnOnce() -> UserRules,
    ) -> Arc<UserRules> {
        let revisions = store.last_changes(TABLES);
        let subject = (user.name.clone(), user.groups.clone(), namespace.to_owned());
        {
            let mut cached = self.0.lock();
            if cached.revisions != revisions || cached.rules.len() >= CAPACITY {
                *cached = CachedRules { revisions, rules: BTreeMap::new() };
            } else if let Some(rules) = cached.rules.get(&subject) {
                return Arc::clone(rules);
            }
        }
        let rules = Arc::new(collect());
        let mut cached = self.0.lock();
        // A change in the meantime may or may not be part of the result.
        if cached.revisions == revisions && store.last_changes(TABLES) == revisions {
            cached.rules.insert(subject, Arc::clone(&rules));
        }
        rules
    }
}
