//! ShootDNSRewriting: suffixes that the DNS server of a new Shoot rewrites.

use api::garden::Shoot;
use schema::admission_plugins;
use serde_json::Value;
use webhook::field::Path;
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::shoot_support::{NO_SHOOT, configuration, internal, is_shoot, listed, write_changes};
use super::{Admit, Attributes, Configuration, Plugin};
use crate::webhooks::shoot_system_components::validate_suffixes;

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::SHOOT_DNS_REWRITING,
    is_on_by_default: false,
    admit: Some(Admit::Configured(admit)),
    validate: None,
};

/// Reads the plugin's configuration, the common suffixes.
///
/// # Errors
/// When it is another document, or has wrong suffixes.
pub(super) fn configure(document: &Value) -> Result<Vec<String>, String> {
    configuration(document, "shootdnsrewriting.admission.gardener.cloud/v1alpha1")?;
    let suffixes: Option<Vec<String>> =
        serde_json::from_value(document["commonSuffixes"].clone()).map_err(|error| error.to_string())?;
    let suffixes = suffixes.unwrap_or_default();
    let errors = validate_suffixes(&suffixes, &Path::new("commonSuffixes"));
    if errors.is_empty() { Ok(suffixes) } else { Err(format!("invalid config: {}", listed(&errors))) }
}

/// Appends the configured suffixes to those of a new Shoot. As in the original, a suffix may then be there twice, and
/// in a Shoot without pools, both of which validation refuses: GPL-DNSRW-001.
fn admit(
    configuration: &Configuration,
    attributes: &Attributes<'_>,
    object: Option<&mut Value>,
) -> Result<(), Rejection> {
    let is_new = attributes.operation == Operation::Create && attributes.subresource.is_empty();
    if !is_shoot(attributes) || !is_new {
        return Ok(());
    }
    let object = object.ok_or_else(|| internal(NO_SHOOT))?;
    let shoot: Shoot = serde_json::from_value(object.clone()).map_err(|_| internal(NO_SHOOT))?;
    let suffixes = &configuration.common_suffixes;
    if suffixes.is_empty() {
        return Ok(());
    }
    let mut completed = shoot.clone();
    let components = completed.spec.system_components.get_or_insert_default();
    let rewriting = components.core_dns.get_or_insert_default().rewriting.get_or_insert_default();
    rewriting.common_suffixes.extend(suffixes.iter().cloned());
    write_changes(object, &shoot, &completed)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::shoot_testing::Stored;

    #[rstest]
    #[case::none(&[], json!({"purpose": "p"}), json!({"purpose": "p"}))]
    #[case::first(&["a.b"], json!({"region": "r"}),
        json!({"region": "r", "systemComponents": {"coreDNS": {"rewriting": {"commonSuffixes": ["a.b"]}}}}))]
    #[case::appended(
        &["a.b", ".c.d"],
        json!({"systemComponents": {"coreDNS": {"autoscaling": {"mode": "horizontal"},
            "rewriting": {"commonSuffixes": ["a.b"]}}}}),
        json!({"systemComponents": {"coreDNS": {
            "autoscaling": {"mode": "horizontal"}, "rewriting": {"commonSuffixes": ["a.b", "a.b", ".c.d"]},
        }}}),
    )]
    fn suffixes_are_appended(#[case] suffixes: &[&str], #[case] spec: Value, #[case] want: Value) {
        let stored = Stored::default();
        let common_suffixes = suffixes.iter().map(ToString::to_string).collect();
        let configuration = Configuration { common_suffixes, ..Configuration::default() };
        let mut object = json!({"metadata": {}, "spec": spec});
        let before = object.clone();
        assert_eq!(admit(&configuration, &stored.attributes(Operation::Update), Some(&mut object)), Ok(()));
        assert_eq!(object, before);
        assert_eq!(admit(&configuration, &stored.attributes(Operation::Create), Some(&mut object)), Ok(()));
        assert_eq!(object["spec"], want);
    }

    #[rstest]
    #[case::complete(json!({"commonSuffixes": ["a.b", ".a.c"]}), "")]
    #[case::empty(json!({}), "")]
    #[case::wrong(
        json!({"commonSuffixes": ["a", ".a", "b.c", ".b.c"]}),
        "invalid config: [commonSuffixes[0]: Invalid value: \"a\": must contain at least one non-leading dot ('.') \
         commonSuffixes[1]: Invalid value: \".a\": must contain at least one non-leading dot ('.') commonSuffixes[1]: \
         Duplicate value: \"a\" commonSuffixes[3]: Duplicate value: \"b.c\"]",
    )]
    #[case::other_version(json!({"apiVersion": "v1"}), "no kind \"Configuration\" is registered for version \"v1\"")]
    fn a_configuration_has_valid_suffixes(#[case] fields: Value, #[case] want: &str) {
        let version = "shootdnsrewriting.admission.gardener.cloud/v1alpha1";
        let mut document = json!({"apiVersion": version, "kind": "Configuration"});
        document.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        assert_eq!(configure(&document).err().unwrap_or_default(), want);
    }
}
