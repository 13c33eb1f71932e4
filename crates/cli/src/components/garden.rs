//! The substrate garden: embedded API servers that serve Gardener's kinds as gardener-apiserver does.

use std::sync::Arc;

use conformance::run::{Aggregated, Substrate};
use gardener_garden::admission;
use gardener_garden::strategies::typed_kinds;

use crate::arguments::SubstrateName;

/// What reports say of it.
const DESCRIPTION: &str =
    "embedded API server (Kubernetes 1.36 API) that serves Gardener's kinds as gardener-apiserver does";

/// The substrate, with the kinds, rules and admission plugins of the component garden.
pub(crate) fn substrate() -> Substrate {
    let name = SubstrateName::Garden.name();
    let component = gardener_garden::COMPONENT.name;
    let garden = Aggregated::new(name, DESCRIPTION, component, typed_kinds());
    Substrate::Aggregated(Arc::new(garden.with_plugins(admission::of_cases)))
}
