//! Seeds.

use api::garden::{GROUP, Seed};
use schema::TypedKindDetails;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;
use webhook::strategy::{Column, Generation, Situation, Strategy};

use super::columns::{AGE, NAME, column, condition, last_operation, text, text_or};
use super::{CORE, GardenKind, generation};
use crate::webhooks::seed;

pub(super) static KIND: GardenKind = GardenKind {
    crd: "seeds.core.gardener.cloud",
    details: TypedKindDetails {
        merged_lists: &[("spec.volume.providers", "name"), ("status.conditions", "type")],
        ..CORE
    },
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    default: seed::mutate,
    prepare_changed,
    validate: |_, old, new| seed::validate(old, new),
    validate_status,
    has_generation: true,
    allows_unconditional_update: true,
    columns: COLUMNS,
    ..Strategy::PLAIN
};

const COLUMNS: &[Column] = &[
    NAME,
    column("Status", |seed, _| readiness(seed).into()),
    column("Last Operation", |seed, _| last_operation(seed)),
    column("Provider", |seed, _| text(seed, "/spec/provider/type")),
    column("Region", |seed, _| text(seed, "/spec/provider/region")),
    AGE,
    column("Version", |seed, _| text_or(seed, "/status/gardener/version", "<unknown>")),
    column("K8S Version", |seed, _| text_or(seed, "/status/kubernetesVersion", "<unknown>")),
];

/// The summary of its conditions, of which only the gardenlet's may be unknown and two may be missing.
fn readiness(seed: &Value) -> &'static str {
    let gardenlet = condition(seed, "GardenletReady");
    let is_bad = |kind: &str| condition(seed, kind).is_some_and(|status| status != "True");
    if gardenlet == Some("Unknown") {
        "Unknown"
    } else if gardenlet != Some("True")
        || condition(seed, "ExtensionsReady") != Some("True")
        || is_bad("BackupBucketsReady")
        || is_bad("SeedSystemComponentsHealthy")
    {
        "NotReady"
    } else {
        "Ready"
    }
}

/// A new operation raises the generation unless the spec does; of these, `reconcile` is removed.
fn prepare_changed(_: &Situation<'_>, old: &Value, new: &mut Value) -> Result<Generation, Rejection> {
    let of_spec = generation::of_spec("Seed", (old, new), |seed: &Seed| &seed.spec)?;
    let requested = generation::operation(new);
    if of_spec == Generation::Raised || requested == generation::operation(old) {
        return Ok(of_spec);
    }
    Ok(match requested {
        "reconcile" => {
            generation::remove_operation(new);
            Generation::Raised
        }
        "renew-garden-access-secrets" | "renew-kubeconfig" => Generation::Raised,
        _ => Generation::Kept,
    })
}

/// The identity of the cluster stays.
fn validate_status(_: &Situation<'_>, old: &Value, new: &Value) -> Result<(), Rejection> {
    let (old_identity, identity) =
        (old.pointer("/status/clusterIdentity"), new.pointer("/status/clusterIdentity"));
    if old_identity.is_none() || old_identity == identity {
        return Ok(());
    }
    let at = Path::new("status").child("clusterIdentity");
    let errors = [Error::invalid(&at, identity.unwrap_or(&Value::Null), "field is immutable")];
    Err(Rejection::invalid(GROUP, "Seed", new["metadata"]["name"].as_str().unwrap_or_default(), &errors))
}
