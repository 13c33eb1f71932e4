//! Values that a target states about itself, filled in for `$parameter` before its cases run.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::case::Case;
use crate::expect::{Expect, KeyedItem, ListRule, Notation, Operator, Rules};
use crate::model::Contract;

impl Contract {
    /// The contract with the values that a target states. If `examples`, the target runs with the contract's
    /// configuration, and the contract's examples are used for values that it does not state; otherwise the name
    /// stays, and the case cannot run.
    #[must_use]
    pub fn stated(mut self, stated: &BTreeMap<String, Value>, examples: bool) -> Self {
        if self.parameters.is_empty() {
            return self;
        }
        let value =
            |name: &str| find(stated, name).or_else(|| find(&self.parameters, name).filter(|_| examples));
        let mut clauses = std::mem::take(&mut self.clauses);
        for case in clauses.iter_mut().flat_map(|clause| &mut clause.cases) {
            let rules = case.given.object.as_ref().map_or_else(Rules::unknown, |object| self.rules(object));
            if let Some(expect) = &mut case.then.object {
                *expect = fill(expect, &rules, &value, false);
            }
        }
        Self { clauses, ..self }
    }
}

/// The name under which a target states a parameter: for `csiFeatureGates.1.27` the part before the first dot.
#[must_use]
pub fn root_name(name: &str) -> &str {
    name.split_once('.').map_or(name, |(name, _)| name)
}

/// The value of a parameter. `gates.1.27` is the entry `1.27` if the value is a map, else the whole value, which then
/// holds for all versions.
fn find<'a>(values: &'a BTreeMap<String, Value>, name: &str) -> Option<&'a Value> {
    let (name, entry) = name.split_once('.').map_or((name, None), |(name, entry)| (name, Some(entry)));
    match (values.get(name)?, entry) {
        (Value::Object(entries), Some(entry)) => entries.get(entry),
        (value, _) => Some(value),
    }
}

/// The first parameter of a case that has no value.
#[must_use]
pub fn missing(case: &Case) -> Option<&str> {
    case.then.object.as_ref().and_then(|expect| names(expect).into_iter().next())
}

/// The parameters that an expectation names, in the order of its tree.
#[must_use]
pub fn names(expect: &Expect) -> Vec<&str> {
    match expect {
        Expect::Operator(Operator::Parameter { name, .. }) => vec![name],
        Expect::Operator(Operator::Each(below) | Operator::AbsentOr(below) | Operator::Opened(_, below)) => {
            names(below)
        }
        Expect::Operator(Operator::Contains(items) | Operator::Exactly(items))
        | Expect::List { items, .. } => items.iter().flat_map(names).collect(),
        Expect::Map(fields) => fields.values().flat_map(names).collect(),
        Expect::Keyed { items, .. } => items.iter().flat_map(|item| names(&item.expect)).collect(),
        Expect::Value(_) | Expect::Operator(_) => Vec::new(),
    }
}

/// An expectation with parameters replaced by values; `texts`: it is about a command line, where every value is a string.
fn fill<'a>(
    expect: &Expect,
    rules: &Rules,
    value: &impl Fn(&str) -> Option<&'a Value>,
    texts: bool,
) -> Expect {
    let below = |expect: &Expect, rules: &Rules| fill(expect, rules, value, texts);
    let all = |items: &[Expect]| items.iter().map(|item| below(item, &rules.item())).collect::<Vec<_>>();
    match expect {
        Expect::Operator(Operator::Parameter { name, members }) => match value(name) {
            Some(value) if *members => members_of(value, texts),
            Some(value) => partial_expectation(value, rules, texts),
            None => expect.clone(),
        },
        Expect::Map(fields) => Expect::Map(
            fields.iter().map(|(name, expect)| (name.clone(), below(expect, &rules.field(name)))).collect(),
        ),
        Expect::Keyed { keys, items } => {
            let item = |item: &KeyedItem| KeyedItem {
                key: item.key.clone(),
                expect: below(&item.expect, &rules.item()),
            };
            Expect::Keyed { keys: keys.clone(), items: items.iter().map(item).collect() }
        }
        Expect::List { items, ordered } => Expect::List { items: all(items), ordered: *ordered },
        Expect::Operator(operator) => Expect::Operator(match operator {
            Operator::Each(expect) => Operator::Each(Box::new(below(expect, &rules.item()))),
            Operator::AbsentOr(expect) => Operator::AbsentOr(Box::new(below(expect, rules))),
            Operator::Contains(items) => Operator::Contains(all(items)),
            Operator::Exactly(items) => Operator::Exactly(all(items)),
            Operator::Opened(notation, content) => {
                let texts = *notation == Notation::Flags;
                Operator::Opened(*notation, Box::new(fill(content, &Rules::unknown(), value, texts)))
            }
            other => other.clone(),
        }),
        Expect::Value(_) => expect.clone(),
    }
}

