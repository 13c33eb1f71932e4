//! Selects the requests that a fault applies to.

use crate::access::attributes::{Attributes, RequestInfo};
use crate::call::Verb;

/// Conditions on a request; those that are absent or empty match every request. Non-resource requests match only if
/// `paths` is set.
///
/// ```
/// use apiserver::{Matching, Verb};
/// let writes = Matching { verbs: vec![Verb::Create, Verb::Update], ..Matching::resource("apps", "deployments") };
/// assert_eq!(writes.resource.as_deref(), Some("deployments"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matching {
    /// Name of the user.
    pub user: Option<String>,
    /// One of these verbs.
    pub verbs: Vec<Verb>,
    /// API group; the core group's is empty.
    pub group: Option<String>,
    /// Plural name.
    pub resource: Option<String>,
    /// `status`; the object itself has an empty one.
    pub subresource: Option<String>,
    /// Namespace; cluster-scoped objects have an empty one.
    pub namespace: Option<String>,
    /// Name of the object as the path has it; a collection has an empty one.
    pub name: Option<String>,
    /// Whether non-resource requests, such as discovery, match too; only the user is compared for them.
    pub paths: bool,
}

impl Matching {
    /// Matches every request for this resource.
    #[must_use]
    pub fn resource(group: &str, resource: &str) -> Self {
        Self { group: Some(group.to_owned()), resource: Some(resource.to_owned()), ..Self::default() }
    }

    /// Restricts the match to these verbs.
    #[must_use]
    pub fn verbs(self, verbs: impl Into<Vec<Verb>>) -> Self {
        Self { verbs: verbs.into(), ..self }
    }

    pub(super) fn matches(&self, request: &Attributes) -> bool {
        let RequestInfo::Resource { verb, path, .. } = &request.info else {
            return self.paths && self.user.as_ref().is_none_or(|user| *user == request.user.name);
        };
        let texts = [
            (&self.user, &request.user.name),
            (&self.group, &path.group),
            (&self.resource, &path.resource),
            (&self.subresource, &path.subresource),
            (&self.namespace, &path.namespace),
            (&self.name, &path.name),
        ];
        (self.verbs.is_empty() || self.verbs.contains(verb))
            && texts.into_iter().all(|(wanted, found)| wanted.as_ref().is_none_or(|wanted| wanted == found))
    }
}
