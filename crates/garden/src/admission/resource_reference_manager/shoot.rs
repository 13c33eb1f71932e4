//! Shoots: the creator, and what the spec refers to.

use serde_json::Value;
use webhook::field::quote;
use webhook::object;
use webhook::rejection::Rejection;

use super::changed;
use crate::admission::discovery::resource_of;
use crate::admission::lookup::{
    CLOUD_PROFILES, EXPOSURE_CLASSES, SECRET_BINDINGS, SECRETS, SEEDS, is_terminating, live,
};
use crate::admission::{Action, Attributes, messages};

/// Annotation of an object: who created it.
const CREATED_BY: &str = "gardener.cloud/created-by";

/// GPL-RRM-030, GPL-RRM-031.
pub(super) fn admit(
    attributes: &Attributes<'_>,
    old: Option<&Value>,
    shoot: &mut Value,
) -> Result<(), Rejection> {
    match old {
        None => object::set(shoot, &["metadata", "annotations", CREATED_BY], attributes.user.name.as_str())?,
        Some(old) if old["spec"] == shoot["spec"] => return Ok(()),
        Some(_) => {}
    }
    check_names(attributes, old, shoot)?;
    check_resources(attributes, old, shoot)?;
    check_dns(attributes, old, shoot)
}

/// Only a changed reference must exist: GPL-RRM-032.
fn check_names(attributes: &Attributes<'_>, old: Option<&Value>, shoot: &Value) -> Result<(), Rejection> {
    let namespace = object::text(shoot, &["metadata", "namespace"])?;
    let profile = object::text(shoot, &["spec", "cloudProfileName"])?;
    let before = old.map(|old| object::text(old, &["spec", "cloudProfileName"])).transpose()?;
    if before.unwrap_or_default() != profile {
        CLOUD_PROFILES.get(attributes.objects, "", profile)?;
    }
    let others = [
        ("seedName", SEEDS, ""),
        ("secretBindingName", SECRET_BINDINGS, namespace),
        ("exposureClassName", EXPOSURE_CLASSES, ""),
    ];
    for (field, kind, namespace) in others {
        if let Some(name) = changed(old, shoot, field)? {
            kind.get(attributes.objects, namespace, name)?;
        }
    }
    Ok(())
}

/// GPL-RRM-033. An unparsable version is already unknown to discovery.
fn check_resources(attributes: &Attributes<'_>, old: Option<&Value>, shoot: &Value) -> Result<(), Rejection> {
    let path = ["spec", "resources"];
    let before = old.map(|old| object::list(old, &path)).transpose()?.unwrap_or_default();
    let resources = object::list(shoot, &path)?;
    if before == resources {
        return Ok(());
    }
    resources.iter().try_for_each(|resource| check_resource(attributes, shoot, resource))
}

fn check_resource(attributes: &Attributes<'_>, shoot: &Value, resource: &Value) -> Result<(), Rejection> {
    let text = |field| object::text(resource, &["resourceRef", field]);
    let named = quote(object::text(resource, &["name"])?);
    let (api_version, kind, name) = (text("apiVersion")?, text("kind")?, text("name")?);
    let namespace = object::text(shoot, &["metadata", "namespace"])?;
    let found = resource_of(attributes.objects, api_version, kind).map_err(messages::plain)?;
    let Some((plural, is_namespaced)) = found else {
        return Err(messages::plain(format!(
            "shoot resource reference {named} could not be resolved for API resource with version {} and kind {}",
            quote(api_version),
            quote(kind)
        )));
    };
    let failed = format!("failed to resolve shoot resource reference {named}");
    if !is_namespaced {
        let why = format!("{failed}. Cannot reference a resource that is not namespaced");
        return Err(messages::plain(why));
    }
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let action = Action { verb: "get", group, version, resource: &plural, subresource: "", namespace, name };
    if !attributes.authorizer.is_allowed(attributes.user, &action) {
        return Err(messages::plain("shoot cannot reference a resource you are not allowed to read"));
    }
    if name.is_empty() {
        return Err(messages::plain(format!("{failed}: name is required")));
    }
    let qualified = if group.is_empty() { plural } else { format!("{plural}.{group}") };
    let read = live(attributes.objects, &qualified, Some(namespace), name);
    read.map(drop).map_err(|error| messages::plain(format!("{failed}: {}", error.message)))
}

