//! InternalSecrets.

use schema::TypedKindDetails;
use webhook::strategy::{Column, Generation, Strategy};

use super::columns::{AGE, NAME, column, count, text};
use super::{CORE, GardenKind};
use crate::webhooks::{internal_secret, internal_secret_defaults};

pub(super) static KIND: GardenKind = GardenKind {
    crd: "internalsecrets.core.gardener.cloud",
    details: TypedKindDetails { selectable: &["metadata.name", "metadata.namespace", "type"], ..CORE },
    strategy: &STRATEGY,
};

static STRATEGY: Strategy = Strategy {
    default: |secret| internal_secret_defaults::mutate(None, secret),
    prepare_changed: |_, old, new| {
        internal_secret_defaults::mutate(Some(old), new).map(|()| Generation::Kept)
    },
    validate: |_, old, new| internal_secret::validate(old, new),
    allows_unconditional_update: true,
    columns: COLUMNS,
    ..Strategy::PLAIN
};

const COLUMNS: &[Column] = &[
    NAME,
    Column { format: "", ..column("Type", |secret, _| text(secret, "/type")) },
    Column { format: "", ..column("Data", |secret, _| count(secret, "/data")) },
    Column { kind: "string", ..AGE },
];
