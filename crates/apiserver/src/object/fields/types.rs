//! Values that Go's types do not take, in the words of its decoder.

use formats::quantity::Quantity;
use schema::{Encoding, IntegerWidth, Message, Shape, Type};
use serde_json::Value;

/// What a quantity must look like, as Kubernetes says it.
const QUANTITY: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// Where a value stands: the Go struct, and the names of the fields from the root.
#[derive(Clone, Copy)]
struct Place<'a> {
    owner: &'a str,
    path: &'a str,
}

/// Checks an object whose struct has this name.
///
/// # Errors
/// `json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`
pub(crate) fn check(object: &Value, ty: &Type, owner: &str) -> Result<(), String> {
    let mut first = None;
    value(object, ty, Place { owner, path: "" }, &mut first)?;
    first.map_or(Ok(()), Err)
}

/// Goes on after what does not fit, which is told at the end; types that read JSON themselves end it at once.
fn value(found: &Value, ty: &Type, at: Place<'_>, first: &mut Option<String>) -> Result<(), String> {
    match (found, ty.shape()) {
        (Value::Null, _) | (_, Shape::Any) => Ok(()),
        (Value::Object(fields), Shape::Object) => {
            let owner = ty.definition().map_or(at.owner, short);
            let message = ty.definition().and_then(Message::named);
            for (name, below) in fields {
                let Some(field) = ty.field(name) else { continue };
                let inlined = message.and_then(|message| inlined(message, name));
                let steps = [(!at.path.is_empty()).then_some(at.path), inlined, Some(name.as_str())];
                let path = steps.into_iter().flatten().collect::<Vec<_>>().join(".");
                value(below, &field.ty, Place { owner, path: &path }, first)?;
            }
            Ok(())
        }
        (Value::Object(fields), Shape::Map) => {
            let Some(ty) = ty.values() else { return Ok(()) };
            fields.values().try_for_each(|below| value(below, &ty, at, first))
        }
        (Value::Array(items), Shape::List) => {
            let Some(ty) = ty.items() else { return Ok(()) };
            items.iter().try_for_each(|below| value(below, &ty, at, first))
        }
        (found, shape) => match scalar(found, shape).map_err(|why| type_error(why, ty, at)) {
            Err(why) if reads_itself(shape) => Err(why),
            Err(why) => {
                first.get_or_insert(why);
                Ok(())
            }
            Ok(()) => Ok(()),
        },
    }
}

/// The struct whose fields stand in another one, if it has this field.
fn inlined(message: &'static Message, name: &str) -> Option<&'static str> {
    message.fields.iter().filter(|field| field.name.is_empty()).find_map(|field| {
        let Encoding::Message(below) = field.encoding else { return None };
        let has = Message::named(below)?.fields.iter().any(|field| field.name == name);
        has.then(|| short(below))
    })
}

fn reads_itself(shape: Shape) -> bool {
    matches!(shape, Shape::Quantity | Shape::IntOrString | Shape::Time | Shape::MicroTime | Shape::Duration)
}

fn type_error(why: Wrong, ty: &Type, at: Place<'_>) -> String {
    match why {
        Wrong::Said(words) => words,
        Wrong::Type(found) if at.path.is_empty() => {
            format!("json: cannot unmarshal {found} into Go value of type {}", go_type(ty))
        }
        Wrong::Type(found) => format!(
            "json: cannot unmarshal {found} into Go struct field {}.{} of type {}",
            at.owner,
            at.path,
            go_type(ty)
        ),
    }
}

/// Why a value is not taken: in its own words, or because of what it is.
pub(super) enum Wrong {
    Said(String),
    Type(String),
}

pub(super) fn scalar(found: &Value, shape: Shape) -> Result<(), Wrong> {
    let wrong = || Err(Wrong::Type(type_name(found).to_owned()));
    match (found, shape) {
        (Value::String(_), Shape::String | Shape::IntOrString)
        | (Value::Bool(_), Shape::Boolean)
        | (Value::Number(_), Shape::Number) => Ok(()),
        (Value::Number(number), Shape::Integer(width)) => match (number.as_i64(), width) {
            (Some(whole), IntegerWidth::Int32) if i32::try_from(whole).is_ok() => Ok(()),
            (Some(_), IntegerWidth::Int64) => Ok(()),
            _ => Err(Wrong::Type(format!("number {number}"))),
        },
        (Value::Number(number), Shape::IntOrString) => match number.as_i64().map(i32::try_from) {
            Some(Ok(_)) => Ok(()),
            _ => Err(Wrong::Type(format!("number {number}"))),
        },
        (found, Shape::Quantity) => {
            let text = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
            match Quantity::parse(&text) {
                Ok(_) => Ok(()),
                Err(_) => Err(Wrong::Said(QUANTITY.to_owned())),
            }
        }
        (Value::String(text), Shape::Bytes) => base64(text).map_err(Wrong::Said),
        (Value::Array(numbers), Shape::Bytes)
            if numbers.iter().all(|number| number.as_u64().is_some_and(|number| number < 256)) =>
        {
            Ok(())
        }
        (Value::String(text), Shape::Time) => time(text, "2006-01-02T15:04:05Z07:00").map_err(Wrong::Said),
        (Value::String(text), Shape::MicroTime) => {
            time(text, "2006-01-02T15:04:05.000000Z07:00").map_err(Wrong::Said)
        }
        (Value::String(text), Shape::Duration) => match formats::duration::GoDuration::parse(text) {
            Ok(_) => Ok(()),
            Err(error) => Err(Wrong::Said(error.to_string())),
        },
        _ => wrong(),
    }
}

/// What Go calls the type of a JSON value.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// `int32`, `[]v1.Container`, `map[string]string`.
pub(super) fn go_type(ty: &Type) -> String {
    let of = |below: Option<Type>| below.map_or_else(|| "interface {}".to_owned(), |below| go_type(&below));
    match ty.shape() {
        Shape::Object => ty.definition().map_or_else(|| "struct {}".to_owned(), qualified),
        Shape::Map => format!("map[string]{}", of(ty.values())),
        Shape::List => format!("[]{}", of(ty.items())),
        Shape::Integer(IntegerWidth::Int32) | Shape::IntOrString => "int32".to_owned(),
        Shape::Integer(IntegerWidth::Int64) => "int64".to_owned(),
        Shape::Number => "float64".to_owned(),
        Shape::Boolean => "bool".to_owned(),
        Shape::Bytes => "[]uint8".to_owned(),
        Shape::Any => "interface {}".to_owned(),
        Shape::String | Shape::Quantity | Shape::Time | Shape::MicroTime | Shape::Duration => {
            "string".to_owned()
        }
    }
}

fn short(definition: &str) -> &str {
    definition.rsplit('.').next().unwrap_or(definition)
}

/// `v1.DeploymentSpec` of `io.k8s.api.apps.v1.DeploymentSpec`.
fn qualified(definition: &str) -> String {
    let mut parts = definition.rsplit('.');
    let (name, package) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("{package}.{name}")
}

pub(super) fn base64(text: &str) -> Result<(), String> {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    // Go's decoder passes over line breaks.
    let text = text.replace(['\n', '\r'], "");
    match STANDARD.decode(&text) {
        Ok(_) => Ok(()),
        Err(base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _)) => {
            Err(format!("illegal base64 data at input byte {at}"))
        }
        Err(_) => Err(format!("illegal base64 data at input byte {}", text.len() / 4 * 4)),
    }
}

