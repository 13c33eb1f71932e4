//! Reads, sets and removes values at a path, also inside keyed lists and strings in a notation.

use serde_json::{Map, Value};

use super::notation::{open_value, replace_content};
use super::scalar::bare;
use super::{Path, Step};

/// The value at a path; null counts as absent. Strings in a notation are parsed each time.
#[must_use]
pub fn get(object: &Value, path: &Path) -> Option<Value> {
    at(object, &path.0).filter(|value| !value.is_null())
}

fn at(object: &Value, steps: &[Step]) -> Option<Value> {
    let mut here = object;
    for (depth, step) in steps.iter().enumerate() {
        if let Step::Opened(notation) = step {
            return at(&open_value(*notation, here)?, &steps[depth + 1..]);
        }
        here = child(here, step)?;
    }
    Some(here.clone())
}

/// Sets the value at a path, or removes it (`None`). Setting creates missing maps and elements on the way.
/// Returns false if a value on the way does not fit its step; the object is then unchanged, except for
/// what was created on the way.
pub fn put(object: &mut Value, path: &Path, value: Option<Value>) -> bool {
    set(object, &path.0, value)
}

fn set(object: &mut Value, steps: &[Step], value: Option<Value>) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        *object = value.unwrap_or(Value::Null);
        return true;
    };
    // Removing the whole content of a string removes the string.
    if value.is_none() && rest.iter().all(|step| matches!(step, Step::Opened(_))) {
        return remove(object, step);
    }
    match step {
        Step::Field(name) => {
            if object.is_null() {
                *object = Value::Object(Map::new());
            }
            let Value::Object(map) = object else { return false };
            if value.is_none() && !map.contains_key(name) {
                return true;
            }
            set(map.entry(name.clone()).or_insert(Value::Null), rest, value)
        }
        Step::Opened(notation) => {
            let made = object.is_null() && value.is_some();
            let content = if made { Some(Value::Null) } else { open_value(*notation, object) };
            let Some(mut content) = content else { return false };
            let done = set(&mut content, rest, value);
            let Some(whole) = replace_content(*notation, &content, object) else { return false };
            *object = whole;
            done
        }
        Step::Index(_) | Step::Key(_) => {
            if object.is_null() && value.is_some() {
                *object = Value::Array(Vec::new());
            }
            let Value::Array(items) = object else { return value.is_none() };
            match position(items, step) {
                Some(at) => set(&mut items[at], rest, value),
                None => value.is_none() || add(items, step, rest, value),
            }
        }
    }
}

fn child<'a>(object: &'a Value, step: &Step) -> Option<&'a Value> {
    match step {
        Step::Field(name) => object.get(name),
        Step::Index(_) | Step::Key(_) => {
            let items = object.as_array()?;
            items.get(position(items, step)?)
        }
        Step::Opened(_) => None,
    }
}

/// Position of the element with this key, else of one in which some of the key fields are missing.
fn position(items: &[Value], step: &Step) -> Option<usize> {
    match step {
        Step::Index(index) => (*index < items.len()).then_some(*index),
        Step::Key(key) => {
            let has = |item: &Value, name: &str, wanted: &str, otherwise: bool| match item.get(name) {
                None | Some(Value::Null) => otherwise,
                Some(value) => bare(value) == wanted,
            };
            let exact =
                items.iter().position(|item| key.iter().all(|(name, value)| has(item, name, value, false)));
            let named = |item: &Value| key.iter().any(|(name, value)| has(item, name, value, false));
            exact.or_else(|| {
                items.iter().position(|item| {
                    named(item) && key.iter().all(|(name, value)| has(item, name, value, true))
                })
            })
        }
        Step::Field(_) | Step::Opened(_) => None,
    }
}

fn remove(object: &mut Value, step: &Step) -> bool {
    match (object, step) {
        (Value::Object(map), Step::Field(name)) => {
            map.remove(name);
            true
        }
        (Value::Array(items), Step::Index(_) | Step::Key(_)) => {
            if let Some(at) = position(items, step) {
                items.remove(at);
            }
            true
        }
        (Value::Null, _) => true,
        _ => false,
    }
}

fn add(items: &mut Vec<Value>, step: &Step, rest: &[Step], value: Option<Value>) -> bool {
    let mut element = Value::Null;
    if let Step::Key(key) = step {
        let typed = |name: &str, text: &str| {
            let known = items.iter().find_map(|item| item.get(name)).map(Value::is_number);
            // Without another element to compare with: of the keys in Kubernetes, only ports are numbers.
            let number = known.unwrap_or_else(|| name.to_lowercase().ends_with("port"));
            text.parse::<i64>().ok().filter(|_| number).map_or_else(|| Value::from(text), Value::from)
        };
        element = key.iter().map(|(name, text)| (name.clone(), typed(name, text))).collect();
    }
    let done = match value {
        Some(whole) if rest.is_empty() => {
            element = whole;
            true
        }
        value => set(&mut element, rest, value),
    };
    items.push(element);
    done
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Notation;
    use super::*;

    fn field(name: &str) -> Step {
        Step::Field(name.to_owned())
    }

    fn key(pairs: &[(&str, &str)]) -> Step {
        Step::Key(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn a_path_leads_through_keys_indexes_and_notations() {
        let object = json!({"ports": [{"port": 80, "name": "a"}, {"port": 81, "protocol": "UDP", "name": "b"}],
            "data": {"x": "a:\n- b: 1\n"}});
        let at = |steps: Vec<Step>| get(&object, &Path(steps));
        assert_eq!(
            at(vec![field("ports"), key(&[("port", "80"), ("protocol", "TCP")]), field("name")]),
            Some(json!("a"))
        );
        assert_eq!(
            at(vec![field("ports"), key(&[("port", "81"), ("protocol", "UDP")]), field("name")]),
            Some(json!("b"))
        );
        assert_eq!(at(vec![field("ports"), key(&[("port", "81"), ("protocol", "TCP")])]), None);
        let opened = vec![
            field("data"),
            field("x"),
            Step::Opened(Notation::Yaml),
            field("a"),
            Step::Index(0),
            field("b"),
        ];
        assert_eq!(at(opened.clone()), Some(json!(1)));
        let mut changed = object.clone();
        assert!(put(&mut changed, &Path(opened), Some(json!(2))));
        assert_eq!(changed["data"]["x"], json!("a:\n- b: 2\n"));
    }

    #[test]
    fn setting_creates_missing_values_and_removing_does_not() {
        let mut object = json!({"ports": [{"port": 80}]});
        assert!(put(
            &mut object,
            &Path(vec![field("ports"), key(&[("port", "81")]), field("name")]),
            Some(json!("x"))
        ));
        assert!(put(&mut object, &Path(vec![field("a"), field("b")]), Some(json!(1))));
        assert!(put(&mut object, &Path(vec![field("c"), field("d")]), None));
        assert!(put(&mut object, &Path(vec![field("ports"), key(&[("port", "80")])]), None));
        assert_eq!(object, json!({"ports": [{"port": 81, "name": "x"}], "a": {"b": 1}}));
        assert!(!put(&mut object, &Path(vec![field("ports"), field("x")]), Some(json!(1))));
    }
}
