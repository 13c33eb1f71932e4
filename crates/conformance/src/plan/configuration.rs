//! The assumed configuration of a target with an unknown one, and whether one configuration includes another.

use contract::model::Contract;
use serde_json::Value;

/// The configuration that most cases of a contract have; if there are several, the first.
pub(super) fn usual_config(contract: &Contract) -> Value {
    let mut counted: Vec<(&Value, usize)> = Vec::new();
    for case in contract.clauses.iter().flat_map(|clause| &clause.cases) {
        match counted.iter_mut().find(|(config, _)| *config == &case.config) {
            Some((_, count)) => *count += 1,
            None => counted.push((&case.config, 1)),
        }
    }
    let most = counted.iter().map(|(_, count)| *count).max();
    counted
        .iter()
        .find(|(_, count)| Some(*count) == most)
        .map_or(Value::Null, |(config, _)| (*config).clone())
}

/// Whether `whole` has all fields of `part`.
pub(super) fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (_, Value::Null) => true,
        (Value::Object(whole), Value::Object(part)) => part.iter().all(|(field, part)| {
            part.is_null() || whole.get(field).is_some_and(|whole| contains(whole, part))
        }),
        (whole, part) => whole == part,
    }
}
