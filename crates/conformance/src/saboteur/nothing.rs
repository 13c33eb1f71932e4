//! **nothing**: the webhook allows the request and changes nothing.

use super::{Damage, Recorded};
use crate::observation::Observation;

pub(super) fn damages(recorded: Recorded<'_>) -> Vec<Damage> {
    let seen = Observation::untouched(recorded.seen.called, recorded.seen.input.clone());
    vec![Damage { kind: "nothing", text: "allowed, nothing changed".to_owned(), seen }]
}
