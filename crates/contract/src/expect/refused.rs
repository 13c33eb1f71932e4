//! Values that an assertion must reject; the saboteur puts them into an answer.

use schema::{Shape, Type};
use serde_json::{Map, Value, json};

use super::compare::{holds, matches};
use super::keys;
use super::scalar::{bare, shifted};
use super::{Assertion, Expect, Operator, Rules, equal};

/// The replacement of an asserted value.
#[derive(Clone, Debug, PartialEq)]
pub enum Replacement {
    /// This value.
    Value(Value),
    /// Nothing: the value is removed.
    Nothing,
}

/// Values that the assertion must reject, given the answer and the input; each differs from
/// the answer. If the assertion accepts one, it is useless. Empty if it cannot reject anything.
#[must_use]
pub fn refused(assertion: &Assertion, answer: Option<&Value>, input: Option<&Value>) -> Vec<Replacement> {
    let rules = &assertion.rules;
    let sample = || some(sample(rules.ty(), &assertion.key));
    let values = match &assertion.expect {
        Expect::Value(Value::Null) => vec![sample()],
        Expect::Value(value) => vec![some(different_value(value, rules)), Replacement::Nothing],
        Expect::Map(_) | Expect::Keyed { .. } => vec![Replacement::Nothing],
        Expect::List { items, ordered: true } => lists_of_other_length(items.len(), answer, rules),
        Expect::List { items, ordered: false } => members(items, answer, rules),
        Expect::Operator(operator) => match operator {
            Operator::Absent => input.cloned().map(some).into_iter().chain([sample()]).collect(),
            Operator::Present | Operator::Filled => vec![Replacement::Nothing],
            Operator::Changed => vec![input.cloned().map_or(Replacement::Nothing, some)],
            Operator::Unchanged => match input {
                Some(input) => vec![some(different_value(input, rules)), Replacement::Nothing],
                None => vec![sample()],
            },
            Operator::UnchangedBut(but) => maps_with_other_keys(input, answer, but, rules),
            Operator::UnchangedLike(patterns) => maps_with_other_matching_keys(answer, patterns),
            Operator::Any | Operator::Parameter { .. } | Operator::Opened(..) => Vec::new(),
            Operator::Matches { regex, not_for } => not_matching(regex, not_for.as_ref(), answer),
            Operator::Cel { not_for, .. } => not_for.iter().cloned().map(some).collect(),
            Operator::Contains(parts) => without_parts(parts, answer, rules),
            Operator::Exactly(items) => members(items, answer, rules),
            Operator::Count(count) => lists_of_other_length(*count, answer, rules),
            Operator::OneOf(values) => outside_of(values, rules),
            Operator::Each(expect) => broken_elements(expect, answer, rules),
            Operator::AbsentOr(expect) => {
                let below = Assertion { expect: expect.as_ref().clone(), ..assertion.clone() };
                let values = refused(&below, answer, input).into_iter();
                values.filter(|value| *value != Replacement::Nothing).collect()
            }
            Operator::NotMatches { not_for, .. } => vec![some(not_for.clone())],
            Operator::AnyKey(patterns) => {
                let map = answer.and_then(Value::as_object).cloned().unwrap_or_default();
                vec![some(Value::Object(keys::without(patterns, &map)))]
            }
            Operator::NoKey(patterns) => patterns.iter().map(|pattern| with_key(pattern, answer)).collect(),
            Operator::Between(low, high) => {
                let beside = [shifted(low, -1, rules), shifted(high, 1, rules)].into_iter().flatten();
                beside.map(some).chain([Replacement::Nothing]).collect()
            }
        },
    };
    values.into_iter().filter(|value| !equals_answer(value, answer, rules)).collect()
}

/// A string that an expression does not match, if one of a few candidates does not.
#[must_use]
pub fn non_matching(regex: &str) -> Option<String> {
    ["", "~", "something else", "0", "A", "a", "\u{0}", "two\nlines"]
        .into_iter()
        .find(|text| !matches(regex, text))
        .map(str::to_owned)
}

/// Whether the replacement equals the answer.
fn equals_answer(replacement: &Replacement, answer: Option<&Value>, rules: &Rules) -> bool {
    match (replacement, answer) {
        (Replacement::Nothing, None) => true,
        (Replacement::Value(value), Some(answer)) => super::same(Some(value), Some(answer), rules),
        _ => false,
    }
}

fn some(value: Value) -> Replacement {
    Replacement::Value(value)
}

/// Empty for an expression that every string matches: it asserts too little to be proven.
fn not_matching(regex: &str, not_for: Option<&Value>, answer: Option<&Value>) -> Vec<Replacement> {
    if let Some(value) = not_for {
        return vec![some(value.clone()), Replacement::Nothing];
    }
    let near =
        answer.and_then(Value::as_str).map(|text| format!("{text}~")).filter(|text| !matches(regex, text));
    let text = near.or_else(|| non_matching(regex));
    text.map_or_else(Vec::new, |text| vec![some(Value::from(text)), Replacement::Nothing])
}

