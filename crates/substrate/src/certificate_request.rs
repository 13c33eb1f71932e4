//! CertificateSigningRequests as facts: who asked and what was decided is set by the server, so it is brought about.

use serde_json::Value;

use crate::cluster::Asker;

/// The user that an object says asked; absent of other kinds, and where nobody is named.
pub(crate) fn asker(object: &Value) -> Option<Asker> {
    let spec = Some(object).filter(|object| object["kind"] == "CertificateSigningRequest")?.get("spec")?;
    let groups = spec["groups"].as_array().into_iter().flatten();
    Some(Asker {
        name: spec["username"].as_str()?.to_owned(),
        groups: groups.filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

/// The status with which a request is approved or denied; absent where it is not decided.
pub(crate) fn decided(object: &Value) -> Option<&Value> {
    let status =
        Some(object).filter(|object| object["kind"] == "CertificateSigningRequest")?.get("status")?;
    let conditions = status["conditions"].as_array()?;
    let is_decision = |condition: &Value| condition["type"] == "Approved" || condition["type"] == "Denied";
    conditions.iter().any(is_decision).then_some(status)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_is_asked_for_by_whom_it_names() {
        let kind = "CertificateSigningRequest";
        let asked = json!({"kind": kind, "spec": {"username": "a", "groups": ["b"]}});
        assert_eq!(asker(&asked), Some(Asker { name: "a".to_owned(), groups: vec!["b".to_owned()] }));
        assert_eq!(asker(&json!({"kind": kind, "spec": {}})), None);
        assert_eq!(asker(&json!({"kind": "Other", "spec": {"username": "a"}})), None);
    }

    #[test]
    fn a_decision_is_told_from_other_conditions() {
        let of = |kind: &str, condition: &str| json!({"kind": kind, "status": {"conditions": [{"type": condition}]}});
        let kind = "CertificateSigningRequest";
        assert_eq!(decided(&of(kind, "Denied")), Some(&of(kind, "Denied")["status"]));
        assert_eq!(decided(&of(kind, "Failed")), None);
        assert_eq!(decided(&of("Other", "Denied")), None);
    }
}
