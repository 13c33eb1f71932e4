//! Parses JSON patches.

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
    for operation in &operations {
        for field in ["op", "path", "from"] {
            if let Some(other) = operation.get(field).filter(|text| !text.is_string() && !text.is_null()) {
                let found = type_name(other);
                let why = format!(
                    "json: cannot unmarshal {found} into Go struct field jsonPatchOp.{field} of type string"
                );
                return Err(decoded(why));
            }
        }
    }
    Ok(operations)
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
        ];
        for (body, want) in table {
            assert_eq!(read(body.as_bytes(), true), Err(format!("error decoding patch: {want}")), "{body}");
        }
        assert_eq!(read(b"null", true), Ok(Vec::new()));
    }
}
