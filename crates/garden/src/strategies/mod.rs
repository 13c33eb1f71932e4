//! The garden's kinds as gardener-apiserver serves them, as values for an API server: names, subresources, patch keys,
//! fields of selectors, columns, and the strategy of each kind. Defaults and validation are those of [`crate::webhooks`].
//!
//! Admission plugins are [`crate::admission::Chain`], which the builder takes beside the kinds. Without it, the strategies have
//! what webhooks have of them, and the rules for binding a Shoot to a Seed.

mod admin_kubeconfig;
mod backup_bucket;
mod backup_entry;
mod bastion;
mod cloud_profile;
mod cluster_open_id_connect_preset;
mod columns;
mod controller_deployment;
mod controller_installation;
mod controller_registration;
mod exposure_class;
pub(crate) mod generation;
mod internal_secret;
mod managed_seed;
mod managed_seed_set;
mod managed_seed_set_status;
mod open_id_connect_preset;
mod project;
mod quota;
mod secret_binding;
mod seed;
mod shoot;
mod shoot_columns;
mod shoot_generation;
mod shoot_scheduling;
mod shoot_state;
mod shoot_status;
mod shoot_warnings;

use schema::{TypedKind, TypedKindDetails};
use webhook::strategy::Strategy;

/// A kind that gardener-apiserver serves.
struct GardenKind {
    /// The name of the CRD that describes its fields.
    crd: &'static str,
    /// What the CRD does not say.
    details: TypedKindDetails,
    strategy: &'static Strategy,
}

const CORE: TypedKindDetails = TypedKindDetails {
    package: "com.github.gardener.gardener.pkg.apis.core.v1beta1",
    merged_lists: &[],
    selectable: &[],
    categories: &[],
    subresources: &[],
    posted: &[],
    priorities: (10_000, 20),
    storage_root: "/registry-gardener",
};
const SEED_MANAGEMENT: TypedKindDetails =
    TypedKindDetails { package: "com.github.gardener.gardener.pkg.apis.seedmanagement.v1alpha1", ..CORE };
const OPERATIONS: TypedKindDetails = TypedKindDetails {
    package: "com.github.gardener.gardener.pkg.apis.operations.v1alpha1",
    priorities: (10, 10),
    ..CORE
};
const SETTINGS: TypedKindDetails = TypedKindDetails {
    package: "com.github.gardener.gardener.pkg.apis.settings.v1alpha1",
    categories: ALL,
    priorities: (10, 10),
    ..CORE
};
const ALL: &[&str] = &["all"];

static KINDS: [&GardenKind; 19] = [
    &backup_bucket::KIND,
    &backup_entry::KIND,
    &bastion::KIND,
    &cloud_profile::KIND,
    &cluster_open_id_connect_preset::KIND,
    &controller_deployment::KIND,
    &controller_installation::KIND,
    &controller_registration::KIND,
    &exposure_class::KIND,
    &internal_secret::KIND,
    &managed_seed::KIND,
    &managed_seed_set::KIND,
    &open_id_connect_preset::KIND,
    &project::KIND,
    &quota::KIND,
    &secret_binding::KIND,
    &seed::KIND,
    &shoot::KIND,
    &shoot_state::KIND,
];

/// All kinds with their strategies, for the builder of an API server.
#[must_use]
pub fn typed_kinds() -> Vec<(TypedKind, &'static Strategy)> {
    KINDS.iter().map(|kind| (kind.typed(), kind.strategy)).collect()
}

impl GardenKind {
    fn typed(&self) -> TypedKind {
        let crd = schema::crds().iter().find(|crd| crd.name() == self.crd);
        let version = |crd: &schema::Crd| crd.resources().first().map(|resource| resource.version.clone());
        let made = crd.and_then(|crd| Some(TypedKind::new(crd, &version(crd)?, &self.details)));
        made.expect("a test names each CRD").expect("a test makes each kind")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_names_subresources_and_fields_of_the_original() {
        let lines: Vec<String> = typed_kinds()
            .iter()
            .map(|(kind, strategy)| {
                let resource = kind.resource();
                let scope = if resource.namespaced { "namespaced" } else { "cluster" };
                let below: Vec<&str> =
                    resource.subresources.iter().map(|below| below.name.as_str()).collect();
                let fields: Vec<String> = kind.selectable_fields().into_iter().skip(1).collect();
                let update = if strategy.allows_unconditional_update { "unconditional" } else { "" };
                let generation = if strategy.has_generation { "generation" } else { "" };
                let (below, fields) = (below.join(","), fields.join(","));
                let (short, category) = (resource.short_names.join(","), resource.categories.join(","));
                let api = format!("{} {}", resource.api_version(), resource.plural);
                format!("{api} {scope} [{below}] [{short}] [{category}] [{fields}] {update} {generation}")
            })
            .collect();
        let want = include_str!("kinds.txt");
        assert_eq!(lines, want.lines().collect::<Vec<_>>());
    }
}
