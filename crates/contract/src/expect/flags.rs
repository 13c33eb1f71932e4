//! Command lines of containers, lists and strings: parsed into flags, and written back.

use formats::command_line::{self, Kind, kind, occurrences};
use serde_json::{Map, Value};

use super::scalar::bare;

/// The flags of a container (`command` and `args` read as one), of a list of words, or of a line.
///
/// A flag with one value is a string, the last occurrence's; a list, or a flag that may be repeated, is a map of
/// its members to `true`; a map is a map of strings. `None` if the value is not a command line.
pub(super) fn open(value: &Value) -> Option<Value> {
    let words = words(value)?;
    let flags = command_line::flags(&words).into_iter().map(|(name, values)| {
        let value = match kind(&name) {
            Kind::Single => Value::from(values.last().cloned().unwrap_or_default()),
            Kind::List | Kind::Repeated => {
                values.into_iter().map(|member| (member, Value::Bool(true))).collect()
            }
            Kind::Map => {
                let entry = |entry: String| {
                    let (key, value) = entry.split_once('=').unwrap_or((&entry, ""));
                    (key.to_owned(), Value::from(value))
                };
                values.into_iter().map(entry).collect()
            }
        };
        (name, value)
    });
    Some(Value::Object(flags.collect()))
}

/// The words of a command line that are neither flags nor their values: the program, and variables.
#[must_use]
pub fn words_beside_flags(value: &Value) -> Option<Vec<String>> {
    let mut words = words(value)?;
    for occurrence in occurrences(&words).into_iter().rev() {
        words.drain(occurrence.at..occurrence.at + occurrence.words);
    }
    Some(words)
}

/// The container, list or line with these flags: changed flags are removed and appended with their new values.
pub(super) fn close(content: &Value, before: &Value) -> Option<Value> {
    let known = open(before)?;
    let content = content.as_object()?;
    let none = Map::new();
    let known = known.as_object().unwrap_or(&none);
    let differs = |name: &&String| known.get(*name) != content.get(*name);
    let changed: Vec<&String> = known.keys().chain(content.keys()).filter(differs).collect();
    let mut words = words(before)?;
    for occurrence in
        occurrences(&words).into_iter().rev().filter(|occurrence| changed.contains(&&occurrence.name))
    {
        words.drain(occurrence.at..occurrence.at + occurrence.words);
    }
    let mut names: Vec<&String> = changed.into_iter().filter(|name| content.contains_key(*name)).collect();
    names.dedup();
    words.extend(names.into_iter().flat_map(|name| write_flag(name, &content[name])));
    Some(write_words(&words, before))
}

fn write_flag(name: &str, value: &Value) -> Vec<String> {
    let Value::Object(members) = value else { return vec![format!("{name}={}", bare(value))] };
    // The value of a member does not matter: it is in the list.
    let member = |(key, value): (&String, &Value)| match kind(name) {
        Kind::Map => format!("{key}={}", bare(value)),
        Kind::Single | Kind::List | Kind::Repeated => key.clone(),
    };
    let members: Vec<String> = members.iter().map(member).collect();
    match kind(name) {
        Kind::Repeated => members.iter().map(|member| format!("{name}={member}")).collect(),
        Kind::Single | Kind::List | Kind::Map => vec![format!("{name}={}", members.join(","))],
    }
}

/// Writes the words back; in a container, flags go to `args` if it had any, else to `command`.
fn write_words(words: &[String], before: &Value) -> Value {
    let list = |words: &[String]| -> Value { words.iter().map(String::as_str).collect() };
    match before {
        Value::String(_) => Value::from(words.join(" ")),
        Value::Object(container) => {
            let mut container = container.clone();
            let programs = words.iter().take_while(|word| !word.starts_with('-')).count();
            let has_args =
                container.get("args").and_then(Value::as_array).is_some_and(|args| !args.is_empty());
            let (command, args) = words.split_at(if has_args { programs } else { words.len() });
            container.insert("command".to_owned(), list(command));
            if has_args {
                container.insert("args".to_owned(), list(args));
            }
            Value::Object(container)
        }
        _ => list(words),
    }
}

fn words(value: &Value) -> Option<Vec<String>> {
    let texts = |list: &Value| -> Option<Vec<String>> {
        list.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
    };
    match value {
        Value::String(line) => Some(command_line::words(line)),
        Value::Array(_) => texts(value),
        Value::Object(container) => {
            let field = |name: &str| {
                container.get(name).filter(|value| !value.is_null()).map_or(Some(Vec::new()), texts)
            };
            Some([field("command")?, field("args")?].concat())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn command_and_args_are_one() {
        let container = json!({"name": "x", "command": ["kube-apiserver", "--a=b"], "args": ["--c", "d", "--a=e",
            "--feature-gates=B=false,A=true", "--enable-admission-plugins=Q,P", "--service-account-issuer=i,j"]});
        let flags = json!({"--a": "e", "--c": "d", "--feature-gates": {"A": "true", "B": "false"},
            "--enable-admission-plugins": {"P": true, "Q": true}, "--service-account-issuer": {"i,j": true}});
        assert_eq!(open(&container), Some(flags));
        assert_eq!(open(&json!({"command": [1]})), None);
        assert_eq!(open(&json!(1)), None);
    }

    #[test]
    fn written_flags_are_parsed_again() {
        let flags = json!({"--a": "x", "--n": "1", "--feature-gates": {"A": "false"}, "--tls-sni-cert-key": {"a,b": true, "c": true},
            "--enable-admission-plugins": {"P": true}});
        for before in [
            json!({"name": "x", "command": ["kube-apiserver"], "args": ["--a=b", "--c", "d"]}),
            json!({"command": ["kube-apiserver", "--a", "b", "--enable-admission-plugins=Q"]}),
            json!({"name": "x"}),
            json!(["--feature-gates=A=true", "$EXTRA"]),
            json!("/opt/bin/kubelet \\\n  --a=b \\\n $EXTRA"),
        ] {
            let after = close(&flags, &before).expect("it has words");
            assert_eq!(open(&after), Some(flags.clone()), "{before}");
            assert_eq!((after.get("name"), before.is_string()), (before.get("name"), after.is_string()));
        }
    }
}
