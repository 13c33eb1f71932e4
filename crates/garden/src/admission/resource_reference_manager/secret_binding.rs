//! SecretBindings: the Secret and the Quotas, which the user may read.

use serde_json::Value;
use webhook::object;
use webhook::rejection::Rejection;

use super::secret;
use crate::admission::lookup::QUOTAS;
use crate::admission::{Action, Attributes, messages};

/// Whose consumption a Quota limits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QuotaScope {
    Project,
    Secret,
}

/// Every write is checked, whatever it changes: GPL-RRM-010 to -012.
pub(super) fn check(attributes: &Attributes<'_>, binding: &Value) -> Result<(), Rejection> {
    let (namespace, name) = reference(binding, &["secretRef"])?;
    let read = Action {
        verb: "get",
        group: "",
        version: "v1",
        resource: "secrets",
        subresource: "",
        namespace,
        name,
    };
    if !attributes.authorizer.is_allowed(attributes.user, &read) {
        let why = "SecretBinding cannot reference a secret you are not allowed to read";
        return Err(messages::plain(why));
    }
    secret(attributes, binding, &["secretRef"])?;
    let mut scopes = Vec::new();
    for quota in object::list(binding, &["quotas"])? {
        let scope = scope_of(attributes, quota)?;
        if scopes.contains(&scope) {
            let why = "only one quota per scope (project or secret) can be assigned";
            return Err(messages::plain(why));
        }
        scopes.push(scope);
    }
    Ok(())
}

/// The scope of a Quota that the user may read.
fn scope_of(attributes: &Attributes<'_>, quota: &Value) -> Result<QuotaScope, Rejection> {
    let (namespace, name) = reference(quota, &[])?;
    let read = Action {
        verb: "get",
        group: "core.gardener.cloud",
        version: "v1beta1",
        resource: "quotas",
        subresource: "",
        namespace,
        name,
    };
    if !attributes.authorizer.is_allowed(attributes.user, &read) {
        let why = "SecretBinding cannot reference a quota you are not allowed to read";
        return Err(messages::plain(why));
    }
    let quota = QUOTAS.get(attributes.objects, namespace, name)?;
    let text = |field| object::text(&quota, &["spec", "scope", field]);
    let (api_version, kind) = (text("apiVersion")?, text("kind")?);
    match (api_version.split_once('/'), kind) {
        (Some(("core.gardener.cloud", version)), "Project") if !version.contains('/') => {
            Ok(QuotaScope::Project)
        }
        (None, "Secret") if api_version == "v1" => Ok(QuotaScope::Secret),
        _ => Err(messages::plain("unknown quota scope")),
    }
}

fn reference<'a>(object: &'a Value, at: &[&str]) -> Result<(&'a str, &'a str), Rejection> {
    let text = |field| object::text(object, &[at, &[field]].concat());
    Ok((text("namespace")?, text("name")?))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;
    use webhook::review::Operation;

    use super::super::admit;
    use crate::admission::lookup::{QUOTAS, SECRETS};
    use crate::admission::testing::TestGarden;

    fn garden() -> TestGarden {
        let quota = |name: &str, api_version: &str, kind: &str| {
            let scope = json!({"apiVersion": api_version, "kind": kind});
            json!({"metadata": {"name": name, "namespace": "q"}, "spec": {"scope": scope}})
        };
        TestGarden::default()
            .with(SECRETS, json!({"metadata": {"name": "s", "namespace": "n"}}))
            .with(QUOTAS.resource, quota("p", "core.gardener.cloud/v1beta1", "Project"))
            .with(QUOTAS.resource, quota("p2", "core.gardener.cloud/v1alpha1", "Project"))
            .with(QUOTAS.resource, quota("s", "v1", "Secret"))
            .with(QUOTAS.resource, quota("u", "core.gardener.cloud/v1beta1", "Secret"))
            .with(QUOTAS.resource, quota("v", "v2", "Secret"))
    }

    const SECRET: &str = "get /v1 secrets n/s";
    const QUOTA: &str = "get core.gardener.cloud/v1beta1 quotas q/s";
    const ONE: &str = "only one quota per scope (project or secret) can be assigned";

    #[rstest]
    #[case("s", &[], None, None)]
    #[case("x", &[], None, Some("secrets \"x\" not found"))]
    #[case("s", &[], Some(SECRET), Some("SecretBinding cannot reference a secret you are not allowed to read"))]
    #[case("x", &["none"], None, Some("secrets \"x\" not found"))]
    #[case("s", &["p", "s"], None, None)]
    #[case("s", &["p", "s"], Some(QUOTA), Some("SecretBinding cannot reference a quota you are not allowed to read"))]
    #[case("s", &["none"], None, Some("quota.core.gardener.cloud \"none\" not found"))]
    #[case("s", &["u"], None, Some("unknown quota scope"))]
    #[case("s", &["v"], None, Some("unknown quota scope"))]
    #[case("s", &["p", "s", "p2"], None, Some(ONE))]
    #[case("s", &["s", "s"], None, Some(ONE))]
    fn secret_and_quotas_exist_and_may_be_read(
        #[case] secret: &str,
        #[case] quotas: &[&str],
        #[case] denied: Option<&str>,
        #[case] want: Option<&str>,
    ) {
        let garden = denied.into_iter().fold(garden(), TestGarden::denying);
        let quotas: Vec<_> = quotas.iter().map(|name| json!({"name": name, "namespace": "q"})).collect();
        let given = json!({
            "metadata": {"name": "b", "namespace": "n"}, "secretRef": {"name": secret, "namespace": "n"},
                "quotas": quotas,
        });
        let mut object = given.clone();
        let attributes = garden.attributes(Operation::Create, "SecretBinding", &given);
        let refused = admit(&attributes, Some(&mut object)).err();
        let want = want.map(|why| format!("secretbindings.core.gardener.cloud \"b\" is forbidden: {why}"));
        assert_eq!(refused.map(|rejection| rejection.message), want);
    }
}
