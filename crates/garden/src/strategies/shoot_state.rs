//! ShootStates.

use api::garden::ShootState;
use schema::TypedKindDetails;
use webhook::strategy::{Column, Strategy};

use super::columns::{AGE, NAME, column, count};
use super::{ALL, CORE, GardenKind, generation};
use crate::webhooks::shoot_state;

pub(super) static KIND: GardenKind = GardenKind {
    crd: "shootstates.core.gardener.cloud",
    details: TypedKindDetails { merged_lists: &[("spec.gardener", "name")], categories: ALL, ..CORE },
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    prepare_changed: |_, old, new| {
        generation::of_spec("ShootState", (old, new), |state: &ShootState| &state.spec)
    },
    validate: |_, old, new| shoot_state::validate(old, new),
    has_generation: true,
    columns: COLUMNS,
    ..Strategy::PLAIN
};

const COLUMNS: &[Column] = &[
    NAME,
    Column { format: "", ..column("Gardener Data", |state, _| count(state, "/spec/gardener")) },
    Column { format: "", ..column("Extension States", |state, _| count(state, "/spec/extensions")) },
    AGE,
];
