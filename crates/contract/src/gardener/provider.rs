//! Adapts cases to the provider of the target.

use serde_json::{Map, Value};

use crate::case::Case;
use crate::model::Contract;

/// Prefix of the label for an extension that a namespace needs; the provider follows.
const NEEDED: &str = "extensions.gardener.cloud/provider-";

impl Contract {
    /// The contract as if its cases had been written for this provider: in the given objects, this provider and the one that
    /// the configuration names are swapped. So a case about another provider's object stays a case about another
    /// provider's object.
    #[must_use]
    pub fn of_provider(mut self, provider: &str) -> Self {
        for case in self.clauses.iter_mut().flat_map(|clause| &mut clause.cases) {
            let own = case.config["provider"].as_str().filter(|own| *own != provider).map(str::to_owned);
            if let Some(own) = own {
                case.config["provider"] = Value::from(provider);
                swap_names(case, [&own, provider]);
            }
        }
        self
    }

    /// Whether the configuration of a case names a provider.
    #[must_use]
    pub fn has_provider(&self) -> bool {
        let mut cases = self.clauses.iter().flat_map(|clause| &clause.cases);
        cases.any(|case| case.config["provider"].is_string())
    }
}

fn swap_names(case: &mut Case, names: [&str; 2]) {
    let given = &mut case.given;
    let objects = given.namespace.iter_mut().chain(&mut given.cluster).chain(&mut given.object);
    for object in objects.chain(&mut given.old) {
        *object = swapped(object.take(), names);
    }
}

/// The value with the two names swapped, in strings that equal a name and in labels of needed extensions.
fn swapped(value: Value, names: [&str; 2]) -> Value {
    match value {
        Value::String(text) => Value::String(counterpart(&text, names).map_or(text, str::to_owned)),
        Value::Array(items) => items.into_iter().map(|item| swapped(item, names)).collect(),
        Value::Object(fields) => {
            let renamed =
                fields.into_iter().map(|(key, value)| (swapped_key(key, names), swapped(value, names)));
            Value::Object(renamed.collect::<Map<_, _>>())
        }
        scalar => scalar,
    }
}

fn swapped_key(key: String, names: [&str; 2]) -> String {
    match key.strip_prefix(NEEDED).and_then(|name| counterpart(name, names)) {
        Some(name) => format!("{NEEDED}{name}"),
        None => key,
    }
}

fn counterpart<'a>(name: &str, [one, two]: [&'a str; 2]) -> Option<&'a str> {
    if name == one { Some(two) } else { (name == two).then_some(one) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn providers_are_swapped_where_a_string_or_label_names_them() {
        let given = json!({
            "labels": {"shoot": "local", "seed": "aws", "network": "calico", "extensions.gardener.cloud/provider-local": "true"},
            "command": ["/usr/local/bin/kube-apiserver", "local"],
            "replicas": 1,
        });
        let want = json!({
            "labels": {"shoot": "aws", "seed": "local", "network": "calico", "extensions.gardener.cloud/provider-aws": "true"},
            "command": ["/usr/local/bin/kube-apiserver", "aws"],
            "replicas": 1,
        });
        assert_eq!(swapped(given.clone(), ["local", "aws"]), want);
        assert_eq!(swapped(want, ["local", "aws"]), given);
    }
}