/// The map with an additional key that matches the pattern.
fn with_key(pattern: &str, answer: Option<&Value>) -> Replacement {
    let mut map = answer.and_then(Value::as_object).cloned().unwrap_or_default();
    map.insert(keys::sample(pattern), Value::from("x"));
    some(Value::Object(map))
}

/// The list with one element more, and with one fewer.
fn lists_of_other_length(count: usize, answer: Option<&Value>, rules: &Rules) -> Vec<Replacement> {
    if let Some(Value::Object(map)) = answer {
        return map_of_other_size(map);
    }
    let items = answer.and_then(Value::as_array).cloned().unwrap_or_default();
    let mut longer = items.clone();
    longer.push(items.last().map_or_else(|| sample_item(rules), |last| different_value(last, &rules.item())));
    let mut replacements = vec![some(Value::Array(longer))];
    if count > 0 && !items.is_empty() {
        replacements.push(some(Value::Array(items[..items.len() - 1].to_vec())));
        replacements.push(Replacement::Nothing);
    }
    replacements
}

/// The list with one element more or fewer, and with each element replaced by one that satisfies no expectation.
fn members(expected: &[Expect], answer: Option<&Value>, rules: &Rules) -> Vec<Replacement> {
    let mut replacements = lists_of_other_length(expected.len(), answer, rules);
    let item = rules.item();
    let items = answer.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (at, member) in items.iter().enumerate() {
        let stranger = different_value(member, &item);
        if !expected.iter().any(|expect| holds(expect, None, Some(&stranger), &item)) {
            let mut exchanged = items.to_vec();
            exchanged[at] = stranger;
            replacements.push(some(Value::Array(exchanged)));
        }
    }
    replacements
}

fn map_of_other_size(map: &Map<String, Value>) -> Vec<Replacement> {
    let mut longer = map.clone();
    longer.insert("one-more".to_owned(), json!("x"));
    let shorter: Map<_, _> = map.clone().into_iter().skip(1).collect();
    vec![some(Value::Object(longer)), some(Value::Object(shorter))]
}

fn without_parts(parts: &[Expect], answer: Option<&Value>, rules: &Rules) -> Vec<Replacement> {
    let mut replacements = vec![Replacement::Nothing];
    for part in parts {
        match (answer, part) {
            (Some(Value::Array(items)), part) => {
                let left = items.iter().filter(|item| !holds(part, None, Some(item), &rules.item()));
                replacements.push(some(left.cloned().collect()));
            }
            (Some(Value::String(text)), Expect::Value(part)) if !bare(part).is_empty() => {
                replacements.push(some(Value::from(without(text, &bare(part)))));
            }
            _ => {}
        }
    }
    replacements
}

/// The string without any occurrence of a part.
fn without(text: &str, part: &str) -> String {
    let mut left = text.to_owned();
    while left.contains(part) {
        left = left.replace(part, "");
    }
    left
}

fn broken_elements(expect: &Expect, answer: Option<&Value>, rules: &Rules) -> Vec<Replacement> {
    let Some(Value::Array(items)) = answer else { return vec![Replacement::Nothing] };
    let mut replacements = Vec::new();
    for (at, item) in items.iter().enumerate() {
        for assertion in super::assertions(expect, Some(item), &rules.item()) {
            let value = super::get(item, &assertion.path);
            for replacement in refused(&assertion, value.as_ref(), None) {
                let mut broken = items.clone();
                let value = match replacement {
                    Replacement::Value(value) => Some(value),
                    // A removed element leaves a null at its position.
                    Replacement::Nothing => assertion.path.0.is_empty().then_some(Value::Null),
                };
                if super::put(&mut broken[at], &assertion.path, value) {
                    replacements.push(some(Value::Array(broken)));
                }
            }
        }
    }
    replacements
}

/// Another value of the type.
fn different_value(value: &Value, rules: &Rules) -> Value {
    let allowed = rules.ty().allowed();
    if let Some(other) = allowed.iter().find(|other| !equal(other, value, rules)) {
        return other.clone();
    }
    match value {
        Value::Null => json!("x"),
        Value::Bool(value) => json!(!value),
        Value::Number(number) => number.as_i64().map_or_else(
            || shifted(value, 1, rules).unwrap_or_else(|| json!(0)),
            |number| json!(number.wrapping_add(1)),
        ),
        Value::String(text) => other_text(text, rules),
        Value::Array(items) => items.iter().cloned().chain([sample_item(rules)]).collect(),
        Value::Object(map) => other_map(map, rules),
    }
}

