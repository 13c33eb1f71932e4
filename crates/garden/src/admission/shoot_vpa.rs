//! ShootVPAEnabledByDefault: a vertical pod autoscaler for new Shoots.

use schema::admission_plugins;
use serde_json::Value;
use webhook::rejection::Rejection;

use super::shoot_node_local_dns::switch_on;
use super::{Admit, Attributes, Plugin};

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::SHOOT_VPA_ENABLED_BY_DEFAULT,
    is_on_by_default: false,
    admit: Some(Admit::Plain(admit)),
    validate: None,
};

/// A new Shoot with pools has the autoscaler, unless it says whether: GPL-VPA-001.
fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> Result<(), Rejection> {
    switch_on(attributes, object, &["spec", "kubernetes", "verticalPodAutoscaler"])
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;
    use webhook::review::Operation;

    use super::*;
    use crate::admission::shoot_testing::Stored;

    #[rstest]
    #[case::new(json!([{"name": "a"}]), json!({}), json!({"enabled": true}))]
    #[case::off(json!([{"name": "a"}]), json!({"verticalPodAutoscaler": {"enabled": false}}),
        json!({"enabled": false}))]
    #[case::workerless(json!([]), json!({}), Value::Null)]
    fn new_shoots_with_pools_have_the_autoscaler(
        #[case] workers: Value,
        #[case] kubernetes: Value,
        #[case] want: Value,
    ) {
        let stored = Stored::default();
        let mut object = json!({"spec": {"kubernetes": kubernetes, "provider": {"workers": workers}}});
        assert_eq!(admit(&stored.attributes(Operation::Create), Some(&mut object)), Ok(()));
        assert_eq!(object["spec"]["kubernetes"]["verticalPodAutoscaler"], want);
    }
}
