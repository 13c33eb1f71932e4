//! Finds the smallest input that still differs: removes parts one by one, the biggest first, until none can be removed.

use contract::expect::{self, Path, Step};
use serde_json::Value;
use webhook::review::{Operation, ReviewVersion};

use super::input::Input;
use super::sent::as_sent;

/// The inputs without one of their parts, starting with the biggest parts. The identity of the object stays.
#[must_use]
pub fn smaller(input: &Input) -> Vec<Input> {
    let mut found = Vec::new();
    if input.dry_run {
        found.push(Input { dry_run: false, ..input.clone() });
    }
    if input.review == ReviewVersion::V1beta1 {
        found.push(Input { review: ReviewVersion::V1, ..input.clone() });
    }
    if input.operation == Operation::Update {
        found.push(Input { operation: Operation::Create, old_object: None, ..input.clone() });
        if input.old_object != input.object {
            found.push(Input { old_object: input.object.clone(), ..input.clone() });
        }
    }
    // Removes a part from both objects.
    let paths = |object: &Option<Value>| object.as_ref().map(removable).unwrap_or_default();
    let mut all: Vec<(usize, Path)> =
        paths(&input.object).into_iter().chain(paths(&input.old_object)).collect();
    all.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    all.dedup();
    for (_, path) in all {
        let without = |object: &Option<Value>| {
            let mut object = object.clone()?;
            expect::put(&mut object, &path, None);
            Some(as_sent(object))
        };
        let (object, old_object) = (without(&input.object), without(&input.old_object));
        let both = Input { object: object.clone(), old_object: old_object.clone(), ..input.clone() };
        let candidates = [Input { object, ..input.clone() }, Input { old_object, ..input.clone() }];
        let alone = input.object.is_some() && input.old_object.is_some();
        found.push(both);
        found.extend(candidates.into_iter().filter(|candidate| alone && candidate != input));
    }
    found.retain(|candidate| candidate != input);
    found
}

/// Number of values in an input.
#[must_use]
pub fn size(input: &Input) -> usize {
    input.object.iter().chain(&input.old_object).map(leaves).sum()
}

/// The parts of an object that may be removed, each with its number of values.
fn removable(object: &Value) -> Vec<(usize, Path)> {
    let mut found = parts(object);
    found.retain(|(_, path)| {
        let names: Vec<&str> =
            path.0.iter().take(2).map(|step| if let Step::Field(name) = step { name } else { "" }).collect();
        !matches!(names.as_slice(), ["apiVersion" | "kind" | "metadata"] | ["metadata", "name" | "namespace"])
    });
    found
}

/// All parts of a value, each with its number of values.
pub(super) fn parts(value: &Value) -> Vec<(usize, Path)> {
    let mut found = Vec::new();
    gather(&mut found, &Path::default(), value);
    found
}

fn gather(found: &mut Vec<(usize, Path)>, path: &Path, value: &Value) {
    let below = |step: Step| {
        let mut below = path.clone();
        below.0.push(step);
        below
    };
    if !path.0.is_empty() {
        found.push((leaves(value), path.clone()));
    }
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| gather(found, &below(Step::Field(name.clone())), value));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, value)| gather(found, &below(Step::Index(at)), value));
        }
        _ => {}
    }
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.values().map(leaves).sum::<usize>().max(1),
        Value::Array(items) => items.iter().map(leaves).sum::<usize>().max(1),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Shrinks as long as the condition holds.
    fn shrunk(mut input: Input, still: impl Fn(&Input) -> bool) -> Input {
        while let Some(next) = smaller(&input).into_iter().find(&still) {
            input = next;
        }
        input
    }

    fn update(object: Value, old: Value) -> Input {
        Input {
            operation: Operation::Update,
            review: ReviewVersion::V1beta1,
            dry_run: true,
            object: Some(object),
            old_object: Some(old),
            collection: None,
        }
    }

    #[test]
    fn parts_that_are_not_needed_are_removed() {
        let object = json!({"kind": "K", "metadata": {"name": "n", "labels": {"a": "b"}},
            "spec": {"list": [{"a": 1}, {"b": 2, "c": 3}], "other": {"x": [1, 2, 3]}}});
        let input = update(object.clone(), object);
        let needed = |input: &Input| {
            input.object_under_test().is_some_and(|object| object.to_string().contains("\"c\":3"))
        };
        let want = Input {
            operation: Operation::Create,
            review: ReviewVersion::V1,
            dry_run: false,
            object: Some(json!({"kind": "K", "metadata": {"name": "n"}, "spec": {"list": [{"c": 3}]}})),
            old_object: None,
            collection: None,
        };
        assert_eq!(shrunk(input.clone(), needed), want);
        assert!(size(&want) < size(&input));
        assert!(smaller(&want).iter().all(|candidate| !needed(candidate)));
    }

    #[test]
    fn a_difference_between_old_and_new_stays() {
        let of =
            |size: u64| json!({"kind": "K", "metadata": {"name": "n"}, "spec": {"size": size, "type": "t"}});
        let differs = |input: &Input| {
            let size = |object: &Option<Value>| object.as_ref().map(|object| object["spec"]["size"].clone());
            input.old_object.is_some()
                && size(&input.object) != size(&input.old_object)
                && size(&input.object) != Some(Value::Null)
        };
        let got = shrunk(update(of(1), of(2)), differs);
        assert_eq!(got.object, Some(json!({"kind": "K", "metadata": {"name": "n"}, "spec": {"size": 1}})));
        assert_eq!(got.old_object, Some(json!({"kind": "K", "metadata": {"name": "n"}})));
    }
}
