//! Checks that values fit Go types, with the messages of Go's decoder.

use formats::base64;
use formats::json::{self, Ordered};
use formats::quantity::Quantity;
use formats::time::Layout;
use schema::{Encoding, IntegerWidth, Message, Shape, Type};
use serde_json::{Number, Value};

use super::tree::Tree;

/// kube-apiserver's message about invalid quantities.
const QUANTITY: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// The position of a value: the Go struct, and the path of field names from the root.
#[derive(Clone, Copy)]
struct GoField<'a> {
    owner: &'a str,
    path: &'a str,
}

/// Checks an object whose Go struct is named `owner`.
///
/// # Errors
/// `json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`
pub(crate) fn check(object: &Value, ty: &Type, owner: &str) -> Result<(), String> {
    check_at(object, ty, owner, "")
}

/// The same for the JSON text of an object: fields are checked in the order of the text, each value of one that is there twice.
pub(super) fn check_text(text: &[u8], ty: &Type, owner: &str) -> Result<(), String> {
    let Some(object) = Ordered::read(text) else { return Ok(()) };
    check_at(&object, ty, owner, "").map_err(|why| with_literal(why, text))
}

/// The same for a part of an object.
pub(super) fn check_at(object: &impl Tree, ty: &Type, owner: &str, path: &str) -> Result<(), String> {
    let mut first = None;
    check_value(object, ty, GoField { owner, path }, &mut first)?;
    first.map_or(Ok(()), Err)
}

/// Like Go, continues after a type error and reports the first; types with their own decoder stop at once.
fn check_value(
    found: &impl Tree,
    ty: &Type,
    at: GoField<'_>,
    first: &mut Option<String>,
) -> Result<(), String> {
    match (found.fields(), found.items(), ty.shape()) {
        (_, _, Shape::Any) => Ok(()),
        (Some(fields), _, Shape::Object) => {
            let owner = ty.definition().map_or(at.owner, struct_name);
            let message = ty.definition().and_then(Message::named);
            for (name, below) in fields {
                let Some(field) = ty.field(name) else { continue };
                let embedded = message.and_then(|message| embedded_struct(message, name));
                let steps = [(!at.path.is_empty()).then_some(at.path), embedded, Some(name.as_str())];
                let path = steps.into_iter().flatten().collect::<Vec<_>>().join(".");
                check_value(below, &field.ty, GoField { owner, path: &path }, first)?;
            }
            Ok(())
        }
        (Some(mut fields), _, Shape::Map) => {
            let Some(ty) = ty.values() else { return Ok(()) };
            fields.try_for_each(|(_, below)| check_value(below, &ty, at, first))
        }
        (_, Some(items), Shape::List) => {
            let Some(ty) = ty.items() else { return Ok(()) };
            items.iter().try_for_each(|below| check_value(below, &ty, at, first))
        }
        (_, _, shape) => check_other(&found.value(), (ty, shape), at, first),
    }
}

