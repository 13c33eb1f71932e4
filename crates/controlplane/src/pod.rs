//! The pod template of a Deployment: finds its container and list elements by name.

use serde_json::{Map, Value};
use webhook::object::{self, WrongType};

use crate::command_line::CommandLine;

const CONTAINERS: [&str; 4] = ["spec", "template", "spec", "containers"];

/// The container of this name, for changes; `None` if there is none. Init containers do not count.
///
/// # Errors
/// When a parent field has the wrong type.
pub fn container_mut<'a>(
    deployment: &'a mut Value,
    name: &str,
) -> Result<Option<&'a mut Map<String, Value>>, WrongType> {
    if object::list(deployment, &CONTAINERS)?.is_empty() {
        return Ok(None);
    }
    let containers = object::list_mut(deployment, &CONTAINERS)?;
    Ok(containers.iter_mut().filter_map(Value::as_object_mut).find(|container| has_name(container, name)))
}

/// Edits the command line of a container.
///
/// # Errors
/// When `command` or `args` is not a list of strings.
pub fn edit(
    container: &mut Map<String, Value>,
    edit: impl FnOnce(&mut CommandLine),
) -> Result<(), WrongType> {
    let before = CommandLine::of_container(&Value::Object(container.clone()))?;
    let mut after = before.clone();
    edit(&mut after);
    if after != before {
        after.write(container);
    }
    Ok(())
}

/// Puts each wanted element into a list: replaces the one of the same name, or appends it.
pub fn ensure_named(list: &mut Vec<Value>, key: &str, wanted: &[Value]) {
    for element in wanted {
        match list.iter_mut().find(|known| known.get(key) == element.get(key)) {
            Some(known) => known.clone_from(element),
            None => list.push(element.clone()),
        }
    }
}

/// The list in this field; creates it if missing.
///
/// # Errors
/// When the field has another type.
pub fn list_mut<'a>(
    container: &'a mut Map<String, Value>,
    field: &'static str,
) -> Result<&'a mut Vec<Value>, WrongType> {
    let value = container.entry(field).or_insert(Value::Null);
    object::list_mut(value, &[]).map_err(|wrong| WrongType { path: field.to_owned(), ..wrong })
}

fn has_name(container: &Map<String, Value>, name: &str) -> bool {
    container.get("name").and_then(Value::as_str) == Some(name)
}
