//! Lists of operations as a client sends them.

use serde_json::Value;

/// What a body must be to be operations.
///
/// # Errors
/// With the words of Go's decoder.
pub(crate) fn read(body: &[u8], strict: bool) -> Result<Vec<Value>, String> {
    let read = formats::json_patch::read(body);
    if !strict {
        return read;
    }
    // Who looks for unknown fields reads it before whoever carries it out.
    let told = |why: String| {
        why.replace("jsonpatch.Patch", "[]handlers.jsonPatchOp")
            .replace("jsonpatch.Operation", "handlers.jsonPatchOp")
    };
    read.map_err(|why| format!("error decoding patch: {}", told(why)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_list_of_operations_is_told_as_go_tells_it() {
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
