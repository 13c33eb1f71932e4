//! Admission policies: this server evaluates none of their expressions, so it refuses a policy that has any. Otherwise a test
//! would pass here because a policy does nothing, and fail on a real server.

use serde_json::Value;
use webhook::field::{Error, Path};

use crate::http::status::Status;
use crate::object::meta;

/// The fields of a policy's spec with what a real server evaluates for each request. Everything else of a policy (constraints,
/// variables, match conditions, parameters) only says when, and is never reached without one of these.
const EVALUATED: &[(&str, &str)] = &[
    ("validations", "this server does not evaluate validations of admission policies"),
    ("auditAnnotations", "this server does not evaluate audit annotations of admission policies"),
    ("mutations", "this server does not apply mutations of admission policies"),
];

/// Refuses a policy that a real server would enforce, with the path of each expression.
pub(crate) fn check(object: &Value) -> Result<(), Status> {
    let kind = object["kind"].as_str().unwrap_or_default();
    let mut errors = Vec::new();
    for (field, why) in EVALUATED {
        for (index, _) in object["spec"][field].as_array().into_iter().flatten().enumerate() {
            let at = Path::new("spec").child(field).index(index);
            errors.push(Error::forbidden(&at, why));
        }
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::invalid("admissionregistration.k8s.io", kind, meta::name(object), &errors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn case_55_a_policy_is_refused_with_the_paths_of_its_expressions() {
        let policy = |spec: Value| {
            let object =
                json!({"kind": "ValidatingAdmissionPolicy", "metadata": {"name": "never"}, "spec": spec});
            check(&object).map_err(|status| status.message)
        };
        let why = "this server does not evaluate validations of admission policies";
        let want = format!(
            "ValidatingAdmissionPolicy.admissionregistration.k8s.io \"never\" is invalid: \
             [spec.validations[0]: Forbidden: {why}, spec.validations[1]: Forbidden: {why}]"
        );
        assert_eq!(
            policy(json!({"validations": [{"expression": "false"}, {"expression": "true"}]})),
            Err(want)
        );
        for field in ["auditAnnotations", "mutations"] {
            let refused = policy(json!({field: [{}]}));
            assert!(
                refused.is_err_and(|why| why.contains(&format!("spec.{field}[0]: Forbidden"))),
                "{field}"
            );
        }
        assert_eq!(
            policy(json!({"validations": [], "variables": [{"name": "x", "expression": "1"}]})),
            Ok(())
        );
    }
}
