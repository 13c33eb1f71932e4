//! Selectors for namespaces and objects.

use std::collections::BTreeMap;

use api::gardener::{PURPOSE, PURPOSE_KUBE_SYSTEM, PURPOSE_KUBERNETES_DASHBOARD};
use api::kubernetes::APP;
use api::resources::{MANAGED_BY, MANAGED_BY_GARDENER};
use formats::selector::{LabelSelector, Operator, Requirement};

use super::Instance;

/// Selectors that depend on the cluster that an instance serves.
pub(super) struct Selectors<'a> {
    pub(super) instance: Instance,
    /// Value of the label `app` of the instance's own Pods.
    pub(super) app: &'a str,
}

impl Selectors<'_> {
    /// In a shoot the system namespaces, in a seed all others.
    pub(super) fn namespaces(&self) -> LabelSelector {
        let purposes = &[PURPOSE_KUBE_SYSTEM, PURPOSE_KUBERNETES_DASHBOARD];
        select([match self.instance {
            Instance::Seed => not_in(PURPOSE, purposes),
            Instance::Shoot => requirement(PURPOSE, Operator::In, purposes),
        }])
    }

    /// In a shoot objects that Gardener manages, in a seed all objects; combined with `requirements`.
    pub(super) fn managed<const N: usize>(&self, requirements: [Requirement; N]) -> LabelSelector {
        let mut selector = select(requirements);
        if self.instance == Instance::Shoot {
            selector.match_labels.insert(MANAGED_BY.to_owned(), MANAGED_BY_GARDENER.to_owned());
        }
        selector
    }

    /// All but the instance's own Pods, which would otherwise wait for themselves to start.
    pub(super) fn others(&self) -> Requirement {
        not_in(APP, &[self.app])
    }
}

/// Selects objects that meet all requirements.
pub(super) fn select<const N: usize>(requirements: [Requirement; N]) -> LabelSelector {
    LabelSelector { match_labels: BTreeMap::new(), match_expressions: requirements.into() }
}

/// Selects objects with the label.
pub(super) fn labelled(key: &str, value: &str) -> LabelSelector {
    let match_labels = BTreeMap::from([(key.to_owned(), value.to_owned())]);
    LabelSelector { match_labels, match_expressions: Vec::new() }
}

/// Requires that the label is absent.
pub(super) fn without(key: &str) -> Requirement {
    requirement(key, Operator::DoesNotExist, &[])
}

/// Requires that the label is absent or has none of the values.
pub(super) fn not_in(key: &str, values: &[&str]) -> Requirement {
    requirement(key, Operator::NotIn, values)
}

fn requirement(key: &str, operator: Operator, values: &[&str]) -> Requirement {
    let values = values.iter().map(|value| (*value).to_owned()).collect();
    Requirement { key: key.to_owned(), operator, values }
}