fn other_text(text: &str, rules: &Rules) -> Value {
    let shape = rules.ty().shape();
    let measured = match shape {
        Shape::Quantity | Shape::Duration | Shape::Time | Shape::MicroTime => shifted(&json!(text), 1, rules),
        // Numbers in strings stay numbers: components parse annotations as numbers.
        _ => text
            .parse::<i64>()
            .ok()
            .and_then(|number| number.checked_add(1))
            .map(|number| json!(number.to_string())),
    };
    measured.unwrap_or_else(|| match (shape, text) {
        (Shape::Bytes, "eA==") => json!("eQ=="),
        (Shape::Bytes, _) => json!("eA=="),
        (_, "") => json!("x"),
        _ => json!(format!("{text}-x")),
    })
}

/// The map with one changed value deep inside, so that it keeps its type.
fn other_map(map: &Map<String, Value>, rules: &Rules) -> Value {
    let mut changed = map.clone();
    let first = map.iter().find(|(_, value)| !value.is_object()).or_else(|| map.iter().next());
    match first {
        Some((name, value)) => {
            changed.insert(name.clone(), different_value(value, &rules.field(name)));
        }
        None => {
            changed.insert("x".to_owned(), json!("x"));
        }
    }
    Value::Object(changed)
}

/// The map without one of the keys that must stay, for each of them, and with an additional key.
fn maps_with_other_keys(
    input: Option<&Value>,
    answer: Option<&Value>,
    but: &[String],
    rules: &Rules,
) -> Vec<Replacement> {
    let Some(Value::Object(map)) = answer else { return vec![some(sample(rules.ty(), &[]))] };
    let kept = || {
        map.keys().filter(|key| !but.contains(key) && input.is_some_and(|input| input.get(*key).is_some()))
    };
    let mut more = map.clone();
    more.insert("one-more".to_owned(), map.values().next().cloned().unwrap_or(json!("x")));
    let fewer = kept().map(|key| {
        let mut fewer = map.clone();
        fewer.remove(key);
        some(Value::Object(fewer))
    });
    fewer.chain([some(Value::Object(more))]).collect()
}

/// The map without one of the keys that must stay, for each of them, and with an additional key for each pattern.
fn maps_with_other_matching_keys(answer: Option<&Value>, patterns: &[String]) -> Vec<Replacement> {
    let map = answer.and_then(Value::as_object).cloned().unwrap_or_default();
    let kept = keys::only(patterns, answer);
    let kept = kept.iter().filter_map(Value::as_object).flat_map(Map::keys);
    let fewer = kept.map(|key| {
        let mut fewer = map.clone();
        fewer.remove(key);
        some(Value::Object(fewer))
    });
    fewer.chain(patterns.iter().map(|pattern| with_key(pattern, answer))).collect()
}

/// A value of the type that is not in the list, and absence, unless null is in the list.
fn outside_of(values: &[Value], rules: &Rules) -> Vec<Replacement> {
    let listed = |value: &Value| values.iter().any(|known| super::same(Some(known), Some(value), rules));
    let first = values.iter().find(|value| !value.is_null());
    let allowed = rules.ty().allowed().into_iter().find(|value| !listed(value));
    let mut value = allowed
        .or_else(|| first.map(|first| different_value(first, rules)))
        .unwrap_or_else(|| sample(rules.ty(), &[]));
    for _ in values {
        if listed(&value) {
            value = different_value(&value, rules);
        }
    }
    if listed(&value) {
        // Few values are allowed, and all of them are listed.
        value = json!(format!("{}-none-of-these", bare(&value)));
    }
    let nothing = (!listed(&Value::Null)).then_some(Replacement::Nothing);
    [some(value)].into_iter().chain(nothing).collect()
}

fn sample_item(rules: &Rules) -> Value {
    sample(rules.item().ty(), &[])
}

/// A small value of a type.
fn sample(ty: &Type, key: &[(String, Value)]) -> Value {
    if !key.is_empty() {
        return Value::Object(key.iter().cloned().collect());
    }
    if let Some(value) = ty.allowed().first() {
        return value.clone();
    }
    match ty.shape() {
        Shape::Object => {
            let required = ty.fields().into_iter().filter(|field| field.required).take(8);
            Value::Object(required.map(|field| (field.name, scalar_sample(&field.ty))).collect())
        }
        Shape::Map => json!({"x": ty.values().map_or_else(|| json!("x"), |values| scalar_sample(&values))}),
        Shape::List => json!([ty.items().map_or_else(|| json!("x"), |items| scalar_sample(&items))]),
        _ => scalar_sample(ty),
    }
}

fn scalar_sample(ty: &Type) -> Value {
    match ty.shape() {
        Shape::Object | Shape::Map => json!({}),
        Shape::List => json!([]),
        Shape::Integer(_) | Shape::Number | Shape::IntOrString => json!(1),
        Shape::Boolean => json!(true),
        Shape::Quantity => json!("7"),
        Shape::Time | Shape::MicroTime => json!("2001-01-01T00:00:00Z"),
        Shape::Duration => json!("7s"),
        Shape::Bytes => json!("eA=="),
        Shape::String | Shape::Any => json!("x"),
    }
}