/// Only the commonest complaints about times have Go's words.
fn time(text: &str, layout: &str) -> Result<(), String> {
    let unparsable = |rest: &str, part: &str| {
        Err(format!("parsing time {text:?} as {layout:?}: cannot parse {rest:?} as {part:?}"))
    };
    let fraction = layout.contains(".000000");
    if formats::time::nanos(text).is_none() {
        return unparsable(text, "2006");
    }
    if !fraction || formats::time::micro_nanos(text).is_some() {
        return Ok(());
    }
    match text.get(26..).filter(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit())) {
        Some(rest) => unparsable(rest, "Z07:00"),
        None => unparsable(text.get(19..).unwrap_or_default(), ".000000"),
    }
}

#[cfg(test)]
#[expect(clippy::too_many_lines, reason = "a table of values and answers is long")]
mod tests {
    use schema::Kinds;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_other_types_are_refused_as_go_refuses_them() {
        let ty = Kinds::kubernetes().type_of("apps", "v1", "Deployment").expect("a kind of Kubernetes");
        let template = |spec: Value| json!({"spec": {"template": {"spec": spec}}});
        let table = [
            (
                json!({"spec": {"replicas": "x"}}),
                "string into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (
                json!({"spec": {"replicas": 1.5}}),
                "number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (
                json!({"spec": {"replicas": 4_294_967_296_i64}}),
                "number 4294967296 into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (json!({"spec": "x"}), "string into Go struct field Deployment.spec of type v1.DeploymentSpec"),
            (
                json!({"spec": {"selector": {"matchLabels": {"a": 1}}}}),
                "number into Go struct field LabelSelector.spec.selector.matchLabels of type string",
            ),
            (
                template(json!({"containers": {}})),
                "object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
            ),
            (
                template(json!({"containers": [1]})),
                "number into Go struct field PodSpec.spec.template.spec.containers of type v1.Container",
            ),
            (
                template(json!({"containers": [{"name": 1}]})),
                "number into Go struct field Container.spec.template.spec.containers.name of type string",
            ),
            (
                json!({"spec": {"strategy": {"rollingUpdate": {"maxSurge": true}}}}),
                "bool into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
            ),
            (
                json!({"metadata": {"labels": {"a": 1}}}),
                "number into Go struct field ObjectMeta.metadata.labels of type string",
            ),
        ];
        for (object, want) in table {
            assert_eq!(
                check(&object, &ty, "Deployment"),
                Err(format!("json: cannot unmarshal {want}")),
                "{object}"
            );
        }
        for cpu in [json!("x"), json!(true)] {
            let object = template(json!({"containers": [{"resources": {"limits": {"cpu": cpu}}}]}));
            assert_eq!(check(&object, &ty, "Deployment"), Err(QUANTITY.to_owned()));
        }
        let fine = json!({"spec": {"replicas": null, "strategy": {"rollingUpdate": {"maxSurge": "25%"}}}});
        assert_eq!(check(&fine, &ty, "Deployment"), Ok(()));
    }

    #[test]
    fn notations_are_refused_in_their_own_words() {
        let table = [
            (Shape::Bytes, "!", "illegal base64 data at input byte 0"),
            (
                Shape::Time,
                "x",
                "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"",
            ),
            (
                Shape::MicroTime,
                "2020-01-01T00:00:00Z",
                "parsing time \"2020-01-01T00:00:00Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \
                 \".000000\"",
            ),
        ];
        for (shape, text, want) in table {
            let Err(Wrong::Said(words)) = scalar(&json!(text), shape) else { panic!("{text} is refused") };
            assert_eq!(words, want);
        }
    }
}
