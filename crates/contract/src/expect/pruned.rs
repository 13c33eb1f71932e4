//! Cuts an expectation and the answer down to the asserted values, so that a diff of lines shows nothing else.

use std::collections::BTreeMap;

use formats::yaml;
use serde_json::{Map, Value, json};

use super::compare::{element, pairs, present};
use super::notation::open_value;
use super::{Expect, KeyedItem, Notation, Operator, Rules, holds, words};

/// Expectation, answer and input with the same structure, as YAML; empty if absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The expected values: the answer's value if it satisfies the assertion, else the value, or the operator in
    /// words (`<present>`).
    pub wanted: String,
    /// The answer's values at the asserted paths.
    pub got: String,
    /// The input's values at the asserted paths.
    pub input: String,
}

/// Expected, actual and input value at one path; `None`: absent.
type Sides = [Option<Value>; 3];

/// Expectation, answer and input, cut down to the asserted paths, in the order of the expectation.
#[must_use]
pub fn pruned(expect: &Expect, input: Option<&Value>, answer: Option<&Value>, rules: &Rules) -> Pruned {
    let text =
        |value: Option<Value>| value.and_then(|value| yaml::to_string(&value).ok()).unwrap_or_default();
    let [wanted, got, input] = sides(expect, present(input), present(answer), rules).map(text);
    Pruned { wanted, got, input }
}

fn sides(expect: &Expect, input: Option<&Value>, answer: Option<&Value>, rules: &Rules) -> Sides {
    let fits = |is: fn(&Value) -> bool| answer.is_none_or(is);
    match expect {
        Expect::Map(fields) if !fields.is_empty() && fits(Value::is_object) => {
            maps(fields, input, answer, rules)
        }
        Expect::Keyed { keys, items } if !items.is_empty() && fits(Value::is_array) => {
            keyed(keys, items, input, answer, rules)
        }
        Expect::List { items, ordered } if !items.is_empty() && fits(Value::is_array) => {
            lists(items, *ordered, input, answer, rules)
        }
        Expect::Operator(Operator::AbsentOr(wanted)) if answer.is_some() => {
            sides(wanted, input, answer, rules)
        }
        Expect::Operator(Operator::Opened(notation, content)) => {
            opened(expect, *notation, content, input, answer, rules)
        }
        _ => leaf(expect, input, answer, rules),
    }
}

fn leaf(expect: &Expect, input: Option<&Value>, answer: Option<&Value>, rules: &Rules) -> Sides {
    let wanted = if holds(expect, input, answer, rules) {
        answer.cloned()
    } else {
        match expect {
            Expect::Value(value) => present(Some(value)).cloned(),
            Expect::Operator(Operator::Absent) => None,
            Expect::Operator(Operator::Unchanged) => input.cloned(),
            Expect::Map(fields) if fields.is_empty() => Some(json!({})),
            Expect::Keyed { items, .. } if items.is_empty() => Some(json!([])),
            Expect::List { items, .. } if items.is_empty() => Some(json!([])),
            expect => Some(Value::from(format!("<{}>", words(expect)))),
        }
    };
    [wanted, answer.cloned(), input.cloned()]
}

fn maps(
    fields: &BTreeMap<String, Expect>,
    input: Option<&Value>,
    answer: Option<&Value>,
    rules: &Rules,
) -> Sides {
    let mut shown = [Map::new(), Map::new(), Map::new()];
    for (name, expect) in fields {
        let at = |object: Option<&'_ Value>| present(object?.get(name)).cloned();
        let (input, answer) = (at(input), at(answer));
        let sides = sides(expect, input.as_ref(), answer.as_ref(), &rules.field(name));
        for (map, value) in shown.iter_mut().zip(sides) {
            map.extend(value.map(|value| (name.clone(), value)));
        }
    }
    // A map without shown fields is shown only if the answer or input has it, so that an absent map is not shown as `{}`.
    let there = [answer.is_some(), answer.is_some(), input.is_some()];
    let mut there = there.into_iter();
    shown.map(|map| (there.next() == Some(true) || !map.is_empty()).then_some(Value::Object(map)))
}

fn keyed(
    keys: &[String],
    items: &[KeyedItem],
    input: Option<&Value>,
    answer: Option<&Value>,
    rules: &Rules,
) -> Sides {
    let item_rules = rules.item();
    let mut shown = [Vec::new(), Vec::new(), Vec::new()];
    for item in items {
        let (before, after) =
            (element(input, keys, &item.key, rules), element(answer, keys, &item.key, rules));
        let is_operator = matches!(item.expect, Expect::Operator(_));
        let mut sides = sides(&item.expect, before, after, &item_rules);
        if !is_operator && after.is_none() {
            // The element itself is expected, even if only absent fields are asserted in it.
            sides[0].get_or_insert_with(|| json!({}));
        }
        for (list, side) in shown.iter_mut().zip(sides) {
            list.extend(side.map(|side| with_key(&item.key, side)));
        }
    }
    let there = [answer.is_some(), answer.is_some(), input.is_some()];
    let mut there = there.into_iter();
    shown.map(|list| (there.next() == Some(true) || !list.is_empty()).then_some(Value::Array(list)))
}

/// The element with its key; a value that is not a map is shown under `is`.
fn with_key(key: &[(String, Value)], side: Value) -> Value {
    let mut fields: Map<String, Value> = key.iter().cloned().collect();
    match side {
        Value::Object(own) => fields.extend(own),
        other => {
            fields.insert("is".to_owned(), other);
        }
    }
    Value::Object(fields)
}

fn lists(
    items: &[Expect],
    ordered: bool,
    input: Option<&Value>,
    answer: Option<&Value>,
    rules: &Rules,
) -> Sides {
    let item_rules = rules.item();
    let got = answer.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let found = if ordered {
        (0..items.len()).map(|at| (at < got.len()).then_some(at)).collect()
    } else {
        pairs(items, got, &item_rules)
    };
    let (mut wanted, mut answered) = (Vec::new(), Vec::new());
    for (expect, at) in items.iter().zip(&found) {
        let before = at.filter(|_| ordered).and_then(|at| input?.get(at));
        let [want, have, _] = sides(expect, before, at.and_then(|at| got.get(at)), &item_rules);
        wanted.push(want.unwrap_or_default());
        answered.extend(at.map(|_| have.unwrap_or_default()));
    }
    let left = got.iter().enumerate().filter(|(at, _)| !found.contains(&Some(*at)));
    answered.extend(left.map(|(_, value)| value.clone()));
    [Some(Value::Array(wanted)), answer.map(|_| Value::Array(answered)), input.cloned()]
}

fn opened(
    expect: &Expect,
    notation: Notation,
    content: &Expect,
    input: Option<&Value>,
    answer: Option<&Value>,
    rules: &Rules,
) -> Sides {
    let opened = |value: Option<&Value>| open_value(notation, value?);
    let (before, after) = (opened(input), opened(answer));
    if answer.is_some() && after.is_none() {
        return leaf(expect, input, answer, rules);
    }
    let rules = after.as_ref().or(before.as_ref()).map_or_else(Rules::unknown, Rules::opened);
    let name = format!("{notation:?} of").to_lowercase();
    let named = |side: Option<Value>| side.map(|side| Value::Object(Map::from_iter([(name.clone(), side)])));
    sides(content, present(before.as_ref()), present(after.as_ref()), &rules).map(named)
}