/// The expectation for a stated value, as in `then`: maps and keyed lists are partial, other lists whole.
fn partial_expectation(value: &Value, rules: &Rules, texts: bool) -> Expect {
    match value {
        Value::Null => Expect::Operator(Operator::Absent),
        Value::Object(fields) => Expect::Map(
            fields
                .iter()
                .map(|(name, value)| (name.clone(), partial_expectation(value, &rules.field(name), texts)))
                .collect(),
        ),
        Value::Array(items) => {
            let item = |value: &Value| partial_expectation(value, &rules.item(), texts);
            if let ListRule::Keyed(keys) = rules.list()
                && let Some(found) =
                    items.iter().map(|value| rules.key_of(&keys, value)).collect::<Option<Vec<_>>>()
            {
                let items = found.into_iter().zip(items);
                let items = items.map(|(key, value)| KeyedItem { key, expect: item(value) }).collect();
                return Expect::Keyed { keys, items };
            }
            Expect::List {
                items: items.iter().map(item).collect(),
                ordered: rules.list() == ListRule::Ordered,
            }
        }
        Value::Bool(_) | Value::Number(_) if texts => Expect::Value(Value::from(value.to_string())),
        scalar => Expect::Value(scalar.clone()),
    }
}

/// The expectation for stated members of a list, or of a map with their values: `[A, B=true]`.
fn members_of(value: &Value, texts: bool) -> Expect {
    let alone = std::slice::from_ref(value);
    let member = |member: &Value| {
        let text = member.as_str().map_or_else(|| member.to_string(), str::to_owned);
        match text.split_once('=') {
            Some((key, value)) => {
                let typed = serde_json::from_str(value).ok().filter(|_| !texts);
                (key.to_owned(), Expect::Value(typed.unwrap_or_else(|| Value::from(value))))
            }
            None => (text, Expect::Operator(Operator::Present)),
        }
    };
    Expect::Map(value.as_array().map_or(alone, Vec::as_slice).iter().map(member).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::expect::holds;

    fn parameter(members: bool) -> Expect {
        Expect::Operator(Operator::Parameter { name: "p".to_owned(), members })
    }

    fn keeps(expect: &Expect, stated: &Value, rules: &Rules, answer: &Value) -> bool {
        let filled = fill(expect, rules, &|_| Some(stated), false);
        assert_eq!(names(&filled), Vec::<&str>::new());
        holds(&filled, None, Some(answer), rules)
    }

    #[test]
    fn stated_values_replace_parameters() {
        let pod = Rules::of_object(&json!({"apiVersion": "v1", "kind": "Pod"}));
        let env = pod.field("spec").field("containers").item().field("env");
        let stated = json!([{"name": "A", "value": "x"}]);
        for (answer, kept) in [
            (json!([{"name": "B"}, {"name": "A", "value": "x"}]), true),
            (json!([{"name": "A", "value": "y"}]), false),
            (json!([]), false),
        ] {
            assert_eq!(keeps(&parameter(false), &stated, &env, &answer), kept, "{answer}");
        }
        let flags = Expect::Operator(Operator::Opened(Notation::Flags, Box::new(parameter(false))));
        for (words, kept) in
            [(json!(["a", "--b=true"]), true), (json!(["a", "--b=false"]), false), (json!(["a"]), false)]
        {
            assert_eq!(keeps(&flags, &json!({"--b": true}), &Rules::unknown(), &words), kept, "{words}");
        }
    }

    #[test]
    fn members_are_stated_with_or_without_a_value() {
        let stated = json!(["A=true", "B"]);
        for (answer, kept) in [
            (json!({"A": true, "B": "x", "C": "y"}), true),
            (json!({"A": false, "B": "x"}), false),
            (json!({"A": true}), false),
        ] {
            assert_eq!(keeps(&parameter(true), &stated, &Rules::unknown(), &answer), kept, "{answer}");
        }
    }

    #[test]
    fn unstated_parameters_stay_and_no_answer_satisfies_them() {
        let unstated = fill(&parameter(false), &Rules::unknown(), &|_| None, false);
        assert_eq!(names(&unstated), ["p"]);
        assert!(!holds(&unstated, None, Some(&json!("x")), &Rules::unknown()));
    }
}
