//! ShootNodeLocalDNSEnabledByDefault: a DNS cache on the nodes of new Shoots.

use schema::admission_plugins;
use serde_json::{Value, json};
use webhook::object::{self, WrongType};
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::shoot_support::{NO_SHOOT, internal, is_shoot};
use super::{Admit, Attributes, Plugin};

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::SHOOT_NODE_LOCAL_DNS_ENABLED_BY_DEFAULT,
    is_on_by_default: false,
    admit: Some(Admit::Plain(admit)),
    validate: None,
};

/// A new Shoot with pools has the cache, unless it says whether: GPL-NLDNS-001.
fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> Result<(), Rejection> {
    switch_on(attributes, object, &["spec", "systemComponents", "nodeLocalDNS"])
}

/// Enables what a new Shoot with pools says nothing about. As in the original, what is no Shoot is the server's fault.
pub(super) fn switch_on(
    attributes: &Attributes<'_>,
    object: Option<&mut Value>,
    path: &[&str],
) -> Result<(), Rejection> {
    let is_new = attributes.operation == Operation::Create && attributes.subresource.is_empty();
    if !is_shoot(attributes) || !is_new {
        return Ok(());
    }
    let object = object.ok_or_else(|| internal(NO_SHOOT))?;
    enable(object, path).map_err(|_| internal(NO_SHOOT))
}

fn enable(shoot: &mut Value, path: &[&str]) -> Result<(), WrongType> {
    let has_pools = !object::list(shoot, &["spec", "provider", "workers"])?.is_empty();
    if has_pools && object::get(shoot, path)?.is_none() {
        object::set(shoot, path, json!({"enabled": true}))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::admission::shoot_testing::{Stored, merged, outcome};

    #[rstest]
    #[case::new(Operation::Create, "", json!({}), json!({"enabled": true}))]
    #[case::components(Operation::Create, "", json!({"systemComponents": {"coreDNS": {}}}), json!({"enabled": true}))]
    #[case::off(
        Operation::Create,
        "",
        json!({"systemComponents": {"nodeLocalDNS": {"enabled": false}}}),
        json!({"enabled": false}),
    )]
    #[case::workerless(Operation::Create, "", json!({"provider": {"workers": []}}), Value::Null)]
    #[case::update(Operation::Update, "", json!({}), Value::Null)]
    #[case::status(Operation::Create, "status", json!({}), Value::Null)]
    fn new_shoots_with_pools_have_a_cache(
        #[case] operation: Operation,
        #[case] subresource: &str,
        #[case] spec: Value,
        #[case] want: Value,
    ) {
        let stored = Stored::default();
        let attributes = Attributes { subresource, ..stored.attributes(operation) };
        let base = json!({"spec": {"provider": {"workers": [{"name": "a"}]}}});
        let mut object = merged(&base, &json!({"spec": spec}));
        assert_eq!(admit(&attributes, Some(&mut object)), Ok(()));
        assert_eq!(object["spec"]["systemComponents"]["nodeLocalDNS"], want);
    }

    #[test]
    fn what_is_no_shoot_is_the_servers_fault() {
        let stored = Stored::default();
        let admitted = admit(&stored.attributes(Operation::Create), Some(&mut json!({"spec": 1})));
        let want = "Internal error occurred: could not convert resource into Shoot object";
        assert_eq!(outcome(admitted), (500, want.to_owned()));
    }
}