/// The same for a value that has no parts of its own type: null fits every type.
fn check_other(
    found: &Value,
    (ty, shape): (&Type, Shape),
    at: GoField<'_>,
    first: &mut Option<String>,
) -> Result<(), String> {
    if found.is_null() {
        return Ok(());
    }
    match check_scalar(found, shape).map_err(|why| type_error(why, ty, at)) {
        Err(why) if has_own_decoder(shape) => Err(why),
        Err(why) => {
            first.get_or_insert(why);
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// The embedded struct that has the field.
fn embedded_struct(message: &'static Message, name: &str) -> Option<&'static str> {
    message.fields.iter().filter(|field| field.name.is_empty()).find_map(|field| {
        let Encoding::Message(below) = field.encoding else { return None };
        let has = Message::named(below)?.fields.iter().any(|field| field.name == name);
        has.then(|| struct_name(below))
    })
}

fn has_own_decoder(shape: Shape) -> bool {
    matches!(shape, Shape::Quantity | Shape::IntOrString | Shape::Time | Shape::MicroTime | Shape::Duration)
}

fn type_error(why: ScalarError, ty: &Type, at: GoField<'_>) -> String {
    match why {
        ScalarError::Message(message) => message,
        ScalarError::Type(found) if at.path.is_empty() => {
            format!("json: cannot unmarshal {found} into Go value of type {}", go_type(ty))
        }
        ScalarError::Type(found) => format!(
            "json: cannot unmarshal {found} into Go struct field {}.{} of type {}",
            at.owner,
            at.path,
            go_type(ty)
        ),
    }
}

/// Why a value does not fit: a complete message, or the JSON type that was found.
pub(super) enum ScalarError {
    Message(String),
    Type(String),
}

pub(super) fn check_scalar(found: &Value, shape: Shape) -> Result<(), ScalarError> {
    let wrong = || Err(ScalarError::Type(type_name(found).to_owned()));
    match (found, shape) {
        (Value::String(_), Shape::String | Shape::IntOrString)
        | (Value::Bool(_), Shape::Boolean)
        | (Value::Number(_), Shape::Number) => Ok(()),
        (Value::Number(number), Shape::Integer(width)) => match (number.as_i64(), width) {
            (Some(whole), IntegerWidth::Int32) if i32::try_from(whole).is_ok() => Ok(()),
            (Some(_), IntegerWidth::Int64) => Ok(()),
            _ => Err(ScalarError::Type(format!("number {}", number_text(number)))),
        },
        (Value::Number(number), Shape::IntOrString) => match number.as_i64().map(i32::try_from) {
            Some(Ok(_)) => Ok(()),
            _ => Err(ScalarError::Type(format!("number {}", number_text(number)))),
        },
        (found, Shape::Quantity) => {
            let text = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
            match Quantity::parse(&text) {
                Ok(_) => Ok(()),
                Err(_) => Err(ScalarError::Message(QUANTITY.to_owned())),
            }
        }
        (Value::String(text), Shape::Bytes) => decoded(text).map_err(ScalarError::Message),
        (Value::Array(numbers), Shape::Bytes) => {
            let is_byte = |number: &Value| number.as_u64().is_some_and(|number| number < 256);
            match numbers.iter().find(|number| !is_byte(number)) {
                None => Ok(()),
                Some(Value::Null) => wrong(),
                Some(Value::Number(number)) => {
                    Err(ScalarError::Type(format!("number {}", number_text(number))))
                }
                Some(other) => Err(ScalarError::Type(type_name(other).to_owned())),
            }
        }
        (Value::String(text), Shape::Time) => time(text, Layout::Seconds),
        (Value::String(text), Shape::MicroTime) => time(text, Layout::Micros),
        (Value::String(text), Shape::Duration) => match formats::duration::GoDuration::parse(text) {
            Ok(_) => Ok(()),
            Err(error) => Err(ScalarError::Message(error.to_string())),
        },
        _ => wrong(),
    }
}

fn number_text(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(float) => json::text(float),
        None => number.to_string(),
    }
}

/// A type error with the number as the body of the request has it: `number 8e1 into …`.
pub(crate) fn with_literal(why: String, body: &[u8]) -> String {
    let numbered = why.split_once("number ").and_then(|(before, rest)| {
        let (number, after) = rest.split_once(" into ")?;
        let literal = json::literal(body, number.parse().ok()?)?;
        Some(format!("{before}number {literal} into {after}"))
    });
    numbered.unwrap_or(why)
}

/// Checks that a text is base64.
pub(super) fn decoded(text: &str) -> Result<(), String> {
    base64::decode(text).map(drop).map_err(|error| error.to_string())
}

fn time(text: &str, layout: Layout) -> Result<(), ScalarError> {
    formats::time::read(text, layout).map(drop).map_err(ScalarError::Message)
}

/// Go's name for the type of a JSON value.
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

fn struct_name(definition: &str) -> &str {
    definition.rsplit('.').next().unwrap_or(definition)
}

/// `v1.DeploymentSpec` of `io.k8s.api.apps.v1.DeploymentSpec`.
fn qualified(definition: &str) -> String {
    let mut parts = definition.rsplit('.');
    let (name, package) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("{package}.{name}")
}

#[cfg(test)]
#[expect(clippy::too_many_lines, reason = "a table of values and answers is long")]
mod tests {
    use schema::Kinds;
    use serde_json::json;

    use super::{QUANTITY, ScalarError, Shape, Value, check, check_scalar, check_text, with_literal};
    use formats::json as go_json;

    #[test]
    fn case_57_a_float_is_no_integer_and_is_quoted_as_sent() {
        let ty = Kinds::kubernetes().type_of("", "v1", "Service").expect("a kind of Kubernetes");
        let table = [
            ("80.0", "80.0"),
            ("8e1", "8e1"),
            ("-0.0", "-0.0"),
            ("9223372036854775808", "9223372036854775808"),
            ("2147483648", "2147483648"),
        ];
        for (sent, shown) in table {
            let body = format!(r#"{{"spec": {{"ports": [{{"port": {sent}}}]}}}}"#);
            let object = go_json::document(body.as_bytes()).expect("JSON");
            let why = check(&object, &ty, "Service").map_err(|why| with_literal(why, body.as_bytes()));
            let want = format!(
                "json: cannot unmarshal number {shown} into Go struct field ServicePort.spec.ports.port of type int32"
            );
            assert_eq!(why, Err(want));
        }
    }

    #[test]
    fn type_errors_have_the_message_of_go() {
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
    fn case_59_the_first_type_error_of_a_text_counts_also_that_of_an_earlier_duplicate() {
        let ty = Kinds::kubernetes().type_of("apps", "v1", "Deployment").expect("a kind of Kubernetes");
        let table = [
            (
                r#"{"spec": {"replicas": "x", "replicas": 1}}"#,
                Some("string into Go struct field DeploymentSpec.spec.replicas of type int32"),
            ),
            (
                r#"{"spec": {"replicas": 8e1, "replicas": null}}"#,
                Some("number 8e1 into Go struct field DeploymentSpec.spec.replicas of type int32"),
            ),
            (
                r#"{"metadata": {"labels": {"a": 1, "a": "x"}}}"#,
                Some("number into Go struct field ObjectMeta.metadata.labels of type string"),
            ),
            (
                r#"{"metadata": {"finalizers": [{}], "finalizers": ["x/y"]}}"#,
                Some("object into Go struct field ObjectMeta.metadata.finalizers of type string"),
            ),
            (
                r#"{"spec": 1, "spec": {"replicas": 1}}"#,
                Some("number into Go struct field Deployment.spec of type v1.DeploymentSpec"),
            ),
            (
                r#"{"spec": {"replicas": "x"}, "metadata": {"labels": 1}}"#,
                Some("string into Go struct field DeploymentSpec.spec.replicas of type int32"),
            ),
            (
                r#"{"metadata": {"labels": 1}, "spec": {"replicas": "x"}}"#,
                Some("number into Go struct field ObjectMeta.metadata.labels of type map[string]string"),
            ),
            (r#"{"spec": {"replicas": null, "replicas": 1, "other": 1, "other": "x"}}"#, None),
        ];
        for (text, want) in table {
            let want = want.map_or(Ok(()), |want| Err(format!("json: cannot unmarshal {want}")));
            assert_eq!(check_text(text.as_bytes(), &ty, "Deployment"), want, "{text}");
        }
    }

    #[test]
    fn invalid_notations_have_their_own_messages() {
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
            let Err(ScalarError::Message(message)) = check_scalar(&json!(text), shape) else {
                panic!("{text} is refused")
            };
            assert_eq!(message, want);
        }
    }
}
