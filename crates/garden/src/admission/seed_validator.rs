//! SeedValidator: a Seed that Shoots use keeps its zones, and stays.

use std::collections::BTreeSet;

use schema::admission_plugins;
use serde_json::Value;
use webhook::rejection::Rejection;
use webhook::review::Operation;
use webhook::strategy::ObjectReader;

use super::lookup::{is_seed_used, zones};
use super::{Attributes, Plugin, Validate, messages};

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::SEED_VALIDATOR,
    is_on_by_default: true,
    admit: None,
    validate: Some(Validate::Plain(validate)),
};

/// GPL-SEEDVAL-001 to -003. A deletion of a collection names no Seed, so that nothing is asked.
fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> Result<(), Rejection> {
    if attributes.kind != "Seed" || !attributes.subresource.is_empty() {
        return Ok(());
    }
    let name = attributes.name;
    match attributes.operation {
        Operation::Update => {
            let convert = |what: &str| {
                messages::internal(format!("failed to convert {what} resource into Seed object"))
            };
            let old = attributes.old.ok_or_else(|| convert("old"))?;
            let new = object.ok_or_else(|| convert("new"))?;
            match removed_zones(attributes.objects, (&old["spec"], &new["spec"]), name)? {
                zones if zones.is_empty() => Ok(()),
                zones => {
                    let zones = zones.into_iter().collect::<Vec<_>>().join(" ");
                    // The original names the kind where the resource is expected.
                    let why = format!(
                        "cannot remove zones [{zones}] from Seed {name} as there are Shoots scheduled to this Seed"
                    );
                    Err(messages::forbidden_for("Seed.core.gardener.cloud", name, why))
                }
            }
        }
        Operation::Delete if !name.is_empty() && is_seed_used(attributes.objects, name) => {
            let why = format!("cannot delete seed {name} since it is still used by shoot(s)");
            Err(messages::forbidden(attributes, None, why))
        }
        _ => Ok(()),
    }
}

/// The zones that a Seed loses although Shoots use it.
///
/// # Errors
/// 400 when zones are no list.
pub(super) fn removed_zones(
    objects: &dyn ObjectReader,
    (old, new): (&Value, &Value),
    seed: &str,
) -> Result<BTreeSet<String>, Rejection> {
    let removed = &zones(old)? - &zones(new)?;
    if removed.is_empty() || is_seed_used(objects, seed) { Ok(removed) } else { Ok(BTreeSet::new()) }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::lookup::SHOOTS;
    use crate::admission::testing::TestGarden;

    fn seed(zones: &[&str]) -> Value {
        json!({"metadata": {"name": "s"}, "spec": {"provider": {"zones": zones}}})
    }

    fn garden(used: &str) -> TestGarden {
        let shoot = json!({"metadata": {"name": "app", "namespace": "n"}, "spec": {"seedName": used}});
        TestGarden::default().with(SHOOTS, shoot)
    }

    #[rstest]
    #[case("s", &["a", "b"], &["b"],
        Some("Seed.core.gardener.cloud \"s\" is forbidden: cannot remove zones [a] from Seed s as \
         there are Shoots scheduled to this Seed"))]
    #[case("s", &["b", "a"], &[],
        Some("Seed.core.gardener.cloud \"s\" is forbidden: cannot remove zones [a b] from Seed s as \
         there are Shoots scheduled to this Seed"))]
    #[case("s", &["a"], &["b", "a"], None)]
    #[case("other", &["a", "b"], &["b"], None)]
    fn zones_of_a_used_seed_stay(
        #[case] used: &str,
        #[case] old: &[&str],
        #[case] new: &[&str],
        #[case] want: Option<&str>,
    ) {
        let (garden, old, new) = (garden(used), seed(old), seed(new));
        let attributes = Attributes { old: Some(&old), ..garden.attributes(Operation::Update, "Seed", &new) };
        let refused = validate(&attributes, Some(&new)).err();
        assert_eq!(refused.map(|rejection| rejection.message).as_deref(), want);
        let status = Attributes { subresource: "status", ..attributes };
        assert_eq!(validate(&status, Some(&new)), Ok(()));
    }

    #[rstest]
    #[case(
        "s",
        "s",
        Some(
            "seeds.core.gardener.cloud \"s\" is forbidden: cannot delete seed s since it is still used by shoot(s)"
        )
    )]
    #[case("other", "s", None)]
    #[case("s", "", None)]
    fn a_used_seed_is_not_deleted(#[case] used: &str, #[case] name: &str, #[case] want: Option<&str>) {
        let (garden, old) = (garden(used), seed(&[]));
        let asked = garden.attributes(Operation::Delete, "Seed", &old);
        let refused = validate(&Attributes { name, old: Some(&old), ..asked }, None).err();
        assert_eq!(refused.map(|rejection| rejection.message).as_deref(), want);
    }
}
