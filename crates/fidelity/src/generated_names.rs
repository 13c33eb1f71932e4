//! Names that a server generates: a beginning that was sent, and a random ending.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The letters of random endings; they spell no word.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// The number of letters of an ending.
const LENGTH: usize = 5;

/// The random endings of the generated names in one server's answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct RandomEndings(BTreeSet<String>);

impl RandomEndings {
    /// Remembers the endings in an answer: of objects that say how their names were generated, and of an object that was refused,
    /// of which a Status has only the name.
    pub(crate) fn learn(&mut self, value: &Value) {
        let generated = value.get("generateName").and_then(|_| value.get("name"));
        let refused = value.get("details").filter(|_| value["kind"] == "Status");
        let refused = refused.and_then(|details| details.get("name"));
        let names = generated.into_iter().chain(refused).filter_map(Value::as_str);
        self.0.extend(names.filter_map(random_ending).map(str::to_owned));
        match value {
            Value::Object(fields) => {
                for below in fields.values() {
                    self.learn(below);
                }
            }
            Value::Array(items) => {
                for below in items {
                    self.learn(below);
                }
            }
            _ => {}
        }
    }

    /// The remembered endings that occur in a text, in order.
    pub(crate) fn within(&self, text: &str) -> Vec<String> {
        let positions =
            self.0.iter().filter_map(|ending| Some((text.find(ending.as_str())?, ending.clone())));
        positions.collect::<BTreeMap<usize, String>>().into_values().collect()
    }
}

/// The last letters of a name, if a server may have chosen them.
fn random_ending(name: &str) -> Option<&str> {
    let ending = name.get(name.len().checked_sub(LENGTH)?..)?;
    ending.bytes().all(|letter| LETTERS.contains(&letter)).then_some(ending)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn endings_are_learned_from_objects_and_refusals() {
        let mut endings = RandomEndings::default();
        endings.learn(&json!({"items": [{"metadata": {"generateName": "a.", "name": "a.x2x2x"}}]}));
        endings.learn(&json!({"kind": "Status", "details": {"name": "*/5 * bcdfg"}}));
        for other in ["absent", "b", "ä2x2x", "Bad_Name"] {
            endings.learn(&json!({"kind": "Status", "details": {"name": other}}));
        }
        endings.learn(&json!({"metadata": {"name": "a-zzzzz"}}));
        assert_eq!(endings.within("bcdfg, x2x2x, zzzzz"), ["bcdfg", "x2x2x"]);
        assert_eq!(endings.within("absent"), [] as [&str; 0]);
    }
}
