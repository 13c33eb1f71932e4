//! ExposureClasses.

use schema::TypedKindDetails;
use webhook::strategy::Strategy;

use super::columns::{AGE, NAME, column, text};
use super::{CORE, GardenKind};
use crate::webhooks::exposure_class;

pub(super) static KIND: GardenKind = GardenKind {
    crd: "exposureclasses.core.gardener.cloud",
    details: TypedKindDetails { merged_lists: &[("scheduling.tolerations", "key")], ..CORE },
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    validate: |_, old, new| exposure_class::validate(old, new),
    columns: &[NAME, column("Handler", |class, _| text(class, "/handler")), AGE],
    ..Strategy::PLAIN
};
