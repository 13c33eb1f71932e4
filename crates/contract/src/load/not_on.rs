//! `notOn`: the substrates on which the cases of a clause do not run, and why.

use std::collections::BTreeMap;

use super::fields::Fields;
use super::report::nearest;
use crate::model::SUBSTRATES;

/// The reasons by substrate; reports substrates that do not exist.
pub(super) fn read(fields: &Fields<'_>) -> BTreeMap<String, String> {
    let reasons = fields.pairs("notOn");
    for name in reasons.keys().filter(|name| !SUBSTRATES.contains(&name.as_str())) {
        let Some(node) = fields.node("notOn") else { continue };
        let message = format!("there is no substrate {name}");
        fields.report_type_error(node, &message, &nearest(name, SUBSTRATES));
    }
    reasons
}
