//! What a Go type decodes, it writes anew: times in UTC and with the precision of their type, durations in Go's notation, bytes
//! without line breaks.

use formats::base64;
use formats::duration::GoDuration;
use formats::time::{self, Layout};
use schema::{Shape, Type};
use serde_json::Value;

/// Rewrites all values of such types; [`super::types::check`] has accepted them.
pub(super) fn rewrite(value: &mut Value, ty: &Type) {
    let shape = ty.shape();
    match (&mut *value, shape) {
        (Value::Object(fields), Shape::Object) => {
            for (name, below) in fields {
                if let Some(field) = ty.field(name) {
                    rewrite(below, &field.ty);
                }
            }
        }
        (Value::Object(fields), Shape::Map) => {
            let Some(ty) = ty.values() else { return };
            fields.values_mut().for_each(|below| rewrite(below, &ty));
        }
        (Value::Array(items), Shape::List) => {
            let Some(ty) = ty.items() else { return };
            for below in items.iter_mut() {
                rewrite(below, &ty);
            }
        }
        (Value::String(text), _) => {
            if let Some(rewritten) = scalar(text, shape) {
                *value = rewritten;
            }
        }
        _ => {}
    }
}

/// What the type writes for a text; `None` for types that keep it.
fn scalar(text: &str, shape: Shape) -> Option<Value> {
    let written = |layout| Some(time::write(time::read(text, layout).ok()?, layout).into());
    match shape {
        Shape::Time => written(Layout::Seconds),
        Shape::MicroTime => written(Layout::Micros),
        Shape::Duration => Some(GoDuration::parse(text).ok()?.to_string().into()),
        Shape::Bytes => Some(base64::encode(&base64::decode(text).ok()?).into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use schema::Kinds;
    use serde_json::json;

    use super::*;

    #[test]
    fn case_58_times_and_bytes_are_written_anew() {
        let rewritten = |group: &str, kind: &str, mut object: Value| {
            rewrite(&mut object, &Kinds::kubernetes().type_of(group, "v1", kind).unwrap());
            object
        };
        let table = [
            (
                "coordination.k8s.io",
                "Lease",
                json!({"spec": {"renewTime": "2020-01-01T02:00:00.000000+02:00"}}),
                json!({"spec": {"renewTime": "2020-01-01T00:00:00.000000Z"}}),
            ),
            (
                "",
                "Secret",
                json!({"data": {"a": "YW\nJj", "b": "YR=="}}),
                json!({"data": {"a": "YWJj", "b": "YQ=="}}),
            ),
            (
                "",
                "Pod",
                json!({"status": {"conditions": [{"lastProbeTime": "2020-01-01T02:00:00.5+02:00", "lastTransitionTime": "0001-01-01T00:00:00Z"}]}}),
                json!({"status": {"conditions": [{"lastProbeTime": "2020-01-01T00:00:00Z", "lastTransitionTime": null}]}}),
            ),
            (
                "",
                "ConfigMap",
                json!({"data": {"a": "2020-01-01T02:00:00.5+02:00"}}),
                json!({"data": {"a": "2020-01-01T02:00:00.5+02:00"}}),
            ),
        ];
        for (group, kind, object, want) in table {
            assert_eq!(rewritten(group, kind, object), want);
        }
    }
}
