//! Validates what one version of a CRD has, or all have in common: schema, scale, columns, selectable fields.

use serde_json::Value;
use webhook::field::{Error, Shown};

use super::field_error::{invalid, required, text};
use super::rules;

/// The errors of schema, subresources, columns and selectable fields, where `schema_at` is the name of the schema.
pub(super) fn definition<'a>(
    (at, schema_at): (&str, &str),
    of: &dyn Fn(&str) -> Option<&'a Value>,
    has_status: bool,
) -> Vec<Error> {
    let schema = of("schema").and_then(|schema| schema.get("openAPIV3Schema"));
    let mut errors = Vec::new();
    if let Some(schema @ Value::Object(_)) = schema {
        errors.extend(rules::check(&format!("{at}.{schema_at}.openAPIV3Schema"), schema, has_status));
    }
    let subresources = of("subresources");
    errors.extend(scale(
        &format!("{at}.subresources.scale"),
        subresources.and_then(|subresources| subresources.get("scale")),
    ));
    let columns = of("additionalPrinterColumns").and_then(Value::as_array).into_iter().flatten();
    for (index, declared) in columns.enumerate() {
        errors.extend(column(&format!("{at}.additionalPrinterColumns[{index}]"), declared));
    }
    let fields = of("selectableFields").and_then(Value::as_array).into_iter().flatten();
    for (index, field) in fields.enumerate() {
        let at = format!("{at}.selectableFields[{index}].jsonPath");
        errors.extend(selectable(&at, schema.unwrap_or(&Value::Null), field));
    }
    errors
}

fn scale(at: &str, scale: Option<&Value>) -> Vec<Error> {
    let Some(scale) = scale.filter(|scale| scale.is_object()) else { return Vec::new() };
    let mut errors = Vec::new();
    let roots = [
        ("specReplicasPath", &[".spec"][..]),
        ("statusReplicasPath", &[".status"]),
        ("labelSelectorPath", &[".spec", ".status"]),
    ];
    for (field, roots) in roots {
        let (at, path) = (format!("{at}.{field}"), text(scale, field));
        let below = |root: &&str| path.strip_prefix(root).is_some_and(|rest| rest.starts_with('.'));
        match path {
            "" if field == "labelSelectorPath" => {}
            "" => errors.push(required(&at, "")),
            _ if !path.starts_with('.') => {
                let why = "must be a simple json path starting with .";
                errors.push(invalid(&at, Shown::from(path), why));
            }
            _ if roots.iter().any(below) => {}
            _ => {
                let either = if roots.len() > 1 { "either " } else { "" };
                let why = format!("should be a json path under {either}{}", roots.join(" or "));
                errors.push(invalid(&at, Shown::from(path), &why));
            }
        }
    }
    errors
}

fn column(at: &str, column: &Value) -> Vec<Error> {
    const TYPES: &str = "boolean,date,integer,number,string";
    const FORMATS: &str = "byte,date,date-time,double,float,int32,int64,password";
    let known = |list: &str, word: &str| list.split(',').any(|known| known == word);
    let [name, kind, format, path] = ["name", "type", "format", "jsonPath"].map(|field| text(column, field));
    let mut errors = Vec::new();
    if name.is_empty() {
        errors.push(required(&format!("{at}.name"), ""));
    }
    if kind.is_empty() {
        errors.push(required(&format!("{at}.type"), &format!("must be one of {TYPES}")));
    } else if !known(TYPES, kind) {
        errors.push(invalid(&format!("{at}.type"), Shown::from(kind), &format!("must be one of {TYPES}")));
    }
    if !format.is_empty() && !known(FORMATS, format) {
        errors.push(invalid(
            &format!("{at}.format"),
            Shown::from(format),
            &format!("must be one of {FORMATS}"),
        ));
    }
    if path.is_empty() {
        errors.push(required(&format!("{at}.JSONPath"), ""));
    } else if !path.starts_with('.') {
        let why = "must be a simple json path starting with .";
        errors.push(invalid(&format!("{at}.JSONPath"), Shown::from(path), why));
    }
    errors
}

fn selectable(at: &str, schema: &Value, field: &Value) -> Vec<Error> {
    let path = text(field, "jsonPath");
    if path.is_empty() {
        return vec![required(at, "")];
    }
    let mut names = path.trim_start_matches('.').split('.');
    let found = names.try_fold(schema, |schema, name| schema.get("properties")?.get(name));
    let scalar = |schema: &Value| matches!(text(schema, "type"), "string" | "boolean" | "integer");
    match found {
        None => vec![invalid(at, Shown::from(path), "is an invalid path: does not refer to a valid field")],
        Some(schema) if !scalar(schema) => {
            let why = "must point to a field of type string, boolean or integer. Enum string fields and strings with \
                       formats are allowed.";
            vec![invalid(at, Shown::from(path), why)]
        }
        Some(_) => Vec::new(),
    }
}
