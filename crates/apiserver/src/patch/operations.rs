//! Parses JSON patches.

use formats::json::Ordered;
use serde_json::Value;

use crate::object::fields::type_name;

/// Parses a body as operations.
///
/// # Errors
/// The message of Go's decoder.
pub(crate) fn read(body: &[u8], strict: bool) -> Result<Vec<Value>, String> {
    let result = formats::json_patch::read(body);
    if !strict {
        return result;
    }
    // The check for unknown fields decodes the patch first, into kube-apiserver's own type.
    let in_own_type = |why: String| {
        why.replace("jsonpatch.Patch", "[]handlers.jsonPatchOp")
            .replace("jsonpatch.Operation", "handlers.jsonPatchOp")
    };
    let decoded = |why: String| format!("error decoding patch: {}", in_own_type(why));
    let operations = result.map_err(decoded)?;
    match Ordered::read(body).as_ref().and_then(type_error) {
        Some(why) => Err(decoded(why)),
        None => Ok(operations),
    }
}

/// The error about the first field in the text that is not a string, also if the operation has it again.
fn type_error(operations: &Ordered) -> Option<String> {
    const TEXTS: [&str; 3] = ["op", "path", "from"];
    let Ordered::List(operations) = operations else { return None };
    let mut fields = operations.iter().flat_map(|operation| match operation {
        Ordered::Object(fields) => fields.as_slice(),
        Ordered::List(_) | Ordered::Scalar(_) => &[],
    });
    fields.find_map(|(name, found)| {
        let found = found.to_value();
        let fits = found.is_string() || found.is_null() || !TEXTS.contains(&name.as_str());
        let found = type_name(&found);
        (!fits).then(|| {
            format!("json: cannot unmarshal {found} into Go struct field jsonPatchOp.{name} of type string")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_lists_have_the_message_of_go() {
        let table = [
            ("{}", "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
            ("[1]", "json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"),
            ("", "unexpected end of JSON input"),
            (
                r#"[{"path": 1, "op": true}]"#,
                "json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string",
            ),
            (
                r#"[{"op": "add", "path": "/a", "value": 1}, {"op": [], "op": "add", "path": "/a"}]"#,
                "json: cannot unmarshal array into Go struct field jsonPatchOp.op of type string",
            ),
        ];
        for (body, want) in table {
            assert_eq!(read(body.as_bytes(), true), Err(format!("error decoding patch: {want}")), "{body}");
        }
        assert_eq!(read(b"null", true), Ok(Vec::new()));
        let twice = br#"[{"op": 1, "op": "add", "path": "/a"}]"#;
        assert_eq!(read(twice, false), Ok(vec![serde_json::json!({"op": "add", "path": "/a"})]));
    }
}
