//! Which objects are autoscaled: the targets of HorizontalPodAutoscalers and HVPAs.

use std::collections::BTreeSet;

use serde_json::Value;

use super::GroupKind;
use super::equivalence::Equivalences;
use super::reference::key;
use super::unstructured::{at, group_kind, group_version, name, namespace, text};

/// GRM-MR-092 and GRM-MR-093: keys of autoscaled objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scaled {
    horizontally: BTreeSet<String>,
    vertically: BTreeSet<String>,
}

/// The `apiVersion` of an autoscaler's target is invalid; the text is the original's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid API version in scaleTargetReference of HorizontalPodAutoscaler '{namespace}/{name}': unexpected GroupVersion string: {api_version}"
)]
pub struct TargetError {
    namespace: String,
    name: String,
    api_version: String,
}

impl Scaled {
    /// Adds an `autoscaling/v1 HorizontalPodAutoscaler`.
    ///
    /// # Errors
    /// When the `apiVersion` of its target is invalid.
    pub fn add_hpa(&mut self, hpa: &Value) -> Result<(), TargetError> {
        let target = target(hpa, &["spec", "scaleTargetRef"])?;
        self.horizontally.insert(target);
        Ok(())
    }

    /// Adds an `autoscaling.k8s.io/v1alpha1 Hvpa`; one without target scales nothing.
    ///
    /// # Errors
    /// When the `apiVersion` of its target is invalid.
    pub fn add_hvpa(&mut self, hvpa: &Value) -> Result<(), TargetError> {
        let path = ["spec", "targetRef"];
        if at(hvpa, &path).is_none_or(Value::is_null) {
            return Ok(());
        }
        let target = target(hvpa, &path)?;
        let deploys = |scaler| at(hvpa, &["spec", scaler, "deploy"]).and_then(Value::as_bool) == Some(true);
        if deploys("hpa") {
            self.horizontally.insert(target.clone());
        }
        if deploys("vpa") {
            self.vertically.insert(target);
        }
        Ok(())
    }

    /// Whether the replicas of an object are autoscaled, perhaps under an equivalent kind.
    #[must_use]
    pub fn is_horizontally(&self, object: &Value, equivalences: &Equivalences) -> bool {
        has(&self.horizontally, object, equivalences)
    }

    /// Whether the resources of an object's containers are autoscaled, perhaps under an equivalent kind.
    #[must_use]
    pub fn is_vertically(&self, object: &Value, equivalences: &Equivalences) -> bool {
        has(&self.vertically, object, equivalences)
    }
}

/// The target is in the autoscaler's namespace.
fn target(scaler: &Value, path: &[&str]) -> Result<String, TargetError> {
    let reference = at(scaler, path).unwrap_or(&Value::Null);
    let api_version = text(reference, &["apiVersion"]);
    let (group, _) = group_version(api_version).ok_or_else(|| TargetError {
        namespace: namespace(scaler).to_owned(),
        name: name(scaler).to_owned(),
        api_version: api_version.to_owned(),
    })?;
    let kind = GroupKind { group: group.to_owned(), kind: text(reference, &["kind"]).to_owned() };
    Ok(key(&kind, namespace(scaler), text(reference, &["name"])))
}

fn has(keys: &BTreeSet<String>, object: &Value, equivalences: &Equivalences) -> bool {
    if keys.is_empty() {
        return false;
    }
    let kind = group_kind(object);
    let mut kinds = [&kind].into_iter().chain(equivalences.of(&kind));
    kinds.any(|kind| keys.contains(&key(kind, namespace(object), name(object))))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn hpa(api_version: &str, namespace: &str, name: &str) -> Value {
        json!({
            "metadata": {"namespace": namespace, "name": "scaler"},
            "spec": {"scaleTargetRef": {"apiVersion": api_version, "kind": "Deployment", "name": name}},
        })
    }

    fn hvpa(spec: &Value) -> Value {
        json!({"metadata": {"namespace": "a", "name": "scaler"}, "spec": spec})
    }

    fn deployment(api_version: &str, namespace: &str, name: &str) -> Value {
        json!({"apiVersion": api_version, "kind": "Deployment", "metadata": {"namespace": namespace, "name": name}})
    }

    fn horizontally_and_vertically(scaled: &Scaled, object: &Value) -> (bool, bool) {
        let equivalences = Equivalences::new(&[]);
        (scaled.is_horizontally(object, &equivalences), scaled.is_vertically(object, &equivalences))
    }

    #[rstest]
    #[case::same(deployment("apps/v1", "a", "web"), true)]
    #[case::of_another_version(deployment("apps/v1beta1", "a", "web"), true)]
    #[case::of_an_equivalent_group(deployment("extensions/v1beta1", "a", "web"), true)]
    #[case::of_another_group(deployment("example.org/v1", "a", "web"), false)]
    #[case::in_another_namespace(deployment("apps/v1", "b", "web"), false)]
    #[case::of_another_name(deployment("apps/v1", "a", "db"), false)]
    #[case::without_version(deployment("a/b/c", "a", "web"), false)]
    fn an_hpa_scales_the_replicas_of_its_target(#[case] object: Value, #[case] is_scaled: bool) {
        let mut scaled = Scaled::default();
        assert_eq!(horizontally_and_vertically(&scaled, &object), (false, false));
        scaled.add_hpa(&hpa("apps/v1", "a", "web")).expect("a version");
        assert_eq!(horizontally_and_vertically(&scaled, &object), (is_scaled, false));
    }

    #[rstest]
    #[case::neither(json!({}), (false, false))]
    #[case::hpa(json!({"hpa": {"deploy": true}}), (true, false))]
    #[case::vpa(json!({"vpa": {"deploy": true}, "hpa": {"deploy": false}}), (false, true))]
    #[case::both(json!({"vpa": {"deploy": true}, "hpa": {"deploy": true}}), (true, true))]
    #[case::no_boolean(json!({"vpa": {"deploy": "true"}}), (false, false))]
    fn an_hvpa_scales_what_its_autoscalers_scale(#[case] spec: Value, #[case] wanted: (bool, bool)) {
        let mut spec = spec;
        spec["targetRef"] = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
        let mut scaled = Scaled::default();
        scaled.add_hvpa(&hvpa(&spec)).expect("a version");
        assert_eq!(horizontally_and_vertically(&scaled, &deployment("apps/v1", "a", "web")), wanted);
        assert_eq!(horizontally_and_vertically(&scaled, &deployment("apps/v1", "b", "web")), (false, false));
    }

    #[rstest]
    #[case(json!({"hpa": {"deploy": true}}))]
    #[case(json!({"targetRef": null, "hpa": {"deploy": true}}))]
    fn an_hvpa_without_target_scales_nothing(#[case] spec: Value) {
        let mut scaled = Scaled::default();
        assert_eq!(scaled.add_hvpa(&hvpa(&spec)), Ok(()));
        assert_eq!(scaled, Scaled::default());
    }

    #[test]
    fn a_target_without_version_is_an_error() {
        let error = Scaled::default().add_hpa(&hpa("a/b/c", "ns", "web")).map_err(|error| error.to_string());
        let wanted = "invalid API version in scaleTargetReference of HorizontalPodAutoscaler 'ns/scaler': unexpected GroupVersion string: a/b/c";
        assert_eq!(error, Err(wanted.to_owned()));
        let spec = json!({"targetRef": {"apiVersion": "a/b/c"}});
        let error = Scaled::default().add_hvpa(&hvpa(&spec)).map_err(|error| error.to_string());
        assert_eq!(error, Err(wanted.replace("ns/", "a/")));
    }
}
