//! ManagedSeeds.

use api::garden::ManagedSeed;
use api::garden::seed_management::GROUP;
use api::gardener::OPERATION_RECONCILE;
use schema::TypedKindDetails;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;
use webhook::strategy::{Column, Generation, Situation, Strategy};

use super::columns::{AGE, NAME, column, condition, text};
use super::{GardenKind, SEED_MANAGEMENT, generation};
use crate::webhooks::managed_seed;

pub(super) static KIND: GardenKind = GardenKind {
    crd: "managedseeds.seedmanagement.gardener.cloud",
    details: TypedKindDetails {
        merged_lists: &[("status.conditions", "type")],
        selectable: &["metadata.name", "metadata.namespace", "spec.shoot.name"],
        ..SEED_MANAGEMENT
    },
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    default: managed_seed::mutate,
    prepare_changed,
    validate: |_, old, new| managed_seed::validate(old, new),
    validate_status,
    has_generation: true,
    columns: COLUMNS,
    ..Strategy::PLAIN
};

const COLUMNS: &[Column] = &[
    NAME,
    column("Status", |seed, _| {
        let registered = match condition(seed, "SeedRegistered") {
            None | Some("Unknown") => "Unknown",
            Some("True") => "Registered",
            Some(_) => "NotRegistered",
        };
        registered.into()
    }),
    column("Shoot", |seed, _| text(seed, "/spec/shoot/name")),
    column("Gardenlet", |seed, _| {
        let text = if seed.pointer("/spec/gardenlet").is_some() { "True" } else { "False" };
        text.into()
    }),
    AGE,
];

/// `renew-kubeconfig` stays, and raises the generation with every further update.
fn prepare_changed(_: &Situation<'_>, old: &Value, new: &mut Value) -> Result<Generation, Rejection> {
    let of_spec = generation::of_spec("ManagedSeed", (old, new), |seed: &ManagedSeed| &seed.spec)?;
    if of_spec == Generation::Raised {
        return Ok(of_spec);
    }
    Ok(match generation::of_consumed(new, OPERATION_RECONCILE) {
        Generation::Raised => Generation::Raised,
        Generation::Kept => Generation::raised_if(generation::operation(new) == "renew-kubeconfig"),
    })
}

fn validate_status(_: &Situation<'_>, _: &Value, new: &Value) -> Result<(), Rejection> {
    let Some(number) = new.pointer("/status/observedGeneration").and_then(Value::as_i64) else {
        return Ok(());
    };
    if number >= 0 {
        return Ok(());
    }
    let at = Path::new("status").child("observedGeneration");
    let errors = [Error::invalid(&at, number, "must be greater than or equal to 0")];
    Err(Rejection::invalid(
        GROUP,
        "ManagedSeed",
        new["metadata"]["name"].as_str().unwrap_or_default(),
        &errors,
    ))
}
