//! CertificateSigningRequests as facts: the server sets the requesting user, and only its approval subresource sets a
//! decision.

use serde_json::Value;

use crate::cluster::Asker;

/// The user that a request names; absent for other kinds, and if it names none.
pub(crate) fn requestor(object: &Value) -> Option<Asker> {
    let spec = Some(object).filter(|object| object["kind"] == "CertificateSigningRequest")?.get("spec")?;
    let groups = spec["groups"].as_array().into_iter().flatten();
    Some(Asker {
        name: spec["username"].as_str()?.to_owned(),
        groups: groups.filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

/// The status of an approved or denied request; absent if it is not decided.
pub(crate) fn decision_status(object: &Value) -> Option<&Value> {
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
    fn a_request_names_its_requestor() {
        let kind = "CertificateSigningRequest";
        let request = json!({"kind": kind, "spec": {"username": "a", "groups": ["b"]}});
        assert_eq!(requestor(&request), Some(Asker { name: "a".to_owned(), groups: vec!["b".to_owned()] }));
        assert_eq!(requestor(&json!({"kind": kind, "spec": {}})), None);
        assert_eq!(requestor(&json!({"kind": "Other", "spec": {"username": "a"}})), None);
    }

    #[test]
    fn only_approval_and_denial_are_decisions() {
        let of = |kind: &str, condition: &str| json!({"kind": kind, "status": {"conditions": [{"type": condition}]}});
        let kind = "CertificateSigningRequest";
        assert_eq!(decision_status(&of(kind, "Denied")), Some(&of(kind, "Denied")["status"]));
        assert_eq!(decision_status(&of(kind, "Failed")), None);
        assert_eq!(decision_status(&of("Other", "Denied")), None);
    }
}
