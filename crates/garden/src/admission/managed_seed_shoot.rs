//! ManagedSeedShoot: a ManagedSeed stays while Shoots use its Seed.

use schema::admission_plugins;
use serde_json::Value;
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::lookup::{MANAGED_SEEDS, is_seed_used};
use super::{Attributes, Plugin, Validate, messages};

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::MANAGED_SEED_SHOOT,
    is_on_by_default: true,
    admit: None,
    validate: Some(Validate::Plain(validate)),
};

/// GPL-MSSHOOT-001. A deletion of a collection asks about the ManagedSeeds of all namespaces: GPL-MSSHOOT-002.
fn validate(attributes: &Attributes<'_>, _: Option<&Value>) -> Result<(), Rejection> {
    if (attributes.kind, attributes.operation) != ("ManagedSeed", Operation::Delete)
        || !attributes.subresource.is_empty()
    {
        return Ok(());
    }
    if !attributes.name.is_empty() {
        return unused(attributes);
    }
    let seeds = attributes.objects.list(MANAGED_SEEDS);
    let mut names = seeds.iter().filter_map(|seed| seed["metadata"]["name"].as_str());
    names.try_for_each(|name| unused(&Attributes { name, ..*attributes }))
}

fn unused(attributes: &Attributes<'_>) -> Result<(), Rejection> {
    let Attributes { namespace, name, .. } = *attributes;
    if !is_seed_used(attributes.objects, name) {
        return Ok(());
    }
    let why = format!(
        "cannot delete managed seed {namespace}/{name} since its seed {name} is still used by shoot(s)"
    );
    Err(messages::forbidden(attributes, None, why))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::lookup::SHOOTS;
    use crate::admission::testing::TestGarden;

    #[rstest]
    #[case("garden", "used", Some("garden/used"))]
    #[case("garden", "free", None)]
    #[case::any_namespace_blocks_a_collection("other", "", Some("other/used"))]
    fn a_managed_seed_stays_while_its_seed_is_used(
        #[case] namespace: &str,
        #[case] name: &str,
        #[case] want: Option<&str>,
    ) {
        let seed = |name: &str| json!({"metadata": {"name": name, "namespace": "garden"}});
        let shoot = json!({"metadata": {"name": "app", "namespace": "n"}, "status": {"seedName": "used"}});
        let garden = TestGarden::default()
            .with(MANAGED_SEEDS, seed("free"))
            .with(MANAGED_SEEDS, seed("used"))
            .with(SHOOTS, shoot);
        let old = seed(name);
        let asked = garden.attributes(Operation::Delete, "ManagedSeed", &old);
        let refused = validate(&Attributes { namespace, name, ..asked }, None).err();
        let want = want.map(|of| {
            format!(
                "managedseeds.seedmanagement.gardener.cloud \"used\" is forbidden: cannot delete managed seed {of} since its seed \
             used is still used by shoot(s)"
            )
        });
        assert_eq!(refused.map(|rejection| rejection.message), want);
    }
}
