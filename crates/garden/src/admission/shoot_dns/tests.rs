//! Tests of domains and DNS providers.

use rstest::rstest;
use serde_json::json;

use super::*;
use crate::admission::shoot_testing::{Stored, merged, outcome};

const NO_FUNCTION: &str = "Shoot.core.gardener.cloud \"s\" is invalid: spec.dns.providers: Required value: non-primary \
    DNS providers in .spec.dns.providers must specify a `type` and `secretName`";
const NO_PRIMARY: &str = "Shoot.core.gardener.cloud \"s\" is invalid: spec.dns: Invalid value: \"s\": primary dns \
    provider must not be set when default domain is used";
const SCHEME: &str = "Shoot.core.gardener.cloud \"s\" is invalid: spec.dns: Invalid value: \"s\": shoot uses a default \
    domain but does not match expected scheme: <shoot-name>.<project-name>.<default-domain>";
const GENERATED_SCHEME: &str = "Shoot.core.gardener.cloud \"\" is invalid: spec.dns: Invalid value: \"\": shoot with \
                                'metadata.generateName' uses a default domain but does not match expected scheme: \
                                <random-subdomain>.<project-name>.<default-domain>";
const NO_DOMAIN: &str = "Shoot.core.gardener.cloud \"s\" is invalid: spec.DNS: Required value: shoot domain field \
    .spec.dns.domain must be set if provider != unmanaged";

/// Domains in the order of their priority; the Project is `dev`.
fn stored(domains: &[(&str, &str)]) -> Stored {
    let secret = |(domain, priority): &(&str, &str)| {
        let annotations = json!({
            "dns.gardener.cloud/domain": domain, "dns.gardener.cloud/provider": "x",
            "dns.gardener.cloud/domain-default-priority": priority,
        });
        let labels = json!({"gardener.cloud/role": "default-domain"});
        json!({"metadata": {"name": domain, "namespace": "garden", "labels": labels, "annotations": annotations}})
    };
    domains.iter().fold(Stored::default(), |stored, domain| stored.with("secrets", secret(domain)))
}

const DOMAINS: [(&str, &str); 3] = [("d.com", "5"), ("e.com", "0"), ("f.com", "-5")];

fn shoot(seed: Option<&str>, dns: &Value) -> Value {
    let base = json!({"metadata": {"name": "s"}, "spec": {}});
    merged(&base, &json!({"spec": {"seedName": seed, "dns": dns}}))
}

fn admitted(stored: &Stored, old: Option<&Value>, new: &Value) -> (String, Value) {
    let operation = if old.is_some() { Operation::Update } else { Operation::Create };
    let attributes = Attributes { old, ..stored.attributes(operation) };
    let mut object = new.clone();
    let message = outcome(admit(&attributes, Some(&mut object))).1;
    (message, object["spec"]["dns"].clone())
}

/// GPL-V-07; a request that is refused changes nothing.
#[rstest]
#[case::generated(Some("x"), json!({}), "", json!({"domain": "s.dev.d.com"}))]
#[case::typed_provider(Some("x"), json!({"providers": [{"type": "x"}]}), NO_FUNCTION,
    json!({"providers": [{"type": "x"}]}))]
#[case::complete_provider(
    Some("x"),
    json!({"providers": [{"type": "x", "secretName": "y"}]}),
    "",
    json!({"domain": "s.dev.d.com", "providers": [{"type": "x", "secretName": "y"}]}),
)]
#[case::primary_provider(
    Some("x"),
    json!({"providers": [{"type": "x", "primary": true}]}),
    NO_PRIMARY,
    json!({"providers": [{"type": "x", "primary": true}]}),
)]
#[case::primary_of_default(
    None,
    json!({"domain": "s.dev.e.com", "providers": [{"primary": true}]}),
    NO_PRIMARY,
    json!({"domain": "s.dev.e.com", "providers": [{"primary": true}]}),
)]
#[case::own_domain(
    Some("x"),
    json!({"domain": "my.own.io", "providers": [{"type": "x", "secretName": "a"}, {"type": "y", "secretName": "b"}]}),
    "",
    json!({
        "domain": "my.own.io",
        "providers": [{"type": "x", "secretName": "a", "primary": true}, {"type": "y", "secretName": "b"}],
    }),
)]
#[case::unscheduled(None, json!({"providers": [{}]}), "", json!({"providers": [{}]}))]
#[case::scheme(None, json!({"domain": "foo.d.com"}), SCHEME, json!({"domain": "foo.d.com"}))]
#[case::scheme_kept(None, json!({"domain": "s.dev.f.com"}), "", json!({"domain": "s.dev.f.com"}))]
#[case::unmanaged(
    Some("x"),
    json!({"providers": [{"type": "unmanaged"}]}),
    "",
    json!({"providers": [{"type": "unmanaged", "primary": true}]}),
)]
#[case::unmanaged_default(
    None,
    json!({"domain": "foo.d.com", "providers": [{"type": "unmanaged"}]}),
    "",
    json!({"domain": "foo.d.com", "providers": [{"type": "unmanaged"}]}),
)]
fn a_new_shoot_has_a_domain(
    #[case] seed: Option<&str>,
    #[case] dns: Value,
    #[case] message: &str,
    #[case] want: Value,
) {
    let found = admitted(&stored(&DOMAINS), None, &shoot(seed, &dns));
    assert_eq!(found, (message.to_owned(), want));
}

