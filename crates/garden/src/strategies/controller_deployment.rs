//! ControllerDeployments.

use schema::TypedKindDetails;
use webhook::strategy::{Generation, Strategy};

use super::columns::{AGE, NAME};
use super::{ALL, CORE, GardenKind, generation};
use crate::webhooks::controller_deployment;

pub(super) static KIND: GardenKind = GardenKind {
    crd: "controllerdeployments.core.gardener.cloud",
    details: TypedKindDetails { categories: ALL, ..CORE },
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    prepare_changed: |_, old, new| {
        let differs = ["type", "providerConfig"].iter().any(|field| old.get(field) != new.get(field));
        Ok(Generation::raised_if(differs || generation::begins_deletion(old, new)))
    },
    validate: |_, old, new| controller_deployment::validate(old, new),
    has_generation: true,
    columns: &[NAME, AGE],
    ..Strategy::PLAIN
};
