//! Warnings about Shoots: credentials to rotate, rotations to complete, settings to replace.

use api::garden::Shoot;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::columns::time;
use crate::webhooks::kubernetes_version::is_below;
use crate::webhooks::reading;

const USAGE: &str = "https://github.com/gardener/gardener/blob/master/docs/usage/";
const ROTATION: &str = "/status/credentials/rotation";
/// After how long credentials are to be rotated: the original's default.
const INTERVAL: SignedDuration = SignedDuration::from_hours(90 * 24);

/// Fields of rotations in the status, what they rotate, and where the documentation describes it.
const CREDENTIALS: [(&str, &str, &str); 6] = [
    ("certificateAuthorities", "certificate authorities", "certificate-authorities"),
    ("etcdEncryptionKey", "ETCD encryption key", "etcd-encryption-key"),
    ("kubeconfig", "static token kubeconfig", "kubeconfig"),
    ("observability", "observability passwords", "observability-passwords-for-plutono"),
    ("serviceAccountKey", "ServiceAccount token signing key", "serviceaccount-token-signing-key"),
    ("sshKeypair", "SSH keypair", "ssh-key-pair-for-worker-nodes"),
];
/// Those that are rotated in two steps.
const IN_TWO_STEPS: [&str; 3] = ["certificateAuthorities", "etcdEncryptionKey", "serviceAccountKey"];

/// The warnings about a valid Shoot; most are about updates.
pub(super) fn of(old: Option<&Value>, new: &Value, now: Timestamp) -> Vec<String> {
    let Ok(shoot) = reading::read::<Shoot>("Shoot", new) else { return Vec::new() };
    let has_static = shoot.spec.kubernetes.enable_static_token_kubeconfig.unwrap_or(true);
    let mut warnings = Vec::new();
    if has_static {
        warnings.push(format!(
            "you should consider disabling the static token kubeconfig, see {USAGE}shoot_access.md for details"
        ));
    }
    if old.is_some() {
        warnings.extend(rotations(&shoot, new, has_static, now));
        warnings.extend(completions(new, now));
        warnings.extend(pod_security_policy(&shoot));
    }
    let manager = shoot.spec.kubernetes.kube_controller_manager.as_ref();
    if manager.is_some_and(|manager| manager.pod_eviction_timeout.is_some()) {
        warnings.push(
            "you are setting the spec.kubernetes.kubeControllerManager.podEvictionTimeout field. The field does not have \
             effect since Kubernetes 1.13. Instead, use the \
             spec.kubernetes.kubeAPIServer.(defaultNotReadyTolerationSeconds/defaultUnreachableTolerationSeconds) fields."
                .to_owned(),
        );
    }
    warnings
}

/// Credentials that were never rotated, or not for long, of a Shoot that is old enough.
fn rotations(shoot: &Shoot, new: &Value, has_static: bool, now: Timestamp) -> Vec<String> {
    let is_due = |at: Option<Timestamp>| at.is_none_or(|at| now.duration_since(at) > INTERVAL);
    let text = |what: &str, section: &str| {
        format!(
            "you should consider rotating the {what}, see {USAGE}shoot_credentials_rotation.md#{section} for details"
        )
    };
    if time(new, "/metadata/creationTimestamp").is_none_or(|created| !is_due(Some(created))) {
        return Vec::new();
    }
    if new.pointer(ROTATION).is_none_or(Value::is_null) {
        return vec![text("shoot credentials", "gardener-provided-credentials")];
    }
    let has = |field: &str| match field {
        "kubeconfig" => has_static,
        "observability" => shoot.spec.purpose.as_deref() != Some("testing"),
        "sshKeypair" => super::shoot_generation::has_ssh(shoot),
        _ => true,
    };
    let is_due = |field: &str| is_due(time(new, &format!("{ROTATION}/{field}/lastInitiationTime")));
    let due = CREDENTIALS.iter().filter(|(field, ..)| has(field) && is_due(field));
    due.map(|(_, what, section)| text(what, section)).collect()
}

