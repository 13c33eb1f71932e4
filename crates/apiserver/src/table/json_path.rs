//! JSON paths of printer columns: fields, indices, wildcards, and filters by the value of a field.

use serde_json::Value;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PathStep {
    Field(String),
    Index(i64),
    All,
    /// `[?(@.type=="Ready")]`: the field's path and the text it must have.
    Where(Vec<String>, String),
}

/// The first value that a path such as `.status.conditions[?(@.type=="Ready")].status` selects.
pub(super) fn first<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let mut found = vec![object];
    for step in parse_steps(path)? {
        found = found.into_iter().flat_map(|value| select(value, &step)).collect();
    }
    found.into_iter().find(|value| !value.is_null())
}

fn select<'a>(value: &'a Value, step: &PathStep) -> Vec<&'a Value> {
    let items = || value.as_array().into_iter().flatten();
    match step {
        PathStep::Field(name) => value.get(name).into_iter().collect(),
        PathStep::Index(index) => {
            let length = i64::try_from(items().count()).unwrap_or(i64::MAX);
            let at = if *index < 0 { length + index } else { *index };
            usize::try_from(at).ok().and_then(|at| value.get(at)).into_iter().collect()
        }
        PathStep::All => {
            items().chain(value.as_object().into_iter().flat_map(|fields| fields.values())).collect()
        }
        PathStep::Where(field, wanted) => {
            let has = |item: &&Value| {
                field.iter().try_fold(*item, |at, name| at.get(name)).is_some_and(|v| v == wanted)
            };
            items().filter(has).collect()
        }
    }
}

fn parse_steps(path: &str) -> Option<Vec<PathStep>> {
    let mut steps = Vec::new();
    let mut rest = path.trim_start_matches('$');
    while !rest.is_empty() {
        if let Some(bracketed) = rest.strip_prefix('[') {
            let end =
                if bracketed.starts_with('?') { bracketed.find(")]")? + 1 } else { bracketed.find(']')? };
            steps.push(parse_bracket(&bracketed[..end])?);
            rest = &bracketed[end + 1..];
        } else {
            let (name, after) = parse_field(rest.strip_prefix('.')?);
            if !name.is_empty() {
                steps.push(PathStep::Field(name));
            }
            rest = after;
        }
    }
    Some(steps)
}

/// Parses a field's name up to the next dot or bracket; a backslash escapes one.
fn parse_field(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => name.extend(letters.next().map(|(_, letter)| letter)),
            '.' | '[' => return (name, &text[at..]),
            letter => name.push(letter),
        }
    }
    (name, "")
}

fn parse_bracket(text: &str) -> Option<PathStep> {
    let unquoted = |text: &str| text.trim_matches(|c| c == '\'' || c == '"').to_owned();
    if text == "*" {
        return Some(PathStep::All);
    }
    if let Some(filter) = text.strip_prefix("?(").and_then(|text| text.strip_suffix(')')) {
        let (left, right) = filter.split_once("==")?;
        let field = left.trim().strip_prefix("@.")?.split('.').map(str::to_owned).collect();
        return Some(PathStep::Where(field, unquoted(right.trim())));
    }
    Some(text.parse().map_or_else(|_| PathStep::Field(unquoted(text)), PathStep::Index))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_select_values() {
        let object = json!({
            "spec": {"size": 3, "list": ["a", "b"]},
            "metadata": {"annotations": {"a.b/c": "x"}},
            "status": {"conditions": [{"type": "A", "status": "1"}, {"type": "B", "status": "2"}]},
        });
        let table = [
            (".spec.size", Some(json!(3))),
            (".spec.none", None),
            (".spec.list[1]", Some(json!("b"))),
            (".spec.list[-1]", Some(json!("b"))),
            (".spec.list[*]", Some(json!("a"))),
            (".metadata.annotations.a\\.b/c", Some(json!("x"))),
            (".metadata.annotations['a.b/c']", Some(json!("x"))),
            (".status.conditions[?(@.type==\"B\")].status", Some(json!("2"))),
            (".status.conditions[?(@.type=='C')].status", None),
        ];
        for (path, want) in table {
            assert_eq!(first(&object, path), want.as_ref(), "{path}");
        }
    }
}
