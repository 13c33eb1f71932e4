//! SecretBindings.

use webhook::strategy::{Column, Strategy};

use super::columns::{AGE, NAME, column, text_or};
use super::{CORE, GardenKind};
use crate::webhooks::secret_binding;

pub(super) static KIND: GardenKind =
    GardenKind { crd: "secretbindings.core.gardener.cloud", details: CORE, strategy: &STRATEGY };

static STRATEGY: Strategy = Strategy {
    default: secret_binding::mutate,
    validate: |_, old, new| secret_binding::validate(old, new),
    allows_unconditional_update: true,
    columns: COLUMNS,
    ..Strategy::PLAIN
};

const COLUMNS: &[Column] = &[
    NAME,
    column("Secret", |binding, _| {
        let text = |field: &str| binding["secretRef"][field].as_str().unwrap_or_default();
        format!("{}/{}", text("namespace"), text("name")).into()
    }),
    column("Provider", |binding, _| text_or(binding, "/provider/type", "<none>")),
    AGE,
];