/// Rotations whose first step ended long ago.
fn completions(new: &Value, now: Timestamp) -> Vec<String> {
    let patience = INTERVAL / 3;
    let is_late = |field: &str| {
        let at = |step: &str| time(new, &format!("{ROTATION}/{field}/{step}"));
        let Some(finished) = at("lastInitiationFinishedTime") else { return false };
        let is_completed = at("lastCompletionTriggeredTime").is_some_and(|triggered| triggered > finished);
        !is_completed && now.duration_since(finished) > patience
    };
    let hours = patience.as_hours();
    let late = CREDENTIALS.iter().filter(|(field, ..)| IN_TWO_STEPS.contains(field) && is_late(field));
    let text = |what: &str| {
        format!(
            "the {what} rotation initiation was finished more than {hours}h0m0s ago and should be completed"
        )
    };
    late.map(|(_, what, _)| text(what)).collect()
}

/// Before 1.25, PodSecurity should restrict pods instead; a Shoot without workers cannot declare that it does.
fn pod_security_policy(shoot: &Shoot) -> Option<String> {
    let kubernetes = &shoot.spec.kubernetes;
    let plugins = kubernetes.kube_api_server.iter().flat_map(|server| &server.admission_plugins);
    let is_off =
        plugins.into_iter().any(|plugin| plugin.name == "PodSecurityPolicy" && plugin.disabled == Some(true));
    let has_migrated = is_off && !shoot.spec.provider.workers.is_empty();
    let is_old = is_below(kubernetes.version.as_deref().unwrap_or_default(), 25);
    (is_old && !has_migrated).then(|| {
        format!(
            "you should consider migrating to PodSecurity, see \
             {USAGE}pod-security.md#migrating-from-podsecuritypolicys-to-podsecurity-admission-controller for details"
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn warnings(rotation: &Value, created: &str) -> Vec<String> {
        let shoot = json!({
            "metadata": {"creationTimestamp": created}, "status": {"credentials": {"rotation": rotation}},
            "spec": {
                "kubernetes": {"version": "1.26.1", "enableStaticTokenKubeconfig": false}, "purpose": "testing",
                "provider": {"workers": [{"name": "w"}]},
            },
        });
        of(Some(&shoot), &shoot, "2024-06-01T00:00:00Z".parse().unwrap())
    }

    #[test]
    fn credentials_are_rotated_after_ninety_days() {
        let initiated = |at: &str| json!({"lastInitiationTime": at});
        let all = |at: &str| {
            let fields = CREDENTIALS.iter().map(|(field, ..)| ((*field).to_owned(), initiated(at)));
            Value::Object(fields.collect())
        };
        let none: [&str; 0] = [];
        assert_eq!(warnings(&all("2024-05-30T00:00:00Z"), "2024-01-01T00:00:00Z"), none);
        // 89 days, then 91 days.
        assert_eq!(warnings(&all("2024-03-04T00:00:00Z"), "2024-01-01T00:00:00Z"), none);
        let due = warnings(&all("2024-03-02T00:00:00Z"), "2024-01-01T00:00:00Z");
        assert_eq!(due.len(), 4);
        assert!(due[0].starts_with("you should consider rotating the certificate authorities, see "));
        assert!(due[3].contains("SSH keypair"));
        let never = warnings(&Value::Null, "2024-01-01T00:00:00Z");
        assert_eq!((never.len(), never[0].contains("#gardener-provided-credentials")), (1, true));
        assert_eq!(warnings(&Value::Null, "2024-05-01T00:00:00Z"), none);
    }

    #[test]
    fn a_rotation_is_completed_after_thirty_days() {
        let of = |finished: &str, triggered: Option<&str>| {
            let rotation = json!({"certificateAuthorities": {
                "lastInitiationFinishedTime": finished, "lastCompletionTriggeredTime": triggered,
            }});
            warnings(&rotation, "2024-05-20T00:00:00Z")
        };
        let text = "the certificate authorities rotation initiation was finished more than 720h0m0s ago and should be completed";
        let none: [&str; 0] = [];
        assert_eq!(of("2024-05-01T00:00:00Z", None), [text]);
        assert_eq!(of("2024-05-01T00:00:00Z", Some("2024-05-02T00:00:00Z")), none);
        assert_eq!(of("2024-05-01T00:00:00Z", Some("2024-04-22T00:00:00Z")), [text]);
        assert_eq!(of("2024-05-20T00:00:00Z", None), none);
    }
}