/// GPL-RRM-034.
fn check_dns(attributes: &Attributes<'_>, old: Option<&Value>, shoot: &Value) -> Result<(), Rejection> {
    let before = old.map(|old| object::get(old, &["spec", "dns"])).transpose()?.flatten();
    if before == object::get(shoot, &["spec", "dns"])? || is_terminating(shoot) {
        return Ok(());
    }
    let namespace = object::text(shoot, &["metadata", "namespace"])?;
    for provider in object::list(shoot, &["spec", "dns", "providers"])? {
        if object::get(provider, &["secretName"])?.is_some() {
            let name = object::text(provider, &["secretName"])?;
            live(attributes.objects, SECRETS, Some(namespace), name).map_err(|error| {
                messages::plain(format!("failed to reference DNS provider secret {}", error.message))
            })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;
    use webhook::review::Operation;

    use super::super::admit;
    use super::*;
    use crate::admission::testing::{TestGarden, merge};

    fn garden() -> TestGarden {
        let named = |name: &str| json!({"metadata": {"name": name}});
        let in_namespace = |name: &str| json!({"metadata": {"name": name, "namespace": "n"}});
        TestGarden::default()
            .with(CLOUD_PROFILES.resource, named("p"))
            .with(SEEDS.resource, named("s"))
            .with(EXPOSURE_CLASSES.resource, named("e"))
            .with(SECRET_BINDINGS.resource, in_namespace("b"))
            .with(SECRETS, in_namespace("dns"))
            .with("configmaps", in_namespace("c"))
    }

    fn shoot(spec: &Value) -> Value {
        json!({"metadata": {"name": "app", "namespace": "n"}, "spec": spec})
    }

    fn base() -> Value {
        json!({"cloudProfileName": "p", "secretBindingName": "b"})
    }

    fn refusal(garden: &TestGarden, old: Option<&Value>, new: &Value) -> Option<(u16, String)> {
        let operation = if old.is_some() { Operation::Update } else { Operation::Create };
        let mut object = new.clone();
        let attributes = Attributes { old, ..garden.attributes(operation, "Shoot", new) };
        let refused = admit(&attributes, Some(&mut object)).err()?;
        let prefix = "shoots.core.gardener.cloud \"app\" is forbidden: ";
        Some((refused.code, refused.message.strip_prefix(prefix).expect("a 403 of the shoot").to_owned()))
    }

    fn resource(api_version: &str, kind: &str, name: &str) -> Value {
        json!({"resources": [{"name": "r", "resourceRef": {"apiVersion": api_version, "kind": kind, "name": name}}]})
    }

    #[rstest]
    #[case(json!({}), None)]
    #[case(json!({"cloudProfileName": "x"}), Some("cloudprofile.core.gardener.cloud \"x\" not found"))]
    #[case(json!({"cloudProfileName": "x", "seedName": "y"}), Some("cloudprofile.core.gardener.cloud \"x\" not found"))]
    #[case(json!({"seedName": "x"}), Some("seed.core.gardener.cloud \"x\" not found"))]
    #[case(json!({"seedName": "s"}), None)]
    #[case(json!({"secretBindingName": "x"}), Some("secretbinding.core.gardener.cloud \"x\" not found"))]
    #[case(json!({"secretBindingName": null}), None)]
    #[case(json!({"exposureClassName": "x"}), Some("exposureclass.core.gardener.cloud \"x\" not found"))]
    #[case(json!({"exposureClassName": "e"}), None)]
    #[case(resource("v1", "ConfigMap", "c"), None)]
    #[case(
        resource("v1", "ConfigMap", "x"),
        Some("failed to resolve shoot resource reference \"r\": configmaps \"x\" not found")
    )]
    #[case(
        resource("apps/v1", "Deployment", "x"),
        Some("failed to resolve shoot resource reference \"r\": deployments.apps \"x\" not found")
    )]
    #[case(
        resource("v1", "ConfigMap", ""),
        Some("failed to resolve shoot resource reference \"r\": name is required")
    )]
    #[case(
        resource("v1", "Namespace", "n"),
        Some(
            "failed to resolve shoot resource reference \"r\". Cannot reference a resource that is not namespaced"
        )
    )]
    #[case(
        resource("v1", "Foo", "n"),
        Some(
            "shoot resource reference \"r\" could not be resolved for API resource with version \"v1\" and kind \"Foo\""
        )
    )]
    #[case(resource("foo/v1", "Foo", "n"), Some("the server could not find the requested resource"))]
    #[case(resource("", "Foo", "n"), Some("groupVersion shouldn't be empty"))]
    #[case(json!({"dns": {"providers": [{"secretName": "dns"}, {}]}}), None)]
    #[case(json!({"dns": {"providers": [{"secretName": "x"}]}}),
        Some("failed to reference DNS provider secret secrets \"x\" not found"))]
    fn what_a_shoot_refers_to_exists(#[case] change: Value, #[case] want: Option<&str>) {
        let mut spec = base();
        merge(&mut spec, &change);
        let new = shoot(&spec);
        let want = want.map(|why| (403, why.to_owned()));
        assert_eq!(refusal(&garden(), None, &new), want);
        assert_eq!(refusal(&garden(), Some(&shoot(&base())), &new), want);
        // Nothing is asked about what stays.
        assert_eq!(refusal(&garden(), Some(&new), &new), None);
        let mut elsewhere = new.clone();
        elsewhere["spec"]["region"] = json!("other");
        assert_eq!(refusal(&garden(), Some(&elsewhere), &new), None);
        let mut terminating = new.clone();
        terminating["metadata"]["deletionTimestamp"] = json!("t");
        assert_eq!(refusal(&garden(), Some(&shoot(&base())), &terminating), None);
    }

    #[test]
    fn a_resource_must_be_readable_only_when_the_list_changes() {
        let mut spec = base();
        merge(&mut spec, &resource("v1", "ConfigMap", "c"));
        let new = shoot(&spec);
        let garden = garden().denying("get /v1 configmaps n/c");
        let why = "shoot cannot reference a resource you are not allowed to read";
        assert_eq!(refusal(&garden, Some(&shoot(&base())), &new), Some((403, why.to_owned())));
        let mut old = new.clone();
        old["spec"]["region"] = json!("other");
        assert_eq!(refusal(&garden, Some(&old), &new), None);
    }

    #[test]
    fn a_new_shoot_names_its_creator() {
        let garden = garden();
        let mut object = shoot(&base());
        object["metadata"]["annotations"] = json!({CREATED_BY: "bob"});
        let given = object.clone();
        admit(&garden.attributes(Operation::Create, "Shoot", &given), Some(&mut object)).unwrap();
        assert_eq!(object["metadata"]["annotations"], json!({CREATED_BY: "alice"}));
        let mut changed = given.clone();
        changed["spec"]["region"] = json!("r");
        let update = garden.attributes(Operation::Update, "Shoot", &given);
        admit(&Attributes { old: Some(&given), ..update }, Some(&mut changed)).unwrap();
        assert_eq!(changed["metadata"]["annotations"], json!({CREATED_BY: "bob"}));
    }
}