#[rstest]
#[case::nothing(json!({}), Some("x"), "", json!({"domain": "zzzzzzz.dev.d.com"}))]
#[case::own(json!({"domain": "zz.dev.d.com"}), None, "", json!({"domain": "zz.dev.d.com"}))]
#[case::of_another_project(json!({"domain": "zz.q.d.com"}), None, GENERATED_SCHEME, json!({"domain": "zz.q.d.com"}))]
fn a_generated_name_is_not_that_of_the_domain(
    #[case] dns: Value,
    #[case] seed: Option<&str>,
    #[case] message: &str,
    #[case] want: Value,
) {
    let mut new = shoot(seed, &dns);
    new["metadata"] = json!({"generateName": "g-"});
    assert_eq!(admitted(&stored(&DOMAINS), None, &new), (message.to_owned(), want));
}

#[test]
fn a_shoot_without_domain_is_refused_where_there_is_none() {
    let new = shoot(Some("x"), &Value::Null);
    assert_eq!(admitted(&stored(&[]), None, &new), (NO_DOMAIN.to_owned(), Value::Null));
    let garden = stored(&DOMAINS).without("projects.core.gardener.cloud");
    let want = "Internal error occurred: Project.core.gardener.cloud \"garden-dev\" not found";
    assert_eq!(admitted(&garden, None, &new), (want.to_owned(), Value::Null));
    let named = shoot(None, &json!({"domain": "own.io"}));
    assert_eq!(admitted(&garden, None, &named).0, want);
}

#[rstest]
#[case::domain_appears(
    shoot(Some("x"), &json!({})),
    shoot(Some("x"), &json!({"domain": "foo.d.com"})),
    SCHEME,
    json!({"domain": "foo.d.com"}),
)]
#[case::seed_appears(
    shoot(None, &json!({"domain": "foo.d.com"})),
    shoot(Some("x"), &json!({"domain": "foo.d.com"})),
    SCHEME,
    json!({"domain": "foo.d.com"}),
)]
#[case::kept(
    shoot(Some("x"), &json!({"domain": "foo.d.com"})),
    shoot(Some("x"), &json!({"domain": "foo.d.com"})),
    "",
    json!({"domain": "foo.d.com"}),
)]
#[case::primary_lost(
    shoot(Some("x"), &json!({"domain": "o.io", "providers": [{"type": "x", "secretName": "s1", "primary": true}]})),
    shoot(Some("x"), &json!({"domain": "o.io", "providers": [{"type": "x", "secretName": "s2"}, {"type": "x",
        "secretName": "s1"}]})),
    "",
    json!({
        "domain": "o.io",
        "providers": [{"type": "x", "secretName": "s2"}, {"type": "x", "secretName": "s1", "primary": true}],
    }),
)]
#[case::primary_changed(
    shoot(Some("x"), &json!({"domain": "o.io", "providers": [{"type": "x", "primary": true}]})),
    shoot(Some("x"), &json!({"domain": "o.io", "providers": [{"type": "y", "secretName": "b"}]})),
    "",
    json!({"domain": "o.io", "providers": [{"type": "y", "secretName": "b"}]}),
)]
#[case::unscheduled(
    shoot(None, &json!({})),
    shoot(None, &json!({"providers": [{}]})),
    "",
    json!({"providers": [{}]}),
)]
#[case::scheduled_before(
    shoot(Some("x"), &json!({})),
    shoot(Some("y"), &json!({"providers": [{"type": "x"}]})),
    NO_FUNCTION,
    json!({"providers": [{"type": "x"}]}),
)]
#[case::scheduled_now(shoot(None, &Value::Null), shoot(Some("x"), &Value::Null), "", json!({"domain": "s.dev.d.com"}))]
#[case::section_lost(
    shoot(Some("x"), &json!({"domain": "o.io"})),
    shoot(Some("x"), &Value::Null),
    "",
    json!({"domain": "s.dev.d.com"}),
)]
fn an_update_completes_what_is_open(
    #[case] old: Value,
    #[case] new: Value,
    #[case] message: &str,
    #[case] want: Value,
) {
    assert_eq!(admitted(&stored(&DOMAINS), Some(&old), &new), (message.to_owned(), want));
}

#[test]
fn an_incomplete_default_domain_hinders_each_shoot() {
    let metadata =
        json!({"name": "a", "namespace": "garden", "labels": {"gardener.cloud/role": "default-domain"}});
    let garden = Stored::default().with("secrets", json!({"metadata": metadata}));
    let rejection =
        admit(&garden.attributes(Operation::Create), Some(&mut shoot(None, &Value::Null))).unwrap_err();
    let want = "error retrieving default domains: domain secret has no annotations";
    assert_eq!((rejection.code, rejection.reason.as_str(), rejection.message.as_str()), (500, "", want));
    let status = Attributes { subresource: "status", ..garden.attributes(Operation::Update) };
    assert_eq!(admit(&status, Some(&mut shoot(None, &Value::Null))), Ok(()));
}
